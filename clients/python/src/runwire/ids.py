"""Identities: UUIDv7 for events, random 16 bytes for client objects.

>>> first, second = new_event_id(), new_event_id()
>>> first < second, first.version
(True, 7)
"""

from __future__ import annotations

import os
import threading
import time
import uuid

from runwire.errors import Invalid

_lock = threading.Lock()
_last = 0


def _forget_last() -> None:
    """A forked child draws its own: the lock may be held by a thread that is not there."""
    global _lock, _last
    _lock = threading.Lock()
    _last = 0


os.register_at_fork(after_in_child=_forget_last)


def new_event_id() -> uuid.UUID:
    """A UUIDv7 (RFC 9562): milliseconds, then 74 random bits; grows within this process."""
    global _last
    milliseconds = time.time_ns() // 1_000_000
    stamp = (milliseconds << 12) | (int.from_bytes(os.urandom(2), "big") & 0x7FF)
    with _lock:
        _last = max(stamp, _last + 1)
        stamp = _last
    high = ((stamp >> 12) << 16) | (0x7 << 12) | (stamp & 0xFFF)
    low = (0b10 << 62) | (int.from_bytes(os.urandom(8), "big") >> 2)
    return uuid.UUID(int=(high << 64) | low)


def new_instance_id() -> bytes:
    """16 random bytes: names one client object to the server."""
    return os.urandom(16)


def to_event_id(value: uuid.UUID | str | None) -> uuid.UUID:
    """The caller's id, or a new one. `Invalid` unless it is a UUIDv7."""
    if value is None:
        return new_event_id()
    try:
        made = value if isinstance(value, uuid.UUID) else uuid.UUID(value)
    except (ValueError, AttributeError, TypeError) as problem:
        raise Invalid(f"id: {value!r} is not a UUID") from problem
    if made.version != 7:
        raise Invalid(f"id: {made} is not a UUIDv7; leave it out to have one made")
    return made


def to_log_id(value: uuid.UUID | str | bytes | None) -> bytes | None:
    """A log id as its 16 bytes. `Invalid` for anything else."""
    if value is None:
        return None
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, bytes) and len(value) == 16:
        return value
    try:
        return uuid.UUID(str(value)).bytes
    except ValueError as problem:
        raise Invalid(f"log: {value!r} is not a log id") from problem
