#!/usr/bin/env python3
"""No answered event is lost, repeated or reordered, and nobody sees one before the observers, through kill -9."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field

import _harness
import runwire
from _chain_audit import Audit, begun
from _harness import Broken, Child, Progress, Server, Stage

BREAKS = ["false_receipt", "drop_event", "reuse_number", "early_publish", "skip_ack", "second_terminal"]
OBSERVERS = ["first", "second"]
APPENDERS = 3
LEASE_MS = 3000
STALL_SECONDS = 20.0
"""Receipts that do not come for so long do not come."""
RECEIPTS_BETWEEN_KILLS = (20, 160)


@dataclass
class Appender:
    """One place in the fleet: the process that holds it now, and the ledgers of all that did."""

    number: int
    child: Child | None = None
    lives: int = 0
    killed: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"agent{self.number}.{self.lives}"


class Chain:
    """Server, appenders, two required observers in a chain, followers: started, killed, audited."""

    def __init__(self, stage: Stage, bug: str | None, seed: int) -> None:
        self._stage = stage
        self._choice = random.Random(seed)
        env = {"RUNWIRE_BREAK": bug} if bug else {}
        self._server = Server(stage.directory, OBSERVERS, lease_ms=LEASE_MS, env=env)
        stage.servers.append(self._server)
        self._progress = Progress()
        self._appenders = [Appender(number) for number in range(APPENDERS)]
        self._observers: dict[str, Child] = {}
        self._watchers: list[Child] = []
        self._followers: list[str] = []
        self.kills = 0

    # ---- the life of it ----------------------------------------------------------------------

    def start(self) -> None:
        self._server.start()
        for name in OBSERVERS:
            self._start_observer(name)
        self._watchers.append(self._worker("witness", "witness.ledger"))
        self._start_follower()
        for appender in self._appenders:
            self._start_appender(appender)

    def kill_many(self, times: int) -> None:
        """kill -9 after some receipts, each time somebody else; at once somebody in its place."""
        victims = ["server", "server", "first", "second", "appender"]
        for turn in range(times):
            if turn % len(victims) == 0:
                self._choice.shuffle(victims)
            self._wait_for(self._choice.randint(*RECEIPTS_BETWEEN_KILLS))
            self._kill(victims[turn % len(victims)])
            self.kills += 1
            if turn == times // 2:
                self._start_follower()  # one that comes late, and wants everything all the same
        self._wait_for(RECEIPTS_BETWEEN_KILLS[1])

    def finish(self) -> list[runwire.Event]:
        """Lets all runs end and everybody catch up; then kills and starts the server once more, and reads."""
        for appender in self._appenders:
            assert appender.child is not None and appender.child.process.stdin is not None
            appender.child.process.stdin.close()
        for appender in self._appenders:
            assert appender.child is not None
            if appender.child.wait(min(STALL_SECONDS, self._stage.left())) != 0:
                raise Broken("an appender failed", appender.child.last_words())
        last = asyncio.run(self._settled())
        self._wait_for_followers(last)
        for child in [*self._watchers, *self._observers.values()]:
            child.end()
        self._server.kill()
        self.kills += 1
        self._server.start()
        return asyncio.run(self._whole_log())

    def audit(self, log: list[runwire.Event]) -> Audit:
        place = self._stage.directory
        audit = Audit(log, [place / f"{name}.ledger" for name in OBSERVERS])
        audit.judge_log()
        for appender in self._appenders:
            for name in appender.killed:
                audit.judge_appender(place / f"{name}.ledger", killed=True)
            audit.judge_appender(place / f"{appender.name}.ledger", killed=False)
        audit.judge_observers()
        audit.judge_chain(begun(place / "second.ledger"))
        audit.judge_shown(place / "witness.ledger")
        for name in self._followers:
            audit.judge_follower(place / name)
        return audit

    # ---- its parts ---------------------------------------------------------------------------

    def _worker(self, role: str, ledger: str, *more: str) -> Child:
        return self._stage.worker(role, self._server.endpoint, ledger, *more)

    def _start_observer(self, name: str) -> None:
        self._observers[name] = self._worker("observe", f"{name}.ledger", name)

    def _start_follower(self) -> None:
        ledger = f"follower{len(self._followers) + 1}.ledger"
        self._followers.append(ledger)
        self._watchers.append(self._worker("follow", ledger))

    def _start_appender(self, appender: Appender) -> None:
        appender.lives += 1
        appender.child = self._stage.worker(
            "append",
            self._server.endpoint,
            f"{appender.name}.ledger",
            appender.name,
            str(self._progress.write),
            pass_fds=[self._progress.write],
            stdin=subprocess.PIPE,
        )

    def _kill(self, victim: str) -> None:
        if victim == "server":
            self._server.kill()
            self._server.start()
        elif victim == "appender":
            appender = self._choice.choice(self._appenders)
            assert appender.child is not None
            appender.child.kill()
            appender.killed.append(appender.name)
            self._start_appender(appender)
        else:
            self._observers[victim].kill()
            self._start_observer(victim)

    # ---- waiting -----------------------------------------------------------------------------

    def _wait_for(self, receipts: int) -> None:
        if not self._progress.wait_for(receipts, min(STALL_SECONDS, self._stage.left())):
            raise Broken("receipts have stopped coming", self._words())

    def _words(self) -> str:
        children = [*self._observers.values(), *self._watchers]
        children += [appender.child for appender in self._appenders if appender.child is not None]
        return "\n".join(child.last_words(3) for child in children if not child.running)

    async def _settled(self) -> int:
        """Until no run is open and everything is acknowledged: the last position."""
        async with await runwire.connect(self._server.endpoint) as bus:
            stream = bus.events(after=0)
            left: list[runwire.SubjectInfo] = []
            committed = 0
            seen, stalled_at = 0, time.monotonic() + STALL_SECONDS
            while time.monotonic() < stalled_at:
                left = await bus.subjects(open=True)
                committed = int((await bus.status())["log.committed"])
                if not left and seen == committed:
                    return seen
                try:
                    events = await asyncio.wait_for(stream.batch(), min(1.0, self._stage.left()))
                except asyncio.TimeoutError:
                    continue
                seen = max([seen, *(event.position for event in events)])
                stalled_at = time.monotonic() + STALL_SECONDS
        raise Broken(f"{len(left)} runs stay open, {seen} of {committed} events are acknowledged", self._words())

    def _wait_for_followers(self, last: int) -> None:
        """They note what they have; their own process is what is waited on, in short turns."""
        for child, ledger in zip(self._watchers[1:], self._followers):
            path = self._stage.directory / ledger
            while f"[{last}," not in path.read_text():
                try:
                    child.process.wait(min(0.1, self._stage.left()))
                    raise Broken(f"{ledger}: it ended by itself", child.last_words())
                except subprocess.TimeoutExpired:
                    continue

    async def _whole_log(self) -> list[runwire.Event]:
        async with await runwire.connect(self._server.endpoint) as bus:
            stream = bus.events(after=0, follow=False, level="committed")
            return [event async for event in stream]


def prove(stage: Stage, given: _harness.Arguments) -> bool:
    """Whether the promise held; prints what was found and the closing line."""
    chain = Chain(stage, given.bug, given.seed)
    chain.start()
    chain.kill_many(200 if given.full else 20)
    audit = chain.audit(chain.finish())
    counts = audit.found.counts
    for line in audit.found.shown:
        print(f"  {line}")
    print(
        f"chain: {len(audit.log)} events in {audit.runs} runs, {audit.deltas} deltas, {audit.acked} receipts, "
        f"{chain.kills} kills, {audit.again} handed over again, lost {counts['lost']}, repeated {counts['repeated']}, "
        f"out of order {counts['out of order']}, early {counts['early']}"
    )
    return not counts


def main() -> int:
    given = _harness.arguments(__doc__ or "", BREAKS)
    stage = _harness.stage("chain", 900.0 if given.full else 90.0)
    held = False
    try:
        held = prove(stage, given)
    except Broken as broken:
        print(f"{broken.words}\n  seed {given.seed}")
        print(f"chain: broken: {broken}")
    except runwire.Error as problem:
        # A bus that no longer answers has broken its promise as much as one that answers wrongly.
        print(f"  seed {given.seed}")
        print(f"chain: broken: {problem}")
    finally:
        stage.end(given.keep)
    return 0 if held else _harness.BROKEN


if __name__ == "__main__":
    sys.exit(main())
