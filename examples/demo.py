#!/usr/bin/env python3
"""Eight agents on one bus; an observer, the server and an agent are killed; then everything is audited.

Run it as `./dev demo`; `--keep` leaves the server running, with its data.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import runwire
from _processes import ROOT, Child, Server, runwire_binary
from _report import Journalled, Report, Seen, judge

AGENTS = 8
RECORDED = ROOT.parent / "shared" / "data"
"""Real recorded runs, where they lie beside the checkout; else those of this repository are played."""
RECORDED_FILES = (
    "agent-runs/humanevalfix*.traj", "agent-runs/rock*.traj", "agent-runs/BabyEncryption*.traj",
    "agent-runs/katy*.traj", "agent-runs/marshmallow*883f.traj", "provider-streams/*/openai-mcp-tool.1.jsonl",
    "provider-streams/*/groq-text.jsonl", "provider-streams/*/anthropic-code-execution-*.2.jsonl",
)
"""Agents and single model calls, one of each provider; the slowest last."""
LEASE_MS = 3000
"""A server that is started again within it finds the agents' runs still theirs."""
SECONDS_MAX = 55.0
OBSERVER = "audit"
QUIET = {"text.started", "reasoning.started", "tool.input.started", "model.started", "turn.started"}


@dataclass(frozen=True)
class Script:
    """What the agents play, how fast, and after how many events each act of violence comes."""

    files: list[Path]
    speed: str
    acts: tuple[int, int, int]


def script() -> Script:
    """The slow ones come last, so that there is somebody to kill."""
    real = [path for pattern in RECORDED_FILES for path in sorted(RECORDED.glob(pattern))]
    if len(real) == AGENTS:
        return Script(real, "1", (150, 300, 450))
    own = sorted((ROOT / "examples/recordings").glob("*.ndjson"), key=lambda path: path.stat().st_size)
    return Script([own[index % len(own)] for index in range(AGENTS)], "0.6", (40, 80, 110))


class Fleet:
    """The processes of the demonstration, in one directory. Owner: main()."""

    def __init__(self, directory: Path, script: Script) -> None:
        self.directory = directory
        self.script = script
        self.server = Server(directory, [OBSERVER], lease_ms=LEASE_MS)
        self.journal_path = directory / "journal.sqlite"
        self.agents: dict[str, Child] = {}
        self.journal: Child | None = None

    def start_journal(self) -> None:
        observer = str(ROOT / "examples/journal.py")
        command = [sys.executable, observer, OBSERVER, str(self.journal_path), self.server.endpoint]
        self.journal = Child(command, self.directory / "journal.log")

    def start_agents(self) -> None:
        for number, path in enumerate(self.script.files, 1):
            name = f"agent-{number}"
            command = [runwire_binary(), "play", str(path), "--connect", self.server.endpoint]
            command += ["--subject", name, "--agent", name, "--speed", self.script.speed]
            self.agents[name] = Child(command, self.directory / f"{name}.log")

    def kill_journal(self) -> None:
        assert self.journal is not None
        say("kill -9 the observer: nothing is shown to anybody until it is back")
        self.journal.kill()
        self.start_journal()

    def kill_server(self) -> None:
        say("kill -9 the server: the agents wait, and repeat what was not answered")
        self.server.kill()
        self.server.start()
        say(f"the server is back: term {self.server.ready['term']}, the same log")

    def end(self, keep: bool) -> None:
        for child in [*self.agents.values(), *([self.journal] if self.journal and not keep else [])]:
            if child.running:
                child.end()
        if not keep:
            self.server.end()


def say(what: str) -> None:
    print(f"--- {what}", flush=True)


