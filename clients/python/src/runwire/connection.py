"""Requests and their replies over one DEALER: matched by `rid`, sent again until they are answered."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Deque, Mapping, TypeVar

import zmq

from runwire import limits
from runwire.errors import Backpressure, Closed, Error, Invalid, TimedOut, Unavailable
from runwire.guard import Guard
from runwire.header import encode_header
from runwire.ids import new_instance_id
from runwire.messages import Hello, Reply, decode_reply, hello_of
from runwire.port import Port

T = TypeVar("T")
AGENT = "runwire-python/0.1.0"


@dataclass
class _Pending:
    reply: asyncio.Future[Reply]
    frame: bytes


@dataclass
class RequestCounters:
    """What this connection saw; all only grow."""

    sent: int = 0
    resent: int = 0
    unmatched: int = 0
    """Replies that nobody waits for any more, repeats among them."""
    unreadable: int = 0


@dataclass
class Connection:
    """One DEALER to one server.

    Owner: the loop of its guard. Bound: OUTSTANDING_MAX requests, further calls wait their turn.
    Errors: what the server refused, as its type; `TimedOut` without an answer in time;
    `Unavailable` where no server was ever reached.
    """

    endpoint: str
    context: zmq.Context[zmq.Socket[bytes]]
    guard: Guard
    agent: str = AGENT
    client: bytes = field(default_factory=new_instance_id)
    counters: RequestCounters = field(default_factory=RequestCounters)
    on_term: Callable[[int], None] | None = None
    """Told when a reply carries another term than the last one: the server was restarted."""

    def __post_init__(self) -> None:
        self.term = 0
        self._reached = False
        self._next_rid = 1
        self._pending: dict[int, _Pending] = {}
        self._unsent: Deque[int] = deque()
        self._room = asyncio.Semaphore(limits.OUTSTANDING_MAX)
        self._port = Port(self.context, zmq.DEALER, self.endpoint, self._take, self._send_unsent)

    async def hello(self, timeout: float = limits.REQUEST_TIMEOUT) -> Hello:
        """Asks the server who it is."""
        reply = await self.call("hello", {"agent": self.agent}, timeout=timeout)
        return hello_of(checked(reply, "hello"))

    async def call(
        self,
        op: str,
        fields: Mapping[str, Any],
        *,
        timeout: float = limits.REQUEST_TIMEOUT,
        patience: float = 0.0,
        again: Mapping[str, Any] | None = None,
        repeat: bool = True,
    ) -> Reply:
        """One request and its reply, which may be a refusal: see checked().

        `patience` is how long the server may keep the request by design; only after that does
        silence mean that it was lost. `again` is added to what is sent again; with `repeat` False
        nothing is, for a request that is not the same when it is done twice.
        """
        self.guard.check()
        async with self._room:
            rid = self._next_rid
            self._next_rid += 1
            request = {"op": op, "rid": rid, "client": self.client, **fields}
            frame = encode_header(request)
            reply: asyncio.Future[Reply] = self.guard.loop.create_future()
            self._pending[rid] = _Pending(reply, frame)
            try:
                self._send(rid)
                second = encode_header({**request, **again}) if again else frame
                return await self._answer(
                    op, rid, second if repeat else None, timeout + patience, patience
                )
            finally:
                self._forget(rid)

    def close(self) -> None:
        """Calls that wait get `closed`."""
        self._port.close()
        for pending in self._pending.values():
            if not pending.reply.done():
                pending.reply.set_exception(Closed("this client object was closed"))

    def _forget(self, rid: int) -> None:
        pending = self._pending.pop(rid)
        if rid in self._unsent:
            self._unsent.remove(rid)
        if pending.reply.done() and not pending.reply.cancelled():
            pending.reply.exception()  # seen: a cancelled caller leaves no complaint behind

    async def _answer(
        self, op: str, rid: int, second: bytes | None, timeout: float, patience: float
    ) -> Reply:
        pending = self._pending[rid]
        deadline = self.guard.loop.time() + timeout
        pause = patience + limits.RESEND_AFTER
        while not pending.reply.done():
            left = deadline - self.guard.loop.time()
            if left <= 0:
                raise self._no_answer(op, timeout)
            await asyncio.wait([pending.reply], timeout=min(pause, left))
            # At the deadline nobody is left to hear an answer to another one.
            if pending.reply.done() or rid in self._unsent or second is None or left <= pause:
                continue
            pending.frame = second
            self.counters.resent += 1
            self._send(rid)
            pause = min(2 * pause, patience + limits.RESEND_AFTER_MAX)
        return pending.reply.result()

    def _no_answer(self, op: str, timeout: float) -> Error:
        if self._reached:
            return TimedOut(f"no answer to {op} from {self.endpoint} within {timeout:g} s")
        return Unavailable(
            f"no server answers at {self.endpoint}; start one with: runwire serve --data DIR"
        )

    def _send(self, rid: int) -> None:
        if self._port.send([self._pending[rid].frame]):
            self.counters.sent += 1
        else:
            self._unsent.append(rid)

    def _send_unsent(self) -> None:
        """The peer is back: what waits goes out in the order in which it was asked."""
        waiting, self._unsent = self._unsent, deque()
        for rid in waiting:
            if rid in self._pending:
                self._send(rid)

    def _take(self, frames: list[bytes]) -> None:
        try:
            reply = decode_reply(frames)
        except Error:
            self.counters.unreadable += 1
            return
        self._reached = True
        self._note_term(reply.term)
        pending = self._pending.get(reply.rid) or self._unaddressed(reply)
        if pending is None or pending.reply.done():
            self.counters.unmatched += 1
            return
        pending.reply.set_result(reply)

    def _unaddressed(self, reply: Reply) -> _Pending | None:
        """A request that could not be read is answered with rid 0: it can only be the one there is."""
        if reply.rid == 0 and reply.error is not None and len(self._pending) == 1:
            return next(iter(self._pending.values()))
        return None

    def _note_term(self, term: int) -> None:
        if term == self.term:
            return
        self.term = term
        if self.on_term is not None:
            self.on_term(term)


def checked(reply: Reply, op: str) -> Reply:
    """The reply, unless it is a refusal. An append may be both; its caller looks itself."""
    if reply.error is not None:
        raise reply.error
    if reply.op != op:
        raise Invalid(f"the server answered {reply.op} to {op}")
    return reply


async def patiently(attempt: Callable[[], Awaitable[T]], deadline: float) -> T:
    """Calls again while the answer is `backpressure`, with growing pauses, until the deadline."""
    loop = asyncio.get_running_loop()
    pause = limits.RETRY_AFTER
    while True:
        try:
            return await attempt()
        except Backpressure:
            if loop.time() + pause >= deadline:
                raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, limits.RETRY_AFTER_MAX)
