"""The event's bytes (docs/protocol.md, section 2): one encoding, and a decoder that takes no other.

The layout is fixed, so the decoder compares and slices; it allocates nothing from a declared length
before the bytes are known to be there.

>>> event = Event(uuid.UUID(int=7), "acme.ping", 5, "run-1", 3, 1, 0, {}, '{"n":1}', b"")
>>> frame = encode_event(event)
>>> decoded, end = decode_event(frame, 0, position=9)
>>> decoded.seq, decoded.position, decoded.data, end == len(frame)
(3, 9, {'n': 1}, True)
"""

from __future__ import annotations

import re
import uuid
from typing import Final, Mapping, Sequence

from runwire import limits
from runwire.errors import Invalid, TooLarge
from runwire.event import Event
from runwire.raw_msgpack import (
    map_head,
    read_text,
    read_uint,
    skip_value,
    text_bytes,
    uint_bytes,
)

_TYPE: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*", re.ASCII)
_SUBJECT: Final = re.compile(r"[A-Za-z0-9._~-]+", re.ASCII)
_KNOWN: Final = frozenset(["id", "type", "time", "location", "subject", "durable", "data"])
_ID: Final = b"\xa2id\xc4\x10"
_TYPE_KEY: Final = b"\xa4type"
_TIME: Final = b"\xa4time\xcf"
_LOCATION: Final = b"\xa8location"
_SUBJECT_KEY: Final = b"\xa7subject"
_DURABLE: Final = b"\xa7durable\x82\xa7version"
_DURABLE_KEY: Final = b"\xa7durable"
_SEQ: Final = b"\xa3seq\xcf"
_DATA: Final = b"\xa4data"


def check_type(text: str) -> str:
    """The type, if it is one: dotted lower case, 1..64 bytes."""
    if len(text) > limits.TYPE_BYTES_MAX:
        raise TooLarge(f"type: at most {limits.TYPE_BYTES_MAX} bytes")
    if not _TYPE.fullmatch(text):
        raise Invalid(f"type: {text!r} is not dotted lower case like acme.cache.hit")
    return text


def check_subject(text: str) -> str:
    """The subject, if it is one: 1..128 of `A-Z a-z 0-9 . _ ~ -`."""
    if len(text) > limits.SUBJECT_BYTES_MAX:
        raise TooLarge(f"subject: at most {limits.SUBJECT_BYTES_MAX} bytes")
    if not _SUBJECT.fullmatch(text):
        raise Invalid(f"subject: {text!r} is not made of A-Z a-z 0-9 . _ ~ -")
    return text


def check_observer_name(text: str) -> str:
    """The name, if it is one: 1..64 of the characters of a subject."""
    if len(text) > limits.OBSERVER_NAME_BYTES_MAX:
        raise TooLarge(f"observer: at most {limits.OBSERVER_NAME_BYTES_MAX} bytes")
    if not _SUBJECT.fullmatch(text):
        raise Invalid(f"observer: {text!r} is not made of A-Z a-z 0-9 . _ ~ -")
    return text


def encode_event(event: Event, unknown: bytes = b"", unknown_fields: int = 0) -> bytes:
    """The one encoding of `event`; `unknown` is raw key-value pairs to carry behind `data`."""
    if len(unknown) > limits.UNKNOWN_BYTES_MAX:
        raise TooLarge(f"unknown fields: at most {limits.UNKNOWN_BYTES_MAX} bytes")
    durable = event.seq > 0
    if durable and event.subject is None:
        raise Invalid("subject: a durable event has one")
    data = event.data_json.encode("utf-8")
    if len(data) > limits.DATA_BYTES_MAX:
        raise TooLarge(f"data: at most {limits.DATA_BYTES_MAX} bytes")
    fields = 4 + bool(event.location) + (event.subject is not None) + durable + unknown_fields
    parts = [map_head(fields), _ID, event.id.bytes]
    parts += [_TYPE_KEY, text_bytes(check_type(event.type).encode()), _TIME, _eight(event.time, "time")]
    if event.location:
        parts.append(_location_bytes(event.location))
    if event.subject is not None:
        parts += [_SUBJECT_KEY, text_bytes(check_subject(event.subject).encode())]
    if durable:
        version = _check_version(event.version)
        parts += [_DURABLE, uint_bytes(version), _SEQ, _eight(event.seq, "seq")]
    parts += [_DATA, text_bytes(data), unknown]
    return b"".join(parts)


