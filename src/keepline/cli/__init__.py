"""The command line. Each verb is a few lines over the engine."""

from keepline.cli import data, health, proof, show  # noqa: F401  # importing them registers their verbs
from keepline.cli.app import app, main

__all__ = ["app", "main"]
