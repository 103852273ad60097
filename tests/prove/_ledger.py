"""What a process saw, written down at once: a line a note, which outlives kill -9 of its writer."""

from __future__ import annotations

import json
import os
import time
import zlib
from pathlib import Path
from typing import Any, Iterator


def now() -> int:
    """Nanoseconds of the machine's monotonic clock: comparable between its processes."""
    return time.monotonic_ns()


def digest(encoded: bytes) -> int:
    """Enough to see that two deliveries of one event had the same bytes."""
    return zlib.crc32(encoded)


class Ledger:
    """Appends notes to one file. Owner: one process; `sync` makes each note durable too."""

    def __init__(self, path: Path, *, sync: bool = False) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._sync = sync
        self._drop_torn_tail()

    def note(self, *note: Any) -> None:
        line = (json.dumps(note, separators=(",", ":")) + "\n").encode()
        written = os.write(self._file, line)
        assert written == len(line), "a note was cut: is the disk full?"
        if self._sync:
            os.fsync(self._file)

    def _drop_torn_tail(self) -> None:
        """kill -9 can end a write between two pages: what the life before left of a line goes."""
        end = os.fstat(self._file).st_size
        held = os.pread(self._file, end, 0)
        whole = held.rfind(b"\n") + 1
        if whole != end:
            os.ftruncate(self._file, whole)


def notes(path: Path) -> Iterator[list[Any]]:
    """All whole notes, in order; a last line that was being written is not one."""
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n")[:-1]:
        yield json.loads(line)
