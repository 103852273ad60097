"""What drives one join: its own connection and SUB socket, reads in step with the caller, healing."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Callable

import zmq

from runwire import limits
from runwire.connection import Connection, checked
from runwire.errors import (
    Backpressure,
    Closed,
    CursorExpired,
    Error,
    Internal,
    TimedOut,
    Unavailable,
)
from runwire.guard import Guard
from runwire.join import Item, Join, Phase, Wanted
from runwire.messages import HEARTBEAT_TOPIC, Hello, decode_live, live_topic, page_of
from runwire.port import Port
from runwire.waiting import wait_set

_AWAY = (TimedOut, Unavailable, Closed)
"""The server is not there now, which is no reason to give up."""


def _bug(problem: Exception) -> Error:
    """A bug here must reach the caller, not the void."""
    failure = Internal(f"{type(problem).__name__}: {problem}")
    failure.__cause__ = problem
    return failure


@dataclass(frozen=True)
class FeedOptions:
    """What events() was asked for."""

    subject: str | None = None
    after: int = 0
    from_end: bool = False
    ephemeral: bool = True
    follow: bool = True
    level: str = "acknowledged"
    log: bytes | None = None

    @property
    def live(self) -> bool:
        """PUB carries what is acknowledged; at the other level news come by reading alone."""
        return self.follow and self.level == "acknowledged"


class Feed:
    """Fills a queue that the caller empties; owns every socket of one reader.

    Owner: the loop of its guard, one task. Bounds: READY_EVENTS_MAX and READY_BYTES_MAX in the
    queue; over them nothing more is taken in. Errors: `failure`, after what was good was taken.
    """

    def __init__(
        self,
        connection: Connection,
        guard: Guard,
        options: FeedOptions,
        on_close: Callable[[Feed], None],
    ) -> None:
        self.guard = guard
        self.join = Join(
            subject=options.subject,
            after=options.after,
            live=options.live,
            follow=options.follow,
            ephemeral=options.ephemeral,
            log=options.log,
        )
        self.start_cursor = options.after
        self.failure: Error | None = None
        self.finished = False
        self.news = asyncio.Event()
        self._connection = connection
        self._options = options
        self._on_close = on_close
        self._wake = asyncio.Event()
        self._port: Port | None = None
        self._read: asyncio.Task[None] | None = None
        self._full = False
        self._heartbeat = 1.0
        self._heard = 0.0
        self._joining_since = 0.0
        self._task = guard.loop.create_task(self._run())

    # ---- for the stream ----------------------------------------------------------------------

    def pop(self) -> Item | None:
        """The next item, if one is there. Room that this makes is used at once."""
        item = self.join.take()
        if self._full and self._has_room(2):
            self._full = False
            self._heard = self._now()
            if self._port is not None:
                self._port.resume()
            self._wake.set()
        return item

    def close(self) -> None:
        """Ends the feed without an error; what is in the queue stays there."""
        self._task.cancel()
        self._finish(None)

    # ---- the task ----------------------------------------------------------------------------

    async def _run(self) -> None:
        failure: Error | None = None
        try:
            hello = await self._greet(first=True)
            if self._options.from_end:
                self.start_cursor = self.join.cursor = await self._end_of_history(hello)
            while self.join.failure is None and self.join.phase is not Phase.ENDED:
                self._connect(hello)
                await self._serve()
                if self.join.restart:
                    hello = await self._greet(first=False)
            failure = self.join.failure
        except Error as error:
            failure = error
        except Exception as problem:
            failure = _bug(problem)
        self._finish(failure)

    def _finish(self, failure: Error | None) -> None:
        if self.finished:
            return
        self.finished = True
        self.failure = failure
        self._stop_read()
        if self._port is not None:
            self._port.close()
        self._connection.close()
        self.news.set()
        self._on_close(self)

    async def _greet(self, first: bool) -> Hello:
        """Once it was there, a server that is away is waited for."""
        while True:
            try:
                return await self._connection.hello(limits.CONNECT_TIMEOUT)
            except (*_AWAY, Backpressure):
                if first:
                    raise
                await asyncio.sleep(limits.RETRY_AFTER)

    async def _end_of_history(self, hello: Hello) -> int:
        options = self._options
        if options.subject is None:
            return hello.committed if options.level == "committed" else hello.acknowledged
        try:
            fields = {"subject": options.subject, "after": 0, "level": options.level, "max_events": 1}
            return page_of(checked(await self._connection.call("read", fields), "read")).latest
        except CursorExpired as expired:
            return int(expired.facts["latest"])

    def _connect(self, hello: Hello) -> None:
        if self._port is not None:
            self._port.close()
            self._port = None
        self._heartbeat = hello.heartbeat
        self._heard = self._joining_since = self._now()
        self.join.start(hello.log, hello.term)
        if self._options.live:
            topics = (live_topic(self._options.subject), HEARTBEAT_TOPIC)
            self._port = Port(
                self._connection.context, zmq.SUB, hello.live, self._take, topics=topics
            )
            if self._full:
                self._port.pause()
        self.news.set()

    async def _serve(self) -> None:
        """Until the link is lost, or the feed has failed or ended."""
        join = self.join
        try:
            while not join.restart and not join.failure and join.phase is not Phase.ENDED:
                self._start_read()
                await wait_set(self._wake, self._heartbeat / 2)
                self._judge_silence()
        finally:
            self._stop_read()

    def _judge_silence(self) -> None:
        if self._port is None or self._full:
            return
        self._port.drain()
        allowed = limits.HEARTBEATS_MISSED_MAX * self._heartbeat
        if self._now() - self._heard > allowed:
            self.join.lost("nothing was heard for three heartbeats")
        elif self.join.phase is Phase.JOINING and self._now() - self._joining_since > allowed:
            self.join.lost("the subscription was not confirmed")

    # ---- what comes in -----------------------------------------------------------------------

    def _take(self, frames: list[bytes]) -> None:
        self._heard = self._now()
        try:
            message = decode_live(frames)
        except Error:
            message = None
        if message is None:
            self.join.counters.ignored += 1
            return
        self.join.live(message)
        self._after_input()

    def _after_input(self) -> None:
        join = self.join
        if not self._full and not self._has_room(1):
            self._full = True
            if self._port is not None:
                self._port.pause()
        if join.ready or join.phase is Phase.LIVE:
            self.news.set()
        if join.wanted or join.restart or join.failure:
            self._wake.set()

    def _has_room(self, share: int) -> bool:
        return (
            len(self.join.ready) < limits.READY_EVENTS_MAX // share
            and self.join.ready_bytes < limits.READY_BYTES_MAX // share
        )

    # ---- reading -----------------------------------------------------------------------------

    def _start_read(self) -> None:
        wanted = self.join.wanted
        if wanted is not None and self._read is None and not self._full:
            self._read = self.guard.loop.create_task(self._read_page(wanted))

    def _stop_read(self) -> None:
        if self._read is not None:
            self._read.cancel()
            self._read = None

    async def _read_page(self, wanted: Wanted) -> None:
        wait = limits.READ_WAIT_MS if wanted.wait else 0
        fields: dict[str, Any] = {
            "subject": self._options.subject,
            "after": wanted.after,
            "level": self._options.level,
            "wait_ms": wait or None,
            "log": self.join.log,
        }
        try:
            reply = await self._connection.call("read", fields, patience=wait / 1000)
            self.join.page(page_of(checked(reply, "read")))
        except Backpressure:
            await asyncio.sleep(limits.RETRY_AFTER_MAX)
        except _AWAY:
            await asyncio.sleep(limits.RETRY_AFTER)
            self.join.lost("the server did not answer a read")
        except Error as error:
            self.join.fail(error)
        except Exception as problem:
            self.join.fail(_bug(problem))
        self._read = None
        self._after_input()
        self._wake.set()

    @staticmethod
    def _now() -> float:
        return time.monotonic()

