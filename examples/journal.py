#!/usr/bin/env python3
"""A required observer with an idempotent sink: `journal.py NAME FILE [URL]`.

The effect (the row) and the cursor (log, position) are written in one transaction, so that a kill
at any moment leaves both or neither. The ack is sent after the commit; what was committed but not
acked comes again and is known by its position.
"""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
import uuid

import runwire

SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
  log TEXT, position INTEGER, subject TEXT, seq INTEGER, type TEXT, encoded BLOB,
  PRIMARY KEY (log, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cursor (only INTEGER PRIMARY KEY CHECK (only = 1), log TEXT, position INTEGER);
CREATE TABLE IF NOT EXISTS starts (log TEXT, position INTEGER);
CREATE TABLE IF NOT EXISTS repeats (log TEXT, count INTEGER);
"""


class Journal:
    """Owner: one thread. Errors: those of sqlite3, which refuse the delivery."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.executescript(SCHEMA)

    def cursor(self) -> tuple[uuid.UUID | None, int]:
        """The log that this journal is of, and the last position that it holds."""
        row = self._database.execute("SELECT log, position FROM cursor").fetchone()
        return (None, 0) if row is None else (uuid.UUID(row[0]), row[1])

    def store(self, log: uuid.UUID, events: list[runwire.Event]) -> None:
        """All of them and the cursor behind them, or nothing."""
        rows = [
            (str(log), event.position, event.subject, event.seq, event.type, event.encoded)
            for event in events
        ]
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            added = self._database.executemany("INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?)", rows).rowcount
            if added < len(rows):
                self._database.execute("INSERT INTO repeats VALUES (?, ?)", (str(log), len(rows) - added))
            self._database.execute("REPLACE INTO cursor VALUES (1, ?, ?)", rows[-1][:2])

    def note_start(self, log: uuid.UUID, position: int) -> None:
        self._database.execute("INSERT INTO starts VALUES (?, ?)", (str(log), position))


async def main(name: str, path: str, url: str | None = None) -> None:
    journal = Journal(path)
    log, position = journal.cursor()
    async with await runwire.connect(url) as bus:
        journal.note_start(bus.log, position)
        print(f"journal: {name} goes on after position {position}", file=sys.stderr)

        def store(events: list[runwire.Event]) -> None:
            journal.store(log or bus.log, events)

        work = asyncio.ensure_future(
            bus.observe(name, store, batch=True, position=position, log=log or bus.log)
        )
        loop = asyncio.get_running_loop()
        for end in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(end, work.cancel)
        await asyncio.wait([work])
        if not work.cancelled():
            work.result()


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    try:
        asyncio.run(main(*sys.argv[1:4]))
    except runwire.Error as error:
        sys.exit(f"journal: {error}")
