"""Joining a live stream without a hole: the decisions of docs/protocol.md, section 6, and no sockets.

The machine is fed what arrived and says what it wants next. It hands on every durable event beyond
its cursor once and in order, and ephemeral ones only in their place.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Deque, Union

from runwire import limits
from runwire.errors import Corrupt, CursorForeign, Error
from runwire.event import Event
from runwire.messages import Beacon, Heartbeat, LiveEvents, Page


class Phase(Enum):
    """Where the machine stands between a start and being live."""

    JOINING = "joining"
    """Subscribed; waits for the beacon that says so."""
    READING = "reading"
    """Reads history from the cursor until its end; live messages are kept."""
    LIVE = "live"
    ENDED = "ended"


@dataclass(frozen=True)
class CaughtUp:
    """The reader has everything up to `cursor` and is live."""

    cursor: int


@dataclass(frozen=True)
class Resumed:
    """The link or the server was gone; the reader reads again from `cursor`."""

    cursor: int
    reason: str


@dataclass(frozen=True)
class Ended:
    """History was read to its end, and following was not asked for."""

    cursor: int


Item = Union[Event, CaughtUp, Resumed, Ended]


@dataclass
class Counters:
    """What a reader saw; all only grow."""

    durable: int = 0
    ephemeral: int = 0
    repeats_dropped: int = 0
    """Durable events that came again and were known."""
    late_dropped: int = 0
    """Ephemeral events that came too late to stand in their place."""
    messages_missed: int = 0
    """Live messages that libzmq dropped, by the topic's counter."""
    overflows: int = 0
    """How often live messages were let go because the buffer of a join was full."""
    holes_healed: int = 0
    resumes: int = 0
    ignored: int = 0
    """Messages of an unknown kind or version, unreadable ones, and those of an older term."""


@dataclass(frozen=True)
class Wanted:
    """A read that the machine wants to have outstanding; `wait` asks the server to wait for news."""

    after: int
    wait: bool


@dataclass
class _Walk:
    """A live message under way: `index` events of it are done, the walk stands at `place`."""

    message: LiveEvents
    place: int
    stale: bool
    """Its counter was seen before: what is ephemeral in it must not be handed on again."""
    index: int = 0


