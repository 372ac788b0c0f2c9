# Two commands on a new machine with Python and make: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test check bench docs clean
help:            ## this list
	@grep -E '^[a-z]+: .*##|^[a-z]+:  +##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/base: pyproject.toml
	@echo "setting up $(VENV) (once) …"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e .
	@touch $@

$(VENV)/dev: $(VENV)/base
	@echo "adding what tests need (once) …"
	@$(PIP) -e '.[dev]'
	@touch $@

demo: $(VENV)/base   ## a long conversation in a small window, and why each item is there
	@$(BIN)/keepline demo

test: $(VENV)/dev    ## all tests
	@$(BIN)/python -m pytest -n auto

check: $(VENV)/dev   ## style, types, the house's floors, docs
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python scripts/check_docs.py

bench: $(VENV)/base  ## speed, beside a peer in the same run
	@$(PIP) -e '.[bench]'
	@$(BIN)/keepline bench append
	@$(BIN)/keepline bench build
	@$(BIN)/keepline bench recall

docs: $(VENV)/dev    ## write the generated pages of docs/reference anew
	@$(BIN)/python scripts/check_docs.py --write

clean:           ## remove the virtual environment and caches
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
