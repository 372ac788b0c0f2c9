"""A process that appends from two threads and tells each id once it is acknowledged; it is killed from outside."""

import sys
import threading

from keepline import stores
from keepline.testing.conformance.rows import say, who

told = threading.Lock()


def write_on(path: str, talk: str) -> None:
    store = stores.open(path)
    while True:
        for name in say(store, who("ann", talk), "words " * 40):
            with told:
                sys.stdout.write(f"{name}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    for session in ("a", "b"):
        threading.Thread(target=write_on, args=(sys.argv[1], session)).start()
