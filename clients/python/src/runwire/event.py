"""The values that a caller sees: events, receipts, drafts."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any, Mapping

from runwire.json_text import from_text

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Event:
    """One event: the same shape and the same bytes wherever it comes from.

    >>> import uuid
    >>> event = Event(uuid.UUID(int=1), "acme.ping", 0, "run-1", 7, 1, 90, {}, '{"n":1}', b"")
    >>> event.data["n"], event.ephemeral, event.seq, event.when.year
    (1, False, 7, 1970)
    """

    id: uuid.UUID
    type: str
    time: int
    """Microseconds since 1970 by the engine's clock; information, never order."""
    subject: str | None
    seq: int
    """Place in the subject, from 1; 0 for an ephemeral event."""
    version: int
    """Schema version of the data; 0 for an ephemeral event."""
    position: int
    """Place in the log, from 1; 0 for an ephemeral event."""
    location: Mapping[str, str]
    data_json: str
    encoded: bytes = field(repr=False)
    """All bytes of this event as they came, unknown fields of a newer peer included."""

    @property
    def ephemeral(self) -> bool:
        """Never stored: it has no sequence and no position."""
        return self.seq == 0

    @cached_property
    def data(self) -> Any:
        """What `data_json` says, parsed when it is first asked for."""
        return from_text(self.data_json)

    @property
    def when(self) -> datetime:
        """`time` as a datetime in UTC."""
        return _EPOCH + timedelta(microseconds=self.time)


@dataclass(frozen=True)
class Receipt:
    """What became of one appended event; `seq` and `position` are 0 for an ephemeral one."""

    id: uuid.UUID
    seq: int
    position: int
    duplicate: bool = False
    """It had been appended before; this is its first receipt."""


@dataclass(frozen=True)
class Draft:
    """What an appender says of an event; the engine adds time, sequence and position.

    >>> Draft("acme.ping", {"n": 1}).durable
    True
    """

    type: str
    data: Any = None
    durable: bool = True
    id: uuid.UUID | str | None = None
    version: int = 1
    location: Mapping[str, str] | None = None