def show(event: runwire.Event, seen: Seen) -> None:
    """A line a durable event; what streamed before it is counted, and its whole value stands in it."""
    if event.ephemeral or event.type in QUIET:
        return
    data = event.data if isinstance(event.data, dict) else {}
    words = next((str(data[key]) for key in ("text", "name", "finish", "reason", "message") if key in data), "")
    streamed = seen.open_deltas.pop(event.subject or "", 0)
    note = f"  ({streamed} deltas)" if streamed else ""
    line = f"{event.position:>5}  {event.subject:<8}  {event.type:<21} {' '.join(words.split())[:44]}{note}"
    print(line.rstrip(), flush=True)


class Story:
    """Follows the fleet live, and kills somebody when enough was seen. Bound: SECONDS_MAX."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._seen = Seen()
        self._deadline = time.monotonic() + SECONDS_MAX
        self._acts: list[tuple[int, Callable[[], None]]] = [
            (fleet.script.acts[0], fleet.kill_journal),
            (fleet.script.acts[1], fleet.kill_server),
            (fleet.script.acts[2], self._kill_agent),
        ]
        self.killed = ""

    async def play(self) -> Report:
        async with await runwire.connect(self._fleet.server.endpoint) as bus:
            stream = bus.events(after=0)
            while self._acts or not await self._over(bus):
                await self._take(stream)
            self._seen.resumes = stream.counters.resumes
            log = [event async for event in bus.events(after=0, follow=False, level="committed")]
            report = judge(log, self._seen, self._journalled(bus), self.killed)
            report.count("resumes of the follower", self._seen.resumes)
            report.count("holes it healed by reading", stream.counters.holes_healed)
            return report

    async def _take(self, stream: runwire.EventStream) -> None:
        if time.monotonic() > self._deadline:
            raise RuntimeError(f"not over after {SECONDS_MAX:g} s")
        try:
            events = await asyncio.wait_for(stream.batch(), 0.5)
        except asyncio.TimeoutError:
            return
        for event in events:
            self._seen.take(event)
            show(event, self._seen)
            if self._acts and len(self._seen.positions) >= self._acts[0][0]:
                await asyncio.to_thread(self._acts.pop(0)[1])

    async def _over(self, bus: runwire.Bus) -> bool:
        """All agents are gone, all runs have ended, and the follower has everything."""
        if any(agent.running for agent in self._fleet.agents.values()):
            return False
        if await bus.subjects(open=True):
            return False
        last = int((await bus.status())["log.committed"])
        return bool(self._seen.positions) and self._seen.positions[-1] >= last

    def _kill_agent(self) -> None:
        alive = [name for name, agent in self._fleet.agents.items() if agent.running]
        self.killed = alive[-1]
        say(f"kill -9 {self.killed} for good: when its lease lapses, the bus ends its run")
        self._fleet.agents[self.killed].kill()

    def _journalled(self, bus: runwire.Bus) -> Journalled:
        return Journalled.read(self._fleet.journal_path, str(bus.log))


def explain(fleet: Fleet) -> None:
    print(f"\nStill running, in {fleet.directory}. In a second terminal:")
    print(f"  export RUNWIRE_URL={fleet.server.endpoint}")
    for words in ("runs", "status", "tail agent-1 --until-caught-up"):
        print(f"  {runwire_binary()} {words}")
    server, journal = fleet.server.child, fleet.journal
    assert server is not None and journal is not None
    print(f"Stop it: kill {server.process.pid} {journal.process.pid}; rm -r {fleet.directory}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", action="store_true", help="leave the server and its data")
    keep = parser.parse_args().keep
    directory = Path(tempfile.mkdtemp(prefix="runwire-demo-"))
    fleet = Fleet(directory, script())
    kept = False
    try:
        fleet.server.start()
        say(f"a server on a fresh log; nobody sees an event before {OBSERVER} has it on its disk")
        fleet.start_journal()
        fleet.start_agents()
        report = asyncio.run(Story(fleet).play())
        report.print()
        kept = report.kept
    except (RuntimeError, runwire.Error) as problem:
        print(f"demo: {problem}", file=sys.stderr)
    finally:
        fleet.end(keep)
        if keep:
            explain(fleet)
        else:
            shutil.rmtree(directory, ignore_errors=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
