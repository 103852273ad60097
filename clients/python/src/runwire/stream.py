"""What `bus.events()` returns: an asynchronous iterator that loses nothing when a wait is cancelled."""

from __future__ import annotations

import uuid
from types import TracebackType

from runwire.errors import Closed
from runwire.event import Event
from runwire.feed import Feed
from runwire.join import CaughtUp, Counters, Ended, Phase, Resumed


class EventStream:
    """Every durable event beyond the cursor, once and in order; live with ephemeral ones.

    Events wait in a queue of the stream, and a call takes one only when it returns it, so that a
    cancelled or timed-out next() takes nothing. Close it with `async with`, aclose(), or the bus.

    Owner: the loop of connect(). Errors: cursor_expired, cursor_ahead, cursor_foreign, corrupt
    end it; a server that goes away does not.
    """

    def __init__(self, feed: Feed, by_position: bool) -> None:
        self._feed = feed
        self._by_position = by_position
        self._cursor: int | None = None
        self._live = False
        self._closed = False

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        self._check()
        while True:
            event = self._take()
            if event is not None:
                return event
            if self._closed or self._ended():
                raise StopAsyncIteration
            self._feed.news.clear()
            await self._feed.news.wait()

    async def next(self) -> Event:
        """The next event; StopAsyncIteration at the end of a stream that does not follow."""
        return await self.__anext__()

    async def batch(self, events_max: int = 256) -> list[Event]:
        """The next event and what else is there already; empty at the end of the stream."""
        try:
            events = [await self.__anext__()]
        except StopAsyncIteration:
            return []
        while len(events) < events_max:
            event = self._take()
            if event is None:
                break
            events.append(event)
        return events

    async def joined(self) -> None:
        """Returns when the stream is live: what is appended from now on comes by the live path.

        History must fit in the stream's queue, or be read meanwhile; that is so with `from_end`.
        """
        self._check()
        while self._feed.join.phase is not Phase.LIVE:
            if self._closed or self._ended():
                raise Closed("the stream has ended")
            self._feed.news.clear()
            await self._feed.news.wait()

    @property
    def cursor(self) -> int:
        """Of the last durable event that was handed out: pass it as `after` to go on from there."""
        return self._feed.start_cursor if self._cursor is None else self._cursor

    @property
    def log(self) -> uuid.UUID | None:
        """The log that the cursor belongs to; None until the server has answered."""
        log = self._feed.join.log
        return None if log is None else uuid.UUID(bytes=log)

    @property
    def live(self) -> bool:
        """Whether history has been handed out and the stream follows live."""
        return self._live

    @property
    def counters(self) -> Counters:
        """What this reader saw: honest numbers, all only grow."""
        return self._feed.join.counters

    async def aclose(self) -> None:
        """Ends the stream and its sockets."""
        if not self._closed:
            self._check()
            self._closed = True
            self._feed.close()

    async def __aenter__(self) -> EventStream:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        feed = self._feed
        if feed.finished or feed.guard.forked or feed.guard.loop.is_closed():
            return
        try:
            feed.guard.loop.call_soon_threadsafe(feed.close)
        except RuntimeError:
            pass  # the loop was closed meanwhile, and its sockets with it

    def _check(self) -> None:
        """A stream that ended with its bus says so; events taken before are not given out late."""
        self._feed.guard.check()

    def _ended(self) -> bool:
        if self._feed.finished and self._feed.failure is not None:
            raise self._feed.failure
        return self._feed.finished

    def _take(self) -> Event | None:
        while not self._closed:
            item = self._feed.pop()
            if item is None:
                return None
            if isinstance(item, Event):
                if not item.ephemeral:
                    self._cursor = item.position if self._by_position else item.seq
                return item
            self._note(item)
        return None

    def _note(self, mark: CaughtUp | Resumed | Ended) -> None:
        self._live = isinstance(mark, CaughtUp)