class Join:
    """One reader's state. Owner: one event loop. Bounds: the buffer by messages and bytes;
    `ready` is the caller's to empty, who stops feeding when it is long.
    Errors: `failure` is set once, and nothing more is handed on after it."""

    def __init__(
        self,
        *,
        subject: str | None,
        after: int,
        live: bool,
        follow: bool = True,
        ephemeral: bool = True,
        log: bytes | None = None,
        buffer_messages_max: int = limits.JOIN_BUFFER_MESSAGES_MAX,
        buffer_bytes_max: int = limits.JOIN_BUFFER_BYTES_MAX,
    ) -> None:
        self.cursor = after
        self.log = log
        self.term = 0
        self.phase = Phase.READING
        self.ready: Deque[Item] = deque()
        self.ready_bytes = 0
        self.counters = Counters()
        self.failure: Error | None = None
        self.restart: str | None = None
        """Set when the caller shall connect anew and call start(): the reason."""
        self._subject = subject
        self._live = live
        self._follow = follow
        self._ephemeral = ephemeral
        self._buffer: Deque[_Walk | Beacon] = deque()
        self._buffer_messages_max = buffer_messages_max
        self._buffer_bytes_max = buffer_bytes_max
        self._buffer_bytes = 0
        self._overflowed = False
        self._wait = False
        self._counter: int | None = None
        self._started = False
        self._hole_at = -1

    # ---- what the caller is told -------------------------------------------------------------

    @property
    def wanted(self) -> Wanted | None:
        """The read that should be outstanding now, if any."""
        if self.phase is not Phase.READING or self.restart or self.failure:
            return None
        return Wanted(self.cursor, self._wait)

    def take(self) -> Item | None:
        """The next item that is ready, if there is one."""
        if not self.ready:
            return None
        item = self.ready.popleft()
        self.ready_bytes -= len(item.encoded) if isinstance(item, Event) else 0
        return item

    # ---- what the caller feeds ---------------------------------------------------------------

    def start(self, log: bytes, term: int) -> None:
        """Connected to the server of this log and term, and subscribed where live events are wanted."""
        if not self._same_log(log):
            return
        if self._started:
            self.counters.resumes += 1
            self.ready.append(Resumed(self.cursor, self.restart or "connected again"))
        self._started = True
        self.term = term
        self.restart = None
        self._drop_buffer()
        self._overflowed = False
        self._wait = False
        self._counter = None
        self.phase = Phase.JOINING if self._live else Phase.READING

    def lost(self, reason: str) -> None:
        """The link is gone: the caller shall connect anew."""
        if self.failure is None and self.phase is not Phase.ENDED:
            self.restart = self.restart or reason

    def fail(self, error: Error) -> None:
        """The read was refused for good."""
        self.failure = self.failure or error
        self._drop_buffer()

    def page(self, page: Page) -> None:
        """The reply to a wanted read."""
        if self.phase is not Phase.READING or not self._current(page.log, page.term):
            return
        for event in page.events:
            if self._place_of(event) > self.cursor + 1:
                return self.fail(
                    Corrupt("a page has a hole", {"after": self.cursor, "found": self._place_of(event)})
                )
            self._hand_on_durable(event)
        self._wait = not page.events
        if page.end:
            self._history_ended(page)

    def live(self, message: LiveEvents | Beacon | Heartbeat) -> None:
        """A message of the live socket, in arrival order."""
        if self.phase is Phase.ENDED or not self._current(message.log, message.term):
            return
        if isinstance(message, Heartbeat):
            return
        if isinstance(message, Beacon):
            self._counter = message.n
            if self.phase is Phase.JOINING:
                self.phase = Phase.READING
                return
        self._keep(self._walk_of(message) if isinstance(message, LiveEvents) else message)
        if self.phase is Phase.LIVE:
            self._drain()

    # ---- how it is decided -------------------------------------------------------------------

    def _current(self, log: bytes, term: int) -> bool:
        """Whether a message is of this log and term; a newer term asks for a restart (rule 1)."""
        if self.failure or self.restart or not self._same_log(log):
            return False
        if term > self.term:
            if not self._live:  # reads alone need no subscription: the cursor holds over terms
                self.term = term
                return True
            self.term = term
            self.lost("the server was restarted")
            return False
        if term < self.term:
            self.counters.ignored += 1
            return False
        return True

    def _same_log(self, log: bytes) -> bool:
        if self.log is None:
            self.log = log
        if self.log == log:
            return True
        self.fail(
            CursorForeign(
                "the cursor belongs to another log than the one that is served here",
                {"requested_log": self.log.hex(), "log": log.hex()},
            )
        )
        return False

    def _history_ended(self, page: Page) -> None:
        if not self._follow:
            self.phase = Phase.ENDED
            self.ready.append(Ended(self.cursor))
            return
        self._wait = True
        if not self._live:
            return
        if self._overflowed:  # what was let go may lie beyond this page: read once more, at once
            self._overflowed = False
            self._wait = False
            return
        self.phase = Phase.LIVE
        if self._drain():
            self.ready.append(CaughtUp(self.cursor))

    def _walk_of(self, message: LiveEvents) -> _Walk:
        stale = self._counter is not None and message.n <= self._counter
        if not stale:
            if self._counter is not None:
                self.counters.messages_missed += message.n - self._counter - 1
            self._counter = message.n
        return _Walk(message, message.prev, stale)

    def _keep(self, kept: _Walk | Beacon) -> None:
        size = kept.message.size if isinstance(kept, _Walk) else 0
        full = len(self._buffer) >= self._buffer_messages_max
        if full or self._buffer_bytes + size > self._buffer_bytes_max:
            self._drop_buffer()
            self._overflowed = True
            self.counters.overflows += 1
        self._buffer.append(kept)
        self._buffer_bytes += size

    def _drop_buffer(self) -> None:
        self._buffer.clear()
        self._buffer_bytes = 0

    def _drain(self) -> bool:
        """Takes what is kept, in order. False when something is missing: then it reads (rule 2, 4)."""
        while self._buffer:
            kept = self._buffer[0]
            if isinstance(kept, Beacon):
                complete = kept.last <= self.cursor
                finished = True  # a read answers a beacon; it says nothing more afterwards
            else:
                complete = finished = self._walk(kept)
            if finished:
                self._buffer.popleft()
                self._buffer_bytes -= kept.message.size if isinstance(kept, _Walk) else 0
            if not complete:
                self._read_again()
                return False
        return True

    def _read_again(self) -> None:
        self.counters.holes_healed += 1
        # The second read for the same hole waits for news instead of asking again and again.
        self._wait = self._hole_at == self.cursor
        self._hole_at = self.cursor
        self.phase = Phase.READING

    def _walk(self, walk: _Walk) -> bool:
        """Takes a message as far as nothing is missing. True when it is done."""
        events = walk.message.events
        if walk.place > self.cursor:
            return False
        while walk.index < len(events):
            event = events[walk.index]
            if event.ephemeral:
                self._hand_on_ephemeral(event, walk)
            else:
                place = self._place_of(event)
                if place > self.cursor + 1:
                    return False
                walk.place = place
                self._hand_on_durable(event)
            walk.index += 1
        return True

    def _place_of(self, event: Event) -> int:
        return event.position if self._subject is None else event.seq

    def _hand_on_durable(self, event: Event) -> None:
        if self._place_of(event) <= self.cursor:
            self.counters.repeats_dropped += 1
            return
        self.cursor = self._place_of(event)
        self.counters.durable += 1
        self._hand_on(event)

    def _hand_on_ephemeral(self, event: Event, walk: _Walk) -> None:
        if walk.stale or walk.place != self.cursor:
            self.counters.late_dropped += 1
        elif self._ephemeral:
            self.counters.ephemeral += 1
            self._hand_on(event)

    def _hand_on(self, event: Event) -> None:
        self.ready.append(event)
        self.ready_bytes += len(event.encoded)
