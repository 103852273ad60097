"""Judges one run of the chain: the log that is there in the end, against what every process noted."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Sequence

import runwire
from _ledger import digest, notes

TERMINALS = frozenset(["run.completed", "run.failed", "run.cancelled"])
SHOWN_MAX = 5
"""Findings of one kind that are printed; all are counted."""


@dataclass
class Findings:
    """What is wrong, by kind. Nothing in it: the promise held."""

    counts: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def add(self, kind: str, what: str) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN_MAX:
            self.shown.append(f"{kind}: {what}")


@dataclass
class Taken:
    """What one observer took: position -> (when it was first done, id, sum of the bytes)."""

    first: dict[int, tuple[int, str, int]] = field(default_factory=dict)
    again: int = 0


class Audit:
    """Owner: the proof. `log` is the whole log in log order, read from a server that was started anew."""

    def __init__(self, log: Sequence[runwire.Event], observers: Sequence[Path]) -> None:
        self.log = log
        self.found = Findings()
        self.by_position = {event.position: event for event in log}
        self.observers = [self._taken(path) for path in observers]
        self.again = sum(taken.again for taken in self.observers)
        self.acked = 0
        self.runs = 0
        self.deltas = 0

    # ---- the log alone -----------------------------------------------------------------------

    def judge_log(self) -> None:
        """Dense, in order, no id twice, every run with one terminal and nothing behind it."""
        last: dict[str, int] = defaultdict(int)
        step: dict[str, int] = defaultdict(int)
        ended: dict[str, str] = {}
        ids: dict[Any, int] = {}
        for place, event in enumerate(self.log, 1):
            subject = event.subject or ""
            if event.position != place:
                self.found.add("out of order", f"position {event.position} stands at place {place}")
            if event.seq != last[subject] + 1:
                self.found.add("out of order", f"{subject}: {event.seq} follows {last[subject]}")
            if event.id in ids:
                self.found.add("repeated", f"{event.id} at {ids[event.id]} and {event.position}")
            if subject in ended:
                kind = "repeated" if event.type in TERMINALS else "out of order"
                self.found.add(kind, f"{subject}: {event.type} after {ended[subject]}")
            if event.type == "proof.step":
                if event.data["step"] != step[subject] + 1:
                    self.found.add("out of order", f"{subject}: step {event.data['step']}")
                step[subject] = event.data["step"]
            if event.type in TERMINALS:
                ended[subject] = event.type
            last[subject] = event.seq
            ids[event.id] = event.position
        self.runs = len(last)
        for subject in last.keys() - ended.keys():
            self.found.add("lost", f"{subject} has no terminal")

    # ---- the appenders -----------------------------------------------------------------------

    def judge_appender(self, path: Path, killed: bool) -> None:
        """Every receipt is true, nothing was invented, and what a dead agent left open was closed."""
        wanted: dict[str, set[str]] = defaultdict(set)
        for kind, subject, what in notes(path):
            if kind == "want":
                wanted[subject].update(what)
            elif kind == "got":
                for id, seq, position in what:
                    self._judge_receipt(subject, id, seq, position)
        for event in self.log:
            if event.subject in wanted:
                wanted[event.subject].discard(str(event.id))
                self._judge_end(event, killed)

    def _judge_receipt(self, subject: str, id: str, seq: int, position: int) -> None:
        self.acked += 1
        event = self.by_position.get(position)
        if event is None:
            self.found.add("lost", f"{id} was answered as {subject} {seq}, position {position}: not there")
        elif (str(event.id), event.subject, event.seq) != (id, subject, seq):
            self.found.add("lost", f"{id} was answered as position {position}, which is {event.id}")

    def _judge_end(self, event: runwire.Event, killed: bool) -> None:
        if event.type == "run.failed" and "owner_lost" not in event.data_json:
            self.found.add("out of order", f"{event.subject} failed: {event.data_json}")
        elif event.type == "run.failed" and not killed:
            self.found.add("lost", f"{event.subject} was closed as owner_lost, but its agent lived")

    # ---- the observers -----------------------------------------------------------------------

    def _taken(self, path: Path) -> Taken:
        taken = Taken()
        for _, _, done, events in notes(path):
            for position, _, id, sum in events:
                known = taken.first.get(position)
                if known is None:
                    if position != len(taken.first) + 1:
                        self.found.add("out of order", f"{path.name}: {position} after {len(taken.first)}")
                    taken.first[position] = (done, id, sum)
                    continue
                taken.again += 1
                if known[1:] != (id, sum):
                    self.found.add("repeated", f"{path.name}: position {position} is two events")
        return taken

    def judge_observers(self) -> None:
        """Each got every event, with the log's bytes, and none before the one in front of it had it."""
        for index, taken in enumerate(self.observers):
            for event in self.log:
                entry = taken.first.get(event.position)
                if entry is None:
                    self.found.add("lost", f"observer {index + 1} never got position {event.position}")
                elif entry[1:] != (str(event.id), digest(event.encoded)):
                    self.found.add("repeated", f"observer {index + 1}: other bytes at {event.position}")
            for position in taken.first.keys() - self.by_position.keys():
                self.found.add("lost", f"observer {index + 1} got position {position}: not in the log")

    def judge_chain(self, begun: Iterable[tuple[int, int]]) -> None:
        """`begun`: when the last observer began on each position; the first was done before it."""
        for when, position in begun:
            self._judge_time("observer 2", when, position, self.observers[0])

    # ---- those who must come last ------------------------------------------------------------

    def judge_shown(self, path: Path) -> None:
        """The witness: no message and no page shows what was not acked by then."""
        last: dict[tuple[str, int], int] = {}
        for kind, when, term, acknowledged, positions in notes(path):
            for position in positions:
                if position > acknowledged:
                    self.found.add("early", f"{kind}: position {position}, acknowledged {acknowledged}")
                if position <= last.get((kind, term), 0):
                    self.found.add("repeated", f"{kind}: position {position} again")
                last[kind, term] = position
                self._judge_time(kind, when, position, self.observers[-1])

    def judge_follower(self, path: Path) -> None:
        """Every event once and in order; deltas between the start and the end of their text alone."""
        place = 0
        streaming: set[tuple[str, str]] = set()
        for _, when, events in notes(path):
            for position, type, subject, text, *rest in events:
                if position == 0:
                    self.deltas += 1
                    if (subject, text) not in streaming:
                        self.found.add("out of order", f"{path.name}: a delta of {subject} {text}")
                    continue
                if type == "text.started":
                    streaming.add((subject, text))
                else:
                    streaming.discard((subject, text))
                if position != place + 1:
                    kind = "repeated" if position <= place else "lost"
                    self.found.add(kind, f"{path.name}: {position} after {place}")
                place = max(place, position)
                event = self.by_position.get(position)
                if event is not None and rest != [str(event.id), digest(event.encoded)]:
                    self.found.add("repeated", f"{path.name}: other bytes at {position}")
                self._judge_time(path.name, when, position, self.observers[-1])
        if place < len(self.log):
            self.found.add("lost", f"{path.name}: it ended at {place} of {len(self.log)}")

    def _judge_time(self, who: str, when: int, position: int, before: Taken) -> None:
        entry = before.first.get(position)
        if entry is None or when < entry[0]:
            self.found.add("early", f"{who} had position {position} before it was acked")


def begun(path: Path) -> Iterable[tuple[int, int]]:
    """When an observer began on each position that it took."""
    for _, when, _, events in notes(path):
        for position, *_ in events:
            yield when, position
