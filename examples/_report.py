"""What the demonstration checks in the end, and the table that it prints."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

import runwire

TERMINALS = {"run.completed": "completed", "run.failed": "failed", "run.cancelled": "cancelled"}


@dataclass
class Seen:
    """What the live follower was handed: counted as it came, compared with the log in the end."""

    positions: list[int] = field(default_factory=list)
    deltas: int = 0
    resumes: int = 0
    open_deltas: Counter[str] = field(default_factory=Counter)

    def take(self, event: runwire.Event) -> None:
        if event.ephemeral:
            self.deltas += 1
            self.open_deltas[event.subject or ""] += 1
        else:
            self.positions.append(event.position)


@dataclass(frozen=True)
class Journalled:
    """The journal on the disk: rows in order, how often its process was started, what it was handed again."""

    rows: list[tuple[int, bytes]]
    starts: int
    repeats: int

    @staticmethod
    def read(path: Path, log: str) -> Journalled:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            query = "SELECT position, encoded FROM events WHERE log = ? ORDER BY position"
            rows = database.execute(query, (log,)).fetchall()
            starts = database.execute("SELECT count(*) FROM starts").fetchone()[0]
            repeats = database.execute("SELECT coalesce(sum(count), 0) FROM repeats").fetchone()[0]
            return Journalled(rows, starts, repeats)
        finally:
            database.close()


class Report:
    """Lines of what was counted; a line with `must` is a promise. Owner: the demonstration."""

    def __init__(self) -> None:
        self._lines: list[tuple[str, str, bool]] = []

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        return all(right for _, _, right in self._lines)

    def count(self, what: str, value: object) -> None:
        self._lines.append((what, str(value), True))

    def promise(self, what: str, value: object, must: object) -> None:
        right = value == must
        self._lines.append((what, str(value) if right else f"{value}, not {must}", right))

    def print(self) -> None:
        width = max(len(what) for what, _, _ in self._lines)
        print()
        for what, value, right in self._lines:
            print(f"  {what:<{width}}  {value:>12}  {'' if right else '<-- BROKEN'}".rstrip())
        print()
        print("Every promise was kept." if self.kept else "A promise was broken: see the lines above.")


def judge(log: Sequence[runwire.Event], seen: Seen, journal: Journalled, killed: str) -> Report:
    """The log in the end, against what the follower and the journal had meanwhile."""
    report = Report()
    ends: dict[str, list[str]] = {}
    for event in log:
        ends.setdefault(event.subject or "", [])
        if event.type in TERMINALS:
            ends[event.subject or ""].append(event.type)
    report.count("runs", len(ends))
    how = Counter(TERMINALS[end] for each in ends.values() for end in each)
    report.count("  ended as", ", ".join(f"{count} {end}" for end, count in sorted(how.items())))
    report.count("events appended", len(log))
    report.count("events in the journal", len(journal.rows))
    report.count("events at the follower", len(seen.positions))
    report.count("deltas at the follower", seen.deltas)
    report.count("starts of the journal", journal.starts)
    report.count("duplicates handed to the journal", journal.repeats)
    positions = [event.position for event in log]
    dense = list(range(1, len(log) + 1))
    report.promise("gaps in the log", len(set(dense) - set(positions)), 0)
    report.promise("gaps at the follower", len(set(positions) - set(seen.positions)), 0)
    report.promise("duplicates at the follower", len(seen.positions) - len(set(seen.positions)), 0)
    report.promise("follower in log order", seen.positions == sorted(seen.positions), True)
    report.promise("lost from the journal", len(set(positions) - {row[0] for row in journal.rows}), 0)
    replay = [(event.position, event.encoded) for event in log]
    report.promise("journal is the replay, byte by byte", journal.rows == replay, True)
    report.promise("runs without exactly one end", sum(len(each) != 1 for each in ends.values()), 0)
    lost = [event for event in log if event.subject == killed and event.type == "run.failed"]
    reason = "owner_lost" if lost and "owner_lost" in lost[-1].data_json else "not closed"
    report.promise("run of the killed agent", reason, "owner_lost")
    return report
