"""A process of its own that plays steps on a store that others use too: `python -m keepline.evals.cases.worker`.

Reads one JSON object on stdin (`store`, `steps`, `workers`: the number of each thread; `tell`: print the id of each message once
it is acknowledged) and prints one, with the errors.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping
from typing import Any

from keepline.engine import Engine
from keepline.evals.cases.play import play_step
from keepline.evals.cases.world import World
from keepline.evals.ground import fresh


def main() -> None:
    """Play what stdin says."""
    job = json.load(sys.stdin)
    errors: list[str] = []
    with fresh(store=job["store"], encoder=None) as engine:
        threads = [threading.Thread(target=_work, args=(engine, job, number, errors)) for number in job["workers"]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(json.dumps({"errors": errors}))


def _work(engine: Engine, job: Mapping[str, Any], worker: int, errors: list[str]) -> None:
    world = World(engine=engine)
    for step in job["steps"]:
        for i in range(step.get("times", 1)):
            result = play_step(world, step, {"worker": worker, "i": i})
            if job["tell"]:
                print(result.id, flush=True)
    errors += world.errors


if __name__ == "__main__":
    main()
