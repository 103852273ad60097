"""The processes of the proofs: `_workers.py ROLE URL LEDGER [ARGUMENTS]`. Each notes what it saw, then acts."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any, Callable, Coroutine

import runwire
import zmq
from _ledger import Ledger, digest, now
from runwire.connection import Connection, checked
from runwire.guard import Guard
from runwire.header import decode_header
from runwire.messages import HEARTBEAT_TOPIC, LOG_TOPIC, LiveEvents, decode_live, page_of
from runwire.port import Port

RUNS_AT_ONCE = 3
STEPS_MAX = 24
BATCH_MAX = 6
APPEND_SECONDS = 20.0


OPENING = [
    runwire.Draft("turn.started", {"turn": 1}),
    runwire.Draft("model.started", {"turn": 1, "operation_id": "op-1", "model": "proof", "attempt": 1}),
]
CLOSING = [
    runwire.Draft("model.completed", {"operation_id": "op-1", "finish": "stop", "usage": {}}),
    runwire.Draft("turn.completed", {"turn": 1}),
    runwire.Draft("run.completed", {}),
]
WORDS = ["one ", "two ", "three"]


def _text(text_id: str) -> list[runwire.Draft]:
    """A text as a model streams it: its deltas are live only, its end has all of it."""
    started = runwire.Draft("text.started", {"operation_id": "op-1", "text_id": text_id})
    deltas = [
        runwire.Draft("text.delta", {"text_id": text_id, "index": index, "delta": word}, durable=False)
        for index, word in enumerate(WORDS)
    ]
    whole = {"operation_id": "op-1", "text_id": text_id, "text": "".join(WORDS), "deltas": len(WORDS)}
    return [started, *deltas, runwire.Draft("text.ended", whole)]


class Agent:
    """Appends runs under ids of its own, several at once, until its standard input ends.

    Before an append: `want`, the run and the ids. After it: `got`, each id with sequence and position.
    """

    def __init__(self, bus: runwire.Bus, ledger: Ledger, name: str, progress: int) -> None:
        self._bus = bus
        self._ledger = ledger
        self._name = name
        self._progress = progress
        self._choice = random.Random(name)
        self._runs = 0
        self._ended = asyncio.Event()

    async def work(self) -> None:
        asyncio.get_running_loop().add_reader(0, self._ended.set)
        await asyncio.gather(*(self._line() for _ in range(RUNS_AT_ONCE)))

    async def _line(self) -> None:
        while not self._ended.is_set():
            self._runs += 1
            subject = f"{self._name}.{self._runs}"
            try:
                await self._bus.claim(subject)
                await self._play(subject)
            except (runwire.Fenced, runwire.NotOwner, runwire.Lifecycle) as lost:
                self._ledger.note("lost", subject, str(lost))

    async def _play(self, subject: str) -> None:
        await self._append(subject, [runwire.Draft("run.started", {"agent": self._name}), *OPENING])
        steps = self._choice.randint(1, STEPS_MAX)
        step = 0
        while step < steps and not self._ended.is_set():
            drafts = _text(f"text-{step}")
            for _ in range(self._choice.randint(1, BATCH_MAX)):
                step += 1
                drafts.append(runwire.Draft("proof.step", {"step": step, "of": subject}))
            await self._append(subject, drafts)
        await self._append(subject, CLOSING)

    async def _append(self, subject: str, drafts: list[runwire.Draft]) -> None:
        mine = [
            runwire.Draft(draft.type, draft.data, draft.durable, runwire.new_event_id())
            for draft in drafts
        ]
        durable = [str(draft.id) for draft in mine if draft.durable]
        self._ledger.note("want", subject, durable)
        level = self._choice.choice(["committed", "committed", "acknowledged"])
        receipts = await self._until_known(subject, mine, level)
        got = [[str(each.id), each.seq, each.position] for each in receipts if each.seq]
        self._ledger.note("got", subject, got)
        os.write(self._progress, b"." * len(got))

    async def _until_known(
        self, subject: str, drafts: list[runwire.Draft], level: str
    ) -> list[runwire.Receipt]:
        """Repeats what has no known outcome, under the same ids: it must be in the log once all the same."""
        while True:
            try:
                return await self._bus.append_many(subject, drafts, level=level, deadline=APPEND_SECONDS)
            except runwire.ObserverTimeout as late:
                return late.receipts  # committed, which is what a receipt is about
            except runwire.TimedOut:
                continue


async def append(url: str, ledger: Ledger, name: str, progress: str) -> None:
    async with await runwire.connect(url, timeout=APPEND_SECONDS) as bus:
        await Agent(bus, ledger, name, int(progress)).work()


async def observe(url: str, ledger: Ledger, name: str) -> None:
    """A required observer: `took`, when it began, when it was done, and every event with its bytes' sum."""
    async with await runwire.connect(url, timeout=APPEND_SECONDS) as bus:

        def take(events: list[runwire.Event]) -> None:
            begun = now()
            seen = [[event.position, event.seq, str(event.id), digest(event.encoded)] for event in events]
            ledger.note("took", begun, now(), seen)

        await bus.observe(name, take, batch=True)


async def follow(url: str, ledger: Ledger) -> None:
    """The whole log from its beginning, then live: `saw`, when, and every event in the order of hand-over."""
    async with await runwire.connect(url, timeout=APPEND_SECONDS) as bus:
        stream = bus.events(after=0)
        while events := await stream.batch():
            ledger.note("saw", now(), [_seen(event) for event in events])


def _seen(event: runwire.Event) -> list[Any]:
    text = event.data.get("text_id") if event.type.startswith("text.") else None
    if event.ephemeral:
        return [0, event.type, event.subject, text]
    return [event.position, event.type, event.subject, text, str(event.id), digest(event.encoded)]


class Witness:
    """Reads the wire itself, with no healing that could hide anything: PUB, and reads at `acknowledged`."""

    def __init__(self, url: str, ledger: Ledger) -> None:
        self._ledger = ledger
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._connection = Connection(url, self._context, Guard())

    async def work(self) -> None:
        hello = await self._connection.hello(APPEND_SECONDS)
        topics = (LOG_TOPIC, HEARTBEAT_TOPIC)
        live = Port(self._context, zmq.SUB, hello.live, self._live, topics=topics)
        try:
            await self._read()
        finally:
            live.close()
            self._connection.close()

    def _live(self, frames: list[bytes]) -> None:
        message = decode_live(frames)
        if isinstance(message, LiveEvents):
            acknowledged = decode_header(frames[1]).uint("acknowledged")
            positions = [event.position for event in message.events if not event.ephemeral]
            self._ledger.note("live", now(), message.term, acknowledged, positions)

    async def _read(self) -> None:
        after = 0
        while True:
            fields = {"after": after, "level": "acknowledged", "wait_ms": 500}
            try:
                reply = checked(await self._connection.call("read", fields, patience=0.5), "read")
            except (runwire.TimedOut, runwire.Backpressure):
                continue
            page = page_of(reply)
            if page.events:
                acknowledged = reply.fields.uint("acknowledged")
                positions = [event.position for event in page.events]
                self._ledger.note("page", now(), page.term, acknowledged, positions)
            after = page.next


async def witness(url: str, ledger: Ledger) -> None:
    await Witness(url, ledger).work()


ROLES: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {"append": append, "observe": observe, "follow": follow, "witness": witness}


async def main(role: str, url: str, path: str, *arguments: str) -> None:
    work = asyncio.ensure_future(ROLES[role](url, Ledger(Path(path), sync=role == "observe"), *arguments))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
    await asyncio.wait([work])
    if not work.cancelled():
        work.result()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
