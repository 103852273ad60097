"""What `subjects()` and `observers()` list."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from runwire.header import Fields


@dataclass(frozen=True)
class SubjectInfo:
    """One subject; `state` is none, open, completed, failed or cancelled."""

    subject: str
    state: str
    first: int
    last: int
    first_position: int
    last_position: int
    time: int
    owner_term: int
    origin: uuid.UUID | None = None
    claimed: bool = False
    epoch: int = 0


@dataclass(frozen=True)
class ObserverInfo:
    """One required observer; `state` is attached, absent, suspended or retired.

    `owed` counts positions, `owed_bytes` those in the server's unacknowledged window; `oldest_ms` is
    the age of the first event that is owed; `skipped` counts events that were refused for good.
    """

    observer: str
    state: str
    epoch: int
    acked: int
    owed: int
    in_flight: int
    redeliveries: int
    refusals: int
    skipped: int = 0
    owed_bytes: int = 0
    oldest_ms: int = 0


def subject_info(fields: Fields) -> SubjectInfo:
    """One row of a `subjects` reply."""
    return SubjectInfo(
        subject=fields.text("subject"),
        state=fields.text("state"),
        first=fields.uint("first"),
        last=fields.uint("last"),
        first_position=fields.uint("first_position"),
        last_position=fields.uint("last_position"),
        time=fields.uint("time"),
        owner_term=fields.uint("owner_term", 1),
        origin=uuid.UUID(bytes=fields.bin16("origin")) if "origin" in fields else None,
        claimed=fields.flag("claimed", False),
        epoch=fields.uint("epoch", 0),
    )


def observer_info(fields: Fields) -> ObserverInfo:
    """One row of an `observers` reply."""
    return ObserverInfo(
        observer=fields.text("observer"),
        state=fields.text("state"),
        epoch=fields.uint("epoch"),
        acked=fields.uint("acked"),
        owed=fields.uint("owed"),
        in_flight=fields.uint("in_flight"),
        redeliveries=fields.uint("redeliveries"),
        refusals=fields.uint("refusals"),
        skipped=fields.uint("skipped", 0),
        owed_bytes=fields.uint("owed_bytes", 0),
        oldest_ms=fields.uint("oldest_ms", 0),
    )
