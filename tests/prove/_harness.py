"""What every proof has: its arguments, a directory, a deadline, real processes, and the closing line."""

from __future__ import annotations

import argparse
import os
import select
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "examples"), str(HERE.parent.parent / "clients/python/src")]

from _processes import Child, Server  # noqa: E402

__all__ = ["Arguments", "BROKEN", "Broken", "Child", "Progress", "Server", "Stage", "arguments", "stage"]

BROKEN = 1
"""Status of a promise that did not hold."""


class Broken(Exception):
    """The promise did not hold; the text says which part of it, `words` what the processes said last."""

    def __init__(self, what: str, words: str = "") -> None:
        super().__init__(what)
        self.words = words


@dataclass(frozen=True)
class Arguments:
    """How a proof was called."""

    full: bool
    bug: str | None
    seed: int
    keep: bool


def arguments(what: str, breaks: Sequence[str]) -> Arguments:
    """Parses the command line; prints the breaks and ends where that was asked."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--full", action="store_true", help="the long run")
    parser.add_argument("--break", dest="bug", choices=breaks, help="put a bug in: it must exit 1")
    parser.add_argument("--list-breaks", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    parser.add_argument("--keep", action="store_true", help="leave the directory")
    given = parser.parse_args()
    if given.list_breaks:
        print("\n".join(breaks))
        sys.exit(0)
    seed = given.seed or int.from_bytes(os.urandom(4), "big")
    return Arguments(given.full, given.bug, seed, given.keep)


class Progress:
    """A pipe on which workers report each receipt as one byte: the proof's clock. Bound: the deadline."""

    def __init__(self) -> None:
        self._read, self.write = os.pipe()
        os.set_inheritable(self.write, True)
        self.count = 0

    def wait_for(self, more: int, seconds: float) -> bool:
        """Until so many more receipts were reported; False when they were not, in time."""
        goal = self.count + more
        end = time.monotonic() + seconds
        while self.count < goal:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                return False
            self.count += len(os.read(self._read, 65536))
        return True


@dataclass
class Stage:
    """The directory and the processes of one proof; all of them end with it."""

    directory: Path
    deadline: float
    """Of the monotonic clock: every wait of the proof ends by then."""
    children: list[Child] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)

    def left(self) -> float:
        """Seconds until the deadline. Errors: Broken when it is over."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Broken("not done by the deadline: something is owed that never came")
        return left

    def worker(
        self, role: str, url: str, ledger: str, *arguments: str, pass_fds: Sequence[int] = (), stdin: int = -3
    ) -> Child:
        """A process of _workers.py."""
        command = [sys.executable, str(HERE / "_workers.py"), role, url, str(self.directory / ledger)]
        env = {"PYTHONPATH": os.pathsep.join([*sys.path[:2], str(HERE)])}
        log = self.directory / f"{role}.log"
        child = Child([*command, *arguments], log, env=env, pass_fds=pass_fds, stdin=stdin)
        self.children.append(child)
        return child

    def end(self, keep: bool) -> None:
        for process in [*self.children, *(server.child for server in self.servers)]:
            if process is not None and process.running:
                process.kill()
        if keep:
            print(f"kept: {self.directory}", file=sys.stderr)
        else:
            shutil.rmtree(self.directory, ignore_errors=True)


def stage(name: str, seconds: float) -> Stage:
    """A fresh directory with a short path (an ipc endpoint holds about 100 bytes)."""
    return Stage(Path(tempfile.mkdtemp(prefix=f"rw-{name}-")), time.monotonic() + seconds)
