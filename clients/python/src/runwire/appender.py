"""Appends: checked here, sent with ids made here, retried with the same ids until the deadline."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from typing import Any, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

from runwire import limits
from runwire.claims import RUN_TERMINALS, Claims
from runwire.connection import Connection
from runwire.errors import Backpressure, Error, Invalid, NotOwner, TimedOut, TooLarge
from runwire.event import Draft, Receipt
from runwire.event_codec import check_subject, check_type
from runwire.ids import to_event_id
from runwire.json_text import to_text
from runwire.messages import Reply

LEVELS = ("acknowledged", "committed")
EVENT_OVERHEAD_BYTES = 256
"""More than what surrounds the data of one event in a request, its location aside."""


def check_level(level: str) -> str:
    """The level, if it is one."""
    if level not in LEVELS:
        raise Invalid(f"level: {level!r} is neither acknowledged nor committed")
    return level


@dataclass(frozen=True)
class Terms:
    """The conditions of one append."""

    level: str = "committed"
    deadline: float | None = None
    """Seconds; None: APPEND_DEADLINE, and the server's own deadline for observers."""
    expect: int | None = None

    def check(self) -> None:
        check_level(self.level)
        if self.deadline is not None and not 0 < self.deadline <= limits.DEADLINE_MS_MAX / 1000:
            raise Invalid(f"deadline: not in 0 .. {limits.DEADLINE_MS_MAX // 1000} seconds")
        if self.expect is not None and not 0 <= self.expect <= limits.UINT_MAX:
            raise Invalid("expect: not a sequence")


@dataclass(frozen=True)
class _Ready:
    """One event as it goes on the wire."""

    fields: dict[str, Any]
    size: int

    @property
    def id(self) -> uuid.UUID:
        return uuid.UUID(bytes=self.fields["id"])

    @property
    def durable(self) -> bool:
        return "ephemeral" not in self.fields


@dataclass
class _Lane:
    """Appends to one subject go one after the other, in the order in which they were called."""

    lock: asyncio.Lock
    users: int = 0


