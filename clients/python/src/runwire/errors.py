"""What can go wrong, as types: one class a code of docs/protocol.md, section 7.

>>> error = from_wire("cursor_expired", "older than what is kept", {"earliest": 41})
>>> isinstance(error, CursorExpired), error.code, error.facts["earliest"]
(True, 'cursor_expired', 41)
>>> print(error)
cursor_expired: older than what is kept (earliest 41)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Mapping, Union

if TYPE_CHECKING:
    from runwire.event import Receipt

Fact = Union[int, str]


class Error(Exception):
    """A refusal: `code` to branch on, `message` for a tired person, `facts` to decide by."""

    default_code: ClassVar[str] = "internal"

    def __init__(
        self, message: str, facts: Mapping[str, Fact] | None = None, *, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.code: str = code or self.default_code
        self.message: str = message
        self.facts: dict[str, Fact] = dict(facts or {})
        self.receipts: list[Receipt] = []
        """Of an append: receipts of the events before the refused one, which stay taken."""

    def __str__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self.facts.items())
        return f"{self.code}: {self.message}" + (f" ({facts})" if facts else "")


class Invalid(Error):
    """The input breaks a rule; a retry cannot help. Nothing changed."""

    default_code = "invalid"


class WrongThread(Invalid):
    """A client object was used from another thread or event loop than its own."""


class UsedAfterFork(Invalid):
    """A client object of the parent process was used in a forked child: connect anew there."""


class TooLarge(Error):
    """Over a named bound. Nothing changed."""

    default_code = "too_large"


class Lifecycle(Error):
    """Not allowed in the run's present state. No number was used."""

    default_code = "lifecycle"


class NotOwner(Error):
    """The run is claimed by somebody else."""

    default_code = "not_owner"


class Fenced(Error):
    """A newer epoch or owner term exists; stop, the facts name it."""

    default_code = "fenced"


class OutOfOrder(Error):
    """An earlier append of the same subject was refused; go on from it."""

    default_code = "out_of_order"


class UnexpectedSeq(Error):
    """`expect` did not match the subject's last sequence."""

    default_code = "unexpected_seq"


class Conflict(Error):
    """The id was used before, with other content."""

    default_code = "conflict"


class Backpressure(Error):
    """A bound is full; nothing was taken; retry the same call later."""

    default_code = "backpressure"


class StoreFull(Error):
    """No room on the disk; retry after space was freed."""

    default_code = "store_full"


class StoreFailed(Error):
    """A write or sync failed; the server must be started again."""

    default_code = "store_failed"


class Closed(Error):
    """Shutting down, or already shut."""

    default_code = "closed"


class ObserverTimeout(Error):
    """Committed, but a required observer did not ack by the deadline."""

    default_code = "observer_timeout"


class ObserverRefused(Error):
    """Committed, but a required observer refused it."""

    default_code = "observer_refused"


class CursorError(Error):
    """A cursor that cannot be honoured: the family of the three below."""


class CursorExpired(CursorError):
    """Older than what is kept; the fact `recovery` is the oldest cursor that works."""

    default_code = "cursor_expired"


class CursorAhead(CursorError):
    """Beyond what was ever committed here."""

    default_code = "cursor_ahead"


class CursorForeign(CursorError):
    """The cursor belongs to another log."""

    default_code = "cursor_foreign"


class SlowConsumer(Error):
    """The reader fell behind its bound and was ended."""

    default_code = "slow_consumer"


class Unsupported(Error):
    """Unknown version or operation; the fact `supported` says what is known."""

    default_code = "unsupported"


class Corrupt(Error):
    """Stored bytes fail a check; never skipped silently."""

    default_code = "corrupt"


class Locked(Error):
    """Another process holds the store or the path."""

    default_code = "locked"


class NotFound(Error):
    """No such subject, observer or file."""

    default_code = "not_found"


class TimedOut(Error):
    """No answer in time; outcome unknown; retry with the same event id."""

    default_code = "timed_out"


class Unavailable(Error):
    """No peer reachable at the endpoint."""

    default_code = "unavailable"


class Internal(Error):
    """A call to the system failed in a way that has no other name."""

    default_code = "internal"


def _families(root: type[Error]) -> dict[str, type[Error]]:
    found: dict[str, type[Error]] = {}
    for family in root.__subclasses__():
        if "default_code" in vars(family):
            found[family.default_code] = family
        found.update(_families(family))
    return found


BY_CODE: dict[str, type[Error]] = _families(Error)
"""Code on the wire -> class."""


def from_wire(code: str, message: str, facts: Mapping[str, Fact] | None = None) -> Error:
    """The error of that code; a code of a newer server is a plain `Error` that carries it."""
    family = BY_CODE.get(code, Error)
    return family(message, facts, code=code)
