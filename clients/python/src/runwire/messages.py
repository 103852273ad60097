"""The messages of docs/protocol.md that a client receives, as values. All checks are made here.

>>> live_topic("run-1"), live_topic(None)
(b'run-1/', b'*/')
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence

from runwire import limits, protocol
from runwire.errors import Error, Fact, Invalid, from_wire
from runwire.event import Event
from runwire.event_codec import decode_events
from runwire.header import Fields, decode_header

HEARTBEAT_TOPIC = b"!/"
LOG_TOPIC = b"*/"


def live_topic(subject: str | None) -> bytes:
    """The topic of one subject, or of the whole log."""
    return LOG_TOPIC if subject is None else subject.encode() + b"/"


@dataclass(frozen=True)
class Hello:
    """What a server says of itself."""

    log: bytes
    term: int
    server: str
    live: str
    acks: str
    committed: int
    acknowledged: int
    earliest: int
    heartbeat: float
    lease: float
    ack_deadline: float
    sync: str


@dataclass(frozen=True)
class Reply:
    """One reply: its header's fields, its events frame, and the error that it may carry."""

    rid: int
    op: str
    log: bytes
    term: int
    error: Error | None
    fields: Fields
    events: bytes


@dataclass(frozen=True)
class Page:
    """A page of history."""

    log: bytes
    term: int
    events: list[Event]
    next: int
    latest: int
    end: bool


@dataclass(frozen=True)
class LiveEvents:
    """Events as PUB sends them; `prev` is the place before the first one."""

    log: bytes
    term: int
    n: int
    prev: int
    events: list[Event]
    size: int


@dataclass(frozen=True)
class Beacon:
    """A subscription is active, or still is: `last` is the last place that was published."""

    log: bytes
    term: int
    n: int
    last: int
    state: str


@dataclass(frozen=True)
class Heartbeat:
    """The socket lives."""

    log: bytes
    term: int


@dataclass(frozen=True)
class Attached:
    """This client has the observer's name."""

    log: bytes
    term: int
    epoch: int
    deliver: str
    acks: str
    acked: int


@dataclass(frozen=True)
class Delivery:
    """A message on an attach's own endpoint; `kind` is deliver, heartbeat, fenced or something newer."""

    kind: str
    observer: str
    log: bytes
    term: int
    epoch: int
    events: list[Event] = field(default_factory=list)
    again: bool = False
    prev: int = 0
    """Nothing between this position and the first event is owed."""
    acked: int = 0
    current: int = 0


def decode_reply(frames: Sequence[bytes]) -> Reply:
    """`[reply]` or `[reply][events]`."""
    if not 1 <= len(frames) <= 2:
        raise Invalid(f"reply: {len(frames)} frames")
    fields = decode_header(frames[0])
    protocol.check_reply(fields.raw)
    return Reply(
        rid=fields.uint("rid"),
        op=fields.text("op"),
        log=fields.bin16("log"),
        term=fields.uint("term"),
        error=decode_error(fields.map("error")) if "error" in fields else None,
        fields=fields,
        events=frames[1] if len(frames) == 2 else b"",
    )


def decode_error(fields: Fields) -> Error:
    """The typed error that a map on the wire stands for."""
    facts: dict[str, Fact] = fields.facts("facts")
    return from_wire(fields.text("code"), fields.text("message", ""), facts)


def hello_of(reply: Reply) -> Hello:
    """The body of a `hello` reply. Refuses a server that does not speak version 1."""
    fields = reply.fields
    versions = fields.uints("versions", limits.FACTS_MAX)
    if 1 not in versions:
        raise from_wire("unsupported", f"the server speaks {versions}, this client speaks 1")
    return Hello(
        log=reply.log,
        term=reply.term,
        server=fields.text("server"),
        live=fields.text("live", bytes_max=limits.ENDPOINT_BYTES_MAX),
        acks=fields.text("acks", bytes_max=limits.ENDPOINT_BYTES_MAX),
        committed=fields.uint("committed"),
        acknowledged=fields.uint("acknowledged"),
        earliest=fields.uint("earliest"),
        heartbeat=max(fields.uint("heartbeat_ms"), 1) / 1000,
        lease=max(fields.uint("lease_ms"), 1) / 1000,
        ack_deadline=fields.uint("ack_deadline_ms") / 1000,
        sync=fields.text("sync"),
    )