class Appender:
    """Owner: the bus. Bounds: one request a subject at a time, so a refusal stops nothing behind it.

    Errors before commit change nothing; `TimedOut` leaves the outcome open: append again with the
    same id to learn it.
    """

    def __init__(self, connection: Connection, claims: Claims, ack_deadline: float) -> None:
        self._connection = connection
        self._claims = claims
        self._ack_deadline = ack_deadline
        self._lanes: dict[str, _Lane] = {}
        self._go_on: set[str] = set()
        """Subjects whose last append failed, which its caller has been told."""

    async def append(
        self, subject: str | None, drafts: Sequence[Draft], terms: Terms
    ) -> list[Receipt]:
        """Receipts in order. What was taken before a refusal is in the error's `receipts`."""
        terms.check()
        if subject is not None:
            check_subject(subject)
        events = [_ready(subject, draft) for draft in drafts]
        receipts: list[Receipt] = []
        async with self._lane(subject):
            for part in _parts(events):
                try:
                    receipts += await self._append_part(subject, part, terms)
                except Error as error:
                    error.receipts = receipts + error.receipts
                    raise
                terms = _after(terms, part)
        if any(event.fields["type"] in RUN_TERMINALS for event in events):
            self._claims.forget(subject)
        return receipts

    @asynccontextmanager
    async def _lane(self, subject: str | None) -> AsyncIterator[None]:
        if subject is None:
            yield
            return
        lane = self._lanes.setdefault(subject, _Lane(asyncio.Lock()))
        lane.users += 1
        try:
            async with lane.lock:
                yield
        finally:
            lane.users -= 1
            if lane.users == 0:
                del self._lanes[subject]

    async def _append_part(
        self, subject: str | None, events: list[_Ready], terms: Terms
    ) -> list[Receipt]:
        """One request, and what is left of it again while the server says `backpressure`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience(terms)
        pause = limits.RETRY_AFTER
        receipts: list[Receipt] = []
        claimed_again = False
        while True:
            left = deadline - loop.time()
            got, error = await self._request(subject, events, terms, max(left, limits.RETRY_AFTER))
            receipts += got
            if error is None:
                return receipts
            terms, events = _after(terms, events[: len(got)]), events[len(got) :]
            if isinstance(error, Backpressure) and loop.time() + pause < deadline:
                await asyncio.sleep(pause)
                pause = min(2 * pause, limits.RETRY_AFTER_MAX)
            elif isinstance(error, NotOwner) and subject is not None and not claimed_again:
                claimed_again = True  # after a restart the claim may not have been taken again yet
                if not await self._claims.claim_again(subject):
                    raise _with_receipts(error, receipts)
            else:
                raise _with_receipts(error, receipts)

    def _patience(self, terms: Terms) -> float:
        asked = terms.deadline or limits.APPEND_DEADLINE
        if terms.level == "committed":
            return asked
        return max(asked, self._ack_wait(terms) + limits.REQUEST_TIMEOUT)

    def _ack_wait(self, terms: Terms) -> float:
        return terms.deadline or self._ack_deadline

    async def _request(
        self, subject: str | None, events: list[_Ready], terms: Terms, timeout: float
    ) -> tuple[list[Receipt], Error | None]:
        acknowledged = terms.level == "acknowledged"
        fields: dict[str, Any] = {
            "subject": subject,
            "events": [event.fields for event in events],
            "level": terms.level,
            "deadline_ms": int(self._ack_wait(terms) * 1000) or 1 if acknowledged else None,
            "expect": terms.expect,
            "epoch": self._claims.epoch_of(subject),
            "go_on": True if subject in self._go_on else None,
        }
        if subject is not None:
            self._go_on.add(subject)  # until it is known to be well: also when this is cancelled
        reply = await self._connection.call("append", fields, timeout=timeout, again={"again": True})
        if reply.error is None and subject is not None:
            self._go_on.discard(subject)
        if reply.error is not None and "taken" not in reply.fields:
            return [], reply.error
        return _receipts(reply, events), reply.error


def _ready(subject: str | None, draft: Draft) -> _Ready:
    """The draft as the server wants it. `Invalid` or `TooLarge` before anything is sent."""
    if subject is None and draft.durable:
        raise Invalid("subject: a durable event has one; pass durable=False to send without")
    if not 1 <= draft.version <= limits.VERSION_MAX:
        raise Invalid(f"version: {draft.version} is not in 1 .. {limits.VERSION_MAX}")
    data = to_text(draft.data)
    fields: dict[str, Any] = {
        "id": to_event_id(draft.id).bytes,
        "type": check_type(draft.type),
        "data": data,
    }
    if draft.durable:
        fields["version"] = draft.version
    else:
        fields["ephemeral"] = True
    size = len(data.encode()) + EVENT_OVERHEAD_BYTES
    if draft.location:
        fields["location"] = _location(draft.location)
        size += sum(8 + len(key) + len(value) for key, value in _encoded(draft.location))
    return _Ready(fields, size)


def _encoded(location: Mapping[str, str]) -> Iterator[tuple[bytes, bytes]]:
    for key, value in location.items():
        yield key.encode(), value.encode()


def _location(location: Mapping[str, str]) -> dict[str, str]:
    if len(location) > limits.LOCATION_ENTRIES_MAX:
        raise TooLarge(f"location: at most {limits.LOCATION_ENTRIES_MAX} entries")
    for key, value in _encoded(location):
        if not 1 <= len(key) <= limits.LOCATION_KEY_BYTES_MAX:
            raise Invalid(f"location: keys are 1..{limits.LOCATION_KEY_BYTES_MAX} bytes")
        if len(value) > limits.LOCATION_VALUE_BYTES_MAX:
            raise TooLarge(f"location: values are at most {limits.LOCATION_VALUE_BYTES_MAX} bytes")
    return dict(location)


def _parts(events: list[_Ready]) -> Iterator[list[_Ready]]:
    """Requests that each keep the bounds of an append."""
    part: list[_Ready] = []
    size = 0
    for event in events:
        if part and (
            len(part) == limits.APPEND_EVENTS_MAX or size + event.size > limits.APPEND_BYTES_MAX
        ):
            yield part
            part, size = [], 0
        part.append(event)
        size += event.size
    if part:
        yield part


def _after(terms: Terms, taken: list[_Ready]) -> Terms:
    """The same conditions for what follows `taken`."""
    if terms.expect is None:
        return terms
    durable = sum(event.durable for event in taken)
    return Terms(terms.level, terms.deadline, terms.expect + durable)


def _receipts(reply: Reply, events: list[_Ready]) -> list[Receipt]:
    fields = reply.fields
    taken = fields.uint("taken")
    seqs = fields.uints("seqs", len(events))
    positions = fields.uints("positions", len(events))
    known = set(fields.uints("duplicates", len(events), []))
    complete = taken == len(events) or reply.error is not None
    if not complete or not taken == len(seqs) == len(positions) <= len(events):
        raise Invalid("append: the reply does not match its request")
    return [
        Receipt(events[index].id, seqs[index], positions[index], index in known)
        for index in range(taken)
    ]


def _with_receipts(error: Error, receipts: list[Receipt]) -> Error:
    error.receipts = receipts
    return error
