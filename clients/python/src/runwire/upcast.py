"""Data of older schema versions, brought up to date on the way to its user.

The log is never rewritten: a stored event keeps the version that it was written in. The steps of a type follow each
other without a gap; what is newer than the table is carried as it is and never guessed at.

>>> upcasts = Upcasts()
>>> @upcasts.step("notes.idea", 1)
... def two(data):
...     return {"body": data["text"]}
>>> import uuid
>>> old = Event(uuid.UUID(int=1), "notes.idea", 0, "run-1", 7, 1, 90, {}, '{"text":"fine"}', b"")
>>> new = upcasts(old)
>>> new.version, new.data, new.seq
(2, {'body': 'fine'}, 7)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable

from runwire.errors import Invalid, TooLarge, Unsupported
from runwire.event import Event
from runwire.event_codec import check_type
from runwire.json_text import to_text
from runwire.limits import UPCAST_STEPS_MAX, VERSION_MAX

Step = Callable[[Any], Any]
"""Data of one version in, data of the next one out."""


class Upcasts:
    """Steps by event type, and the call that applies them. Bound: UPCAST_STEPS_MAX steps in all."""

    def __init__(self) -> None:
        self._steps: dict[str, tuple[int, list[Step]]] = {}
        self._count = 0

    def newest(self, type: str) -> int:
        """The version that the steps of `type` lead to; 0 where there are none."""
        first, steps = self._steps.get(type, (0, []))
        return first + len(steps)

    def step(self, type: str, version: int) -> Callable[[Step], Step]:
        """Decorator of the step from `version` to the next one. `Invalid` where it does not follow the last step."""
        check_type(type)
        if self._count == UPCAST_STEPS_MAX:
            raise TooLarge(f"upcast: more than {UPCAST_STEPS_MAX} steps", {"limit": UPCAST_STEPS_MAX})
        newest = self.newest(type)
        if not 1 <= version < VERSION_MAX or newest not in (0, version):
            raise Invalid(f"upcast: a step from {version} does not follow {type} {newest}")

        def add(step: Step) -> Step:
            if self.newest(type) != newest:
                raise Invalid(f"upcast: {type} has a step from {version} already")
            self._steps.setdefault(type, (version, []))[1].append(step)
            self._count += 1
            return step

        return add

    def __call__(self, event: Event) -> Event:
        """The event with data of the newest version that the table knows; `encoded` stays what came.

        `Unsupported` for a version older than the first step. What a step raises goes to the caller.
        """
        if event.ephemeral or event.type not in self._steps:
            return event
        first, steps = self._steps[event.type]
        if event.version < first:
            raise Unsupported(
                f"upcast: {event.type} {event.version} is older than the first step, from {first}",
                {"type": event.type, "version": event.version, "supported": first},
            )
        due = steps[event.version - first :]
        if not due:
            return event
        data = event.data
        for step in due:
            data = step(data)
        return replace(event, version=event.version + len(due), data_json=to_text(data))