def page_of(reply: Reply) -> Page:
    """The body of a `read` reply. A page holds durable events only."""
    events = _events_of(reply.fields, reply.events)
    if any(event.ephemeral for event in events):
        raise Invalid("page: an ephemeral event")
    return Page(
        log=reply.log,
        term=reply.term,
        events=events,
        next=reply.fields.uint("next"),
        latest=reply.fields.uint("latest"),
        end=reply.fields.flag("end"),
    )


def attached_of(reply: Reply) -> Attached:
    """The body of an `attach` reply."""
    fields = reply.fields
    return Attached(
        log=reply.log,
        term=reply.term,
        epoch=fields.uint("epoch"),
        deliver=fields.text("deliver", bytes_max=limits.ENDPOINT_BYTES_MAX),
        acks=fields.text("acks", bytes_max=limits.ENDPOINT_BYTES_MAX),
        acked=fields.uint("acked"),
    )


def decode_live(frames: Sequence[bytes]) -> LiveEvents | Beacon | Heartbeat | None:
    """`[topic][header]` or `[topic][header][events]`; None for a kind that this version does not know."""
    if not 2 <= len(frames) <= 3:
        raise Invalid(f"live: {len(frames)} frames")
    fields = decode_header(frames[1])
    kind = fields.text("kind")
    log, term = fields.bin16("log"), fields.uint("term")
    if kind not in protocol.LIVES:
        return None
    protocol.check_live(fields.raw)
    if kind == "heartbeat":
        return Heartbeat(log, term)
    if kind == "beacon":
        return Beacon(log, term, fields.uint("n"), fields.uint("last", 0), fields.text("state", ""))
    if len(frames) != 3:
        raise Invalid("live: no events frame")
    events = _events_of(fields, frames[2])
    size = sum(len(frame) for frame in frames)
    return LiveEvents(log, term, fields.uint("n"), fields.uint("prev"), events, size)


def decode_delivery(frames: Sequence[bytes]) -> Delivery:
    """`[header]` or `[header][events]` of an attach's own endpoint."""
    if not 1 <= len(frames) <= 2:
        raise Invalid(f"delivery: {len(frames)} frames")
    fields = decode_header(frames[0])
    kind = fields.text("kind")
    common: dict[str, Any] = {
        "kind": kind,
        "observer": fields.text("observer"),
        "log": fields.bin16("log"),
        "term": fields.uint("term"),
        "epoch": fields.uint("epoch"),
    }
    if kind in protocol.DELIVERIES:
        protocol.check_delivery(fields.raw)
    if kind == "heartbeat":
        return Delivery(**common, acked=fields.uint("acked"))
    if kind == "fenced":
        return Delivery(**common, current=fields.uint("current"))
    if kind != "deliver":
        return Delivery(**common)
    if len(frames) != 2:
        raise Invalid("delivery: no events frame")
    events = _events_of(fields, frames[1])
    if not events or any(event.ephemeral for event in events):
        raise Invalid("delivery: durable events only, at least one")
    prev = fields.uint("prev", events[0].position - 1)
    return Delivery(**common, events=events, again=fields.flag("again", False), prev=prev)


def _events_of(fields: Fields, frame: bytes) -> list[Event]:
    """The events of a message, each with its position (section 3)."""
    count = fields.uint("count")
    if count > len(frame):
        raise Invalid("count: more events than the frame has bytes")
    first, last = fields.uint("first", 0), fields.uint("last", 0)
    if "positions" in fields:
        positions: Sequence[int] = fields.uints("positions", count)
        _check_positions(positions, first, last)
    elif first == 0:
        positions = ()
    else:
        if not 0 <= last - first < count:
            raise Invalid("first, last: more positions than events")
        positions = range(first, last + 1)
    return decode_events(frame, count, positions)


def _check_positions(positions: Sequence[int], first: int, last: int) -> None:
    if not positions:
        if first or last:
            raise Invalid("positions: empty beside first and last")
        return
    if positions[0] != first or positions[-1] != last or first == 0:
        raise Invalid("positions: do not run from first to last")
    if any(here >= there for here, there in zip(positions, positions[1:])):
        raise Invalid("positions: do not grow")
