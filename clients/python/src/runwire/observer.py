"""A required observer's consumer (docs/protocol.md, section 5): ack after the effect, never before."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Deque, Union

import zmq

from runwire import limits
from runwire.connection import Connection, checked
from runwire.errors import Backpressure, Closed, Error, Fenced, TimedOut, Unavailable
from runwire.event import Event
from runwire.header import encode_header
from runwire.ids import new_instance_id
from runwire.messages import Attached, Delivery, attached_of, decode_delivery, page_of
from runwire.port import Port
from runwire.rows import observer_info
from runwire.waiting import wait_set

_log = logging.getLogger("runwire")

EventHandler = Callable[[Event], Union[None, Awaitable[None]]]
BatchHandler = Callable[[list[Event]], Union[None, Awaitable[None]]]

ACK_DELAY = 0.05
"""A delivery whose events take longer is acked in between, that late at most."""
RETRY_MAX = 5.0
"""Longest pause before an event that this side has read by itself is tried again."""
ATTACH_TIMEOUT = 3.0
DETACH_TIMEOUT = 0.5
SETTLE_PAUSE = 0.002
"""Between looks whether the last ack is on record."""


@dataclass
class ObserverCounters:
    """What an observation saw; all only grow."""

    handled: int = 0
    repeats_dropped: int = 0
    """Events that were delivered again and had been handled."""
    out_of_turn: int = 0
    """Events behind a refused one: they come again after it."""
    refusals: int = 0
    attaches: int = 0


class Observation:
    """Hands what is owed to the handler, in position order, and acks what it has returned from.

    Owner: the loop of connect(). Bound: DELIVERIES_MAX messages, and the server's own in-flight
    bound. Errors: `fenced` when another consumer took the name; `not_found`, `cursor_foreign`,
    `cursor_ahead` from attaching. A server that goes away is waited for.
    """

    def __init__(
        self,
        connection: Connection,
        name: str,
        handler: EventHandler | BatchHandler,
        *,
        batch: bool,
        position: int | None,
        log: bytes | None,
        on_close: Callable[[Observation], None],
    ) -> None:
        self.counters = ObserverCounters()
        self.acked = position or 0
        """Everything up to here has been handled."""
        self._connection = connection
        self._name = name
        self._handler: Callable[[Any], Any] = handler
        self._batch = batch
        self._own_cursor = position is not None
        self._on_close = on_close
        self._known_log = log
        self._instance = new_instance_id()
        self._attach: Attached | None = None
        self._deliver: Port | None = None
        self._acks: Port | None = None
        self._queue: Deque[Delivery] = deque()
        self._wake = asyncio.Event()
        self._failure: Error | None = None
        self._lost = False
        self._heartbeat = 1.0
        self._heard = 0.0
        self._delivered = 0
        self._ack_sent = 0
        self._owed_refusal: tuple[int, str] | None = None
        self._ack_time = 0.0

    async def run(self) -> None:
        """Until it is cancelled, fenced, or refused."""
        try:
            while True:
                await self._attach_now()
                await self._serve()
        finally:
            await self._leave()

    def stop(self, error: Error) -> None:
        """Ends run() with this error after the handler's present call."""
        self._failure = self._failure or error
        self._wake.set()

    def shut(self, error: Error) -> None:
        """As stop(), and closes the sockets now, whatever the handler is doing."""
        self.stop(error)
        self._close_ports()
        self._connection.close()
        self._on_close(self)

    # ---- attaching ---------------------------------------------------------------------------

    async def _attach_now(self) -> None:
        self._close_ports()
        first = self._attach is None
        while self._failure is None:
            try:
                hello = await self._connection.hello(limits.CONNECT_TIMEOUT)
                reply = await self._connection.call(
                    "attach", self._attach_fields(), timeout=ATTACH_TIMEOUT, repeat=False
                )
                break
            except (TimedOut, Unavailable, Backpressure, Closed):
                if first:
                    raise
                await asyncio.sleep(limits.RETRY_AFTER)
        # It may have been shut while the reply was on its way to us, and its sockets with it.
        if self._failure is not None:
            raise self._failure
        attached = attached_of(checked(reply, "attach"))
        self._heartbeat = hello.heartbeat
        self._begin(attached)
        if self._own_cursor and self.acked < attached.acked:
            await self._catch_up(attached.acked)
        self.acked = max(self.acked, attached.acked)
        self._own_cursor = True

    def _attach_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"observer": self._name, "instance": self._instance}
        fields["log"] = self._known_log
        fields["position"] = self.acked if self._own_cursor else None
        return fields

    def _begin(self, attached: Attached) -> None:
        self.counters.attaches += 1
        self._attach = attached
        self._known_log = attached.log
        self._lost = False
        self._queue.clear()
        self._delivered = self._ack_sent = attached.acked
        self._owed_refusal = None
        self._heard = time.monotonic()
        context = self._connection.context
        self._deliver = Port(context, zmq.PULL, attached.deliver, self._take)
        self._acks = Port(context, zmq.PUSH, attached.acks, on_writable=self._send_owed)

    async def _catch_up(self, upto: int) -> None:
        """This consumer knows less than was acked in its name: it reads what it lacks by itself."""
        pause = limits.RETRY_AFTER
        while self.acked < upto and self._failure is None:
            fields = {"after": self.acked, "level": "committed", "log": self._known_log}
            try:
                page = page_of(checked(await self._connection.call("read", fields), "read"))
            except (TimedOut, Unavailable, Backpressure, Closed):
                await asyncio.sleep(limits.RETRY_AFTER)
                continue
            wanted = [event for event in page.events if self.acked < event.position <= upto]
            problem = await self._hand_over(wanted)
            pause = limits.RETRY_AFTER if problem is None else min(2 * pause, RETRY_MAX)
            if problem is not None:
                await asyncio.sleep(pause)
        self._heard = time.monotonic()

    # ---- deliveries --------------------------------------------------------------------------

    def _take(self, frames: list[bytes]) -> None:
        self._heard = time.monotonic()
        try:
            delivery = decode_delivery(frames)
        except Error as error:
            return self.stop(error)
        attached = self._attach
        assert attached is not None
        if delivery.log == attached.log and delivery.term != attached.term:
            # A server that was started anew gives out the endpoints of its earlier life.
            self._lost = True
            return self._wake.set()
        expected = (self._name, attached.log, attached.epoch)
        if delivery.kind == "fenced" or expected != (delivery.observer, delivery.log, delivery.epoch):
            current = delivery.current or delivery.epoch
            return self.stop(
                Fenced(
                    f"another consumer holds the observer name {self._name}; this one stops",
                    {"epoch": attached.epoch, "current": current},
                )
            )
        if delivery.kind == "deliver":
            self._queue.append(delivery)
            if len(self._queue) >= limits.DELIVERIES_MAX and self._deliver is not None:
                self._deliver.pause()
        self._wake.set()

    async def _serve(self) -> None:
        """Until the link is lost."""
        while True:
            if self._failure is not None:
                raise self._failure
            if self._lost:
                return
            if self._queue:
                await self._handle(self._queue.popleft())
                if self._deliver is not None and len(self._queue) < limits.DELIVERIES_MAX // 2:
                    self._deliver.resume()
            else:
                await wait_set(self._wake, self._heartbeat / 2)
                self._judge_silence()

    def _judge_silence(self) -> None:
        if self._deliver is not None:
            self._deliver.drain()
        allowed = limits.HEARTBEATS_MISSED_MAX * self._heartbeat
        if not self._queue and time.monotonic() - self._heard > allowed:
            self._lost = True

    async def _handle(self, delivery: Delivery) -> None:
        events = [event for event in delivery.events if event.position > self.acked]
        self.counters.repeats_dropped += len(delivery.events) - len(events)
        if len(events) < len(delivery.events):
            # The server does not know of an ack that was sent: it is sent again.
            self._ack_sent = min(self._ack_sent, delivery.events[0].position - 1)
        if events and len(events) == len(delivery.events) and delivery.prev > self.acked:
            self.counters.out_of_turn += len(events)
            return
        self._delivered = max(self._delivered, delivery.events[-1].position)
        self._ack_time = time.monotonic()
        problem = await self._hand_over(events)
        if problem is None:
            self._send_ack()
        else:
            self._send_refusal(self.acked + 1, problem)

    async def _hand_over(self, events: list[Event]) -> str | None:
        """Calls the handler; moves `acked` behind what it returned from. The reason where it raised."""
        try:
            if self._batch:
                if events:
                    await self._call(events, events[-1].position, len(events))
                return None
            for event in events:
                await self._call(event, event.position, 1)
                if time.monotonic() - self._ack_time > ACK_DELAY:
                    self._send_ack()
        except Exception as problem:
            _log.warning(
                "observer %s: position %d refused: %r", self._name, self.acked + 1, problem
            )
            return f"{type(problem).__name__}: {problem}"
        return None

    async def _call(self, argument: Any, last: int, count: int) -> None:
        result = self._handler(argument)
        if inspect.isawaitable(result):
            await result
        self.acked = last
        self.counters.handled += count

    # ---- acks --------------------------------------------------------------------------------

    def _send_ack(self) -> None:
        position = min(self.acked, self._delivered)
        if position > self._ack_sent and self._send({"acked": position}):
            self._ack_sent = position
            self._ack_time = time.monotonic()

    def _send_refusal(self, position: int, reason: str) -> None:
        self.counters.refusals += 1
        short = reason.encode("utf-8", "replace")[: limits.REASON_BYTES_MAX].decode("utf-8", "ignore")
        self._owed_refusal = (position, short)
        self._send_owed()

    def _send_owed(self) -> None:
        """The refusal that no peer was there to take yet, while it still stands; else the ack."""
        if self._owed_refusal is None or self._owed_refusal[0] != self.acked + 1:
            return self._send_ack()
        position, reason = self._owed_refusal
        if self._send({"nack": position, "reason": reason}):
            self._owed_refusal = None
            self._ack_sent = position - 1

    def _send(self, what: dict[str, Any]) -> bool:
        attached = self._attach
        if attached is None or self._acks is None:
            return False
        header = {
            "observer": self._name,
            "log": attached.log,
            "term": attached.term,
            "epoch": attached.epoch,
            **what,
        }
        return self._acks.send([encode_header(header)])

    # ---- the end -----------------------------------------------------------------------------

    def _close_ports(self) -> None:
        for port in (self._deliver, self._acks):
            if port is not None:
                port.close()
        self._deliver = self._acks = None

    async def _settle_acks(self, attached: Attached) -> None:
        """An ack has no answer and travels beside the requests: who detaches before the server has
        it on record makes the next consumer get the same again. Bound: DETACH_TIMEOUT."""
        owed = min(self.acked, self._delivered)
        end = time.monotonic() + DETACH_TIMEOUT
        while owed > attached.acked and time.monotonic() < end:
            self._send_ack()
            reply = checked(
                await self._connection.call("observers", {}, timeout=DETACH_TIMEOUT), "observers"
            ).fields
            for row in map(observer_info, reply.maps("observers", limits.SUBJECTS_PAGE_MAX)):
                if row.observer == self._name and (row.acked >= owed or row.epoch != attached.epoch):
                    return
            await asyncio.sleep(SETTLE_PAUSE)

    async def _leave(self) -> None:
        """Says goodbye where that is still possible: an ack for what was handled, then detach."""
        guard = self._connection.guard
        if self._attach is not None and not isinstance(self._failure, Fenced) and not guard.closed:
            fields = {"observer": self._name, "epoch": self._attach.epoch}
            try:
                await self._settle_acks(self._attach)
                await self._connection.call("detach", fields, timeout=DETACH_TIMEOUT)
            except Error:
                pass
        self._close_ports()
        self._connection.close()
        self._on_close(self)