def decode_events(frame: bytes, count: int, positions: Sequence[int]) -> list[Event]:
    """All events of a frame: exactly `count`, ending with its last byte; `positions` has one place
    in the log for each durable event."""
    events: list[Event] = []
    offset = 0
    used = 0
    while offset < len(frame):
        if len(events) == count:
            raise Invalid(f"events frame: more than the {count} events that its header counts")
        position = positions[used] if used < len(positions) else 0
        event, offset = decode_event(frame, offset, position)
        if not event.ephemeral:
            used += 1
        events.append(event)
    if len(events) != count:
        raise Invalid(f"events frame: {len(events)} events, its header counts {count}")
    if used != len(positions):
        raise Invalid(f"events frame: {used} durable events, its header places {len(positions)}")
    return events


def decode_event(frame: bytes, offset: int, position: int = 0) -> tuple[Event, int]:
    """The event at `offset` and the offset behind it. Only the canonical encoding is taken."""
    start = offset
    fields, offset = _read_map_head(frame, offset)
    offset = _expect(frame, offset, _ID, "id")
    identity = _take(frame, offset, 16, "id")
    offset = _expect(frame, offset + 16, _TYPE_KEY, "type")
    kind, offset = read_text(frame, offset, limits.TYPE_BYTES_MAX, "type")
    check_type(kind)
    offset = _expect(frame, offset, _TIME, "time")
    time, offset = _read_eight(frame, offset, "time"), offset + 8
    left = fields - 4
    location: dict[str, str] = {}
    subject: str | None = None
    version = seq = 0
    if frame.startswith(_LOCATION, offset):
        location, offset = _read_location(frame, offset + len(_LOCATION))
        left -= 1
    if frame.startswith(_SUBJECT_KEY, offset):
        subject, offset = read_text(
            frame, offset + len(_SUBJECT_KEY), limits.SUBJECT_BYTES_MAX, "subject"
        )
        check_subject(subject)
        left -= 1
    if frame.startswith(_DURABLE_KEY, offset):
        version, seq, offset = _read_durable(frame, offset)
        left -= 1
        if subject is None:
            raise Invalid("subject: a durable event has one")
    offset = _expect(frame, offset, _DATA, "data")
    data, offset = read_text(frame, offset, limits.DATA_BYTES_MAX, "data")
    if left < 0:
        raise Invalid("event: more fields than its map declares")
    offset = _skip_unknown(frame, offset, left)
    made = Event(
        uuid.UUID(bytes=identity),
        kind,
        time,
        subject,
        seq,
        version,
        position if seq else 0,
        location,
        data,
        frame[start:offset],
    )
    return made, offset


def _expect(frame: bytes, offset: int, wanted: bytes, name: str) -> int:
    if not frame.startswith(wanted, offset):
        raise Invalid(f"event: no {name} in its place or form at byte {offset}")
    return offset + len(wanted)


def _take(frame: bytes, offset: int, size: int, name: str) -> bytes:
    taken = frame[offset : offset + size]
    if len(taken) != size:
        raise Invalid(f"event: truncated in {name}")
    return taken


def _eight(value: int, name: str) -> bytes:
    if not 0 <= value <= limits.UINT_MAX:
        raise Invalid(f"{name}: {value} is not in 0 .. 2^53-1")
    return value.to_bytes(8, "big")


def _read_eight(frame: bytes, offset: int, name: str) -> int:
    value = int.from_bytes(_take(frame, offset, 8, name), "big")
    if value > limits.UINT_MAX:
        raise Invalid(f"{name}: {value} is beyond 2^53-1")
    return value


def _check_version(version: int) -> int:
    if not 1 <= version <= limits.VERSION_MAX:
        raise Invalid(f"version: {version} is not in 1 .. {limits.VERSION_MAX}")
    return version


def _read_map_head(frame: bytes, offset: int) -> tuple[int, int]:
    head = frame[offset] if offset < len(frame) else 0
    if 0x84 <= head <= 0x8F:
        return head & 0x0F, offset + 1
    if head == 0xDE:
        fields = int.from_bytes(_take(frame, offset + 1, 2, "map"), "big")
        if fields > 15:
            return fields, offset + 3
    raise Invalid(f"event: no map in shortest form at byte {offset}")


def _read_durable(frame: bytes, offset: int) -> tuple[int, int, int]:
    offset = _expect(frame, offset, _DURABLE, "durable.version")
    version, offset = read_uint(frame, offset, "durable.version")
    _check_version(version)
    offset = _expect(frame, offset, _SEQ, "durable.seq")
    seq = _read_eight(frame, offset, "durable.seq")
    if seq == 0:
        raise Invalid("durable.seq: counts from 1")
    return version, seq, offset + 8


def _location_bytes(location: Mapping[str, str]) -> bytes:
    pairs = sorted((key.encode(), value.encode()) for key, value in location.items())
    if len(pairs) > limits.LOCATION_ENTRIES_MAX:
        raise TooLarge(f"location: at most {limits.LOCATION_ENTRIES_MAX} entries")
    parts = [_LOCATION, map_head(len(pairs))]
    for key, value in pairs:
        if not 1 <= len(key) <= limits.LOCATION_KEY_BYTES_MAX:
            raise Invalid(f"location: keys are 1..{limits.LOCATION_KEY_BYTES_MAX} bytes")
        if len(value) > limits.LOCATION_VALUE_BYTES_MAX:
            raise TooLarge(f"location: values are at most {limits.LOCATION_VALUE_BYTES_MAX} bytes")
        parts += [text_bytes(key), text_bytes(value)]
    return b"".join(parts)


def _read_location(frame: bytes, offset: int) -> tuple[dict[str, str], int]:
    head = frame[offset] if offset < len(frame) else 0
    count = head - 0x80
    if limits.LOCATION_ENTRIES_MAX < count < 16:
        raise TooLarge(f"location: at most {limits.LOCATION_ENTRIES_MAX} entries")
    if not 1 <= count <= limits.LOCATION_ENTRIES_MAX:
        raise Invalid(f"location: 1..{limits.LOCATION_ENTRIES_MAX} entries")
    offset += 1
    found: dict[str, str] = {}
    last = b""
    for _ in range(count):
        key, offset = read_text(frame, offset, limits.LOCATION_KEY_BYTES_MAX, "location key")
        if key.encode() <= last:
            raise Invalid("location: keys are in order, once each")
        last = key.encode()
        found[key], offset = read_text(frame, offset, limits.LOCATION_VALUE_BYTES_MAX, "location")
    return found, offset


def _skip_unknown(frame: bytes, offset: int, fields: int) -> int:
    """Behind `data`: fields of a newer peer, any form, at most 4 KiB in all."""
    start = offset
    seen: set[str] = set()
    for _ in range(fields):
        key, offset = read_text(frame, offset, limits.UNKNOWN_BYTES_MAX, "unknown key")
        if key in _KNOWN or key in seen:
            raise Invalid(f"event: the field {key!r} is out of place or double")
        seen.add(key)
        offset = skip_value(frame, offset, 1)
        if offset - start > limits.UNKNOWN_BYTES_MAX:
            raise TooLarge(f"unknown fields: at most {limits.UNKNOWN_BYTES_MAX} bytes")
    return offset
