"""The asynchronous face: connect(), and what can be asked of the bus that it returns."""

from __future__ import annotations

import uuid
import warnings
from types import TracebackType
from typing import Any, Iterable, Mapping, Union

import zmq

from runwire import limits
from runwire.appender import Appender, Terms, check_level
from runwire.claims import Claim, Claims
from runwire.connection import Connection, checked
from runwire.endpoint import resolve_endpoint
from runwire.errors import Closed, Fact, Invalid
from runwire.event import Draft, Receipt
from runwire.event_codec import check_observer_name, check_subject
from runwire.feed import Feed, FeedOptions
from runwire.guard import Guard
from runwire.ids import to_log_id
from runwire.messages import Hello
from runwire.observer import BatchHandler, EventHandler, Observation
from runwire.rows import ObserverInfo, SubjectInfo, observer_info, subject_info
from runwire.stream import EventStream

DraftLike = Union[Draft, tuple[str, Any]]
LogId = Union[uuid.UUID, str, bytes]
STATUS_ENTRIES_MAX = 1024


class _Context(zmq.Context["zmq.Socket[bytes]"]):
    """One for each bus. pyzmq's own would wait in its destructor for sockets that still are open."""

    def __del__(self) -> None:
        pass


async def connect(url: str | None = None, *, timeout: float = limits.CONNECT_TIMEOUT) -> Bus:
    """A bus at `url`, else at RUNWIRE_URL, else at the user's own ipc path.

    ```python
    import asyncio, runwire

    async def main():
        async with await runwire.connect() as bus:
            await bus.append("run-1", "acme.ping", {"n": 1})
            async for event in bus.events("run-1", follow=False):
                print(event.seq, event.type, event.data)

    asyncio.run(main())
    ```

    Errors: `unavailable` where no server answers within `timeout` seconds.
    """
    endpoint = resolve_endpoint(url)
    guard = Guard()
    context = _Context()
    connection: Connection | None = None
    try:
        connection = Connection(endpoint, context, guard)
        hello = await connection.hello(timeout)
    except BaseException:
        if connection is not None:
            connection.close()
        await _end_context(context, guard)
        raise
    return Bus(connection, hello)


async def _end_context(context: zmq.Context[zmq.Socket[bytes]], guard: Guard) -> None:
    """term() waits for what is still being flushed, LINGER_MS at most: not on the loop's thread."""
    await guard.loop.run_in_executor(None, context.term)


class Bus:
    """One client of one server. Make it with connect(); leave it with `async with` or aclose().

    Owner: the event loop that connected. Another thread, another loop or a forked child gets
    `WrongThread` or `UsedAfterFork` at once; for threads there is runwire.sync.
    """

    def __init__(self, connection: Connection, hello: Hello) -> None:
        self._connection = connection
        self._guard = connection.guard
        self._hello = hello
        self._claims = Claims(connection, hello.lease)
        self._appender = Appender(connection, self._claims, hello.ack_deadline)
        self._feeds: set[Feed] = set()
        self._observations: set[Observation] = set()
        connection.on_term = lambda _: self._claims.restarted()

    @property
    def url(self) -> str:
        """The endpoint of the server's requests."""
        return self._connection.endpoint

    @property
    def log(self) -> uuid.UUID:
        """Identity of the log that was served when this bus connected."""
        return uuid.UUID(bytes=self._hello.log)

    @property
    def term(self) -> int:
        """How often that log has been opened, as last heard."""
        return self._connection.term

    # ---- appending ---------------------------------------------------------------------------

    async def append(
        self,
        subject: str | None,
        type: str,
        data: Any = None,
        *,
        durable: bool = True,
        id: uuid.UUID | str | None = None,
        level: str = "committed",
        deadline: float | None = None,
        expect: int | None = None,
        version: int = 1,
        location: Mapping[str, str] | None = None,
    ) -> Receipt:
        """Appends one event and waits for its receipt.

        `level` "committed": it is on stable storage; "acknowledged": every required observer has
        acked it. A server that restarts meanwhile is waited for until `deadline` (seconds, 30 by
        default), and the event is appended once.

        ```python
        receipt = await bus.append("run-1", "acme.cache.hit", {"key": "a"})
        print(receipt.seq, receipt.position)
        ```
        """
        draft = Draft(type, data, durable, id, version, location)
        receipts = await self.append_many(
            subject, [draft], level=level, deadline=deadline, expect=expect
        )
        return receipts[0]

    async def append_many(
        self,
        subject: str | None,
        events: Iterable[DraftLike],
        *,
        level: str = "committed",
        deadline: float | None = None,
        expect: int | None = None,
    ) -> list[Receipt]:
        """Appends events of one subject in order; the first refusal stops it.

        The error's `receipts` are those of the events before the refused one, which stay taken.

        ```python
        await bus.append_many("run-1", [("acme.a", {"n": 1}), runwire.Draft("acme.b", {"n": 2})])
        ```
        """
        self._guard.check()
        drafts = [event if isinstance(event, Draft) else Draft(*event) for event in events]
        return await self._appender.append(subject, drafts, Terms(level, deadline, expect))

    async def claim(self, subject: str, epoch: int = 1) -> Claim:
        """Takes the run: while this bus lives it renews the lease, and only it appends there.

        When it dies the lease lapses, and the run is closed as failed, reason `owner_lost`.
        A higher `epoch` takes the run over; a lower one is `fenced`.
        """
        self._guard.check()
        if not 1 <= epoch <= limits.UINT_MAX:
            raise Invalid("epoch: counts from 1")
        return await self._claims.claim(subject, epoch)

    # ---- reading -----------------------------------------------------------------------------

    def events(
        self,
        subject: str | None = None,
        after: int = 0,
        *,
        from_end: bool = False,
        ephemeral: bool = True,
        follow: bool = True,
        level: str = "acknowledged",
        log: LogId | None = None,
    ) -> EventStream:
        """Every durable event after the cursor, once and in order, then live with ephemeral ones.

        The cursor is a sequence of the subject, or a position where there is no subject. Drops,
        restarts and cuts are healed by reading; what cannot be healed is a typed error. With
        `level` "committed" events come by reading alone, so without ephemeral ones.

        ```python
        async with bus.events("run-1", after=41) as events:
            async for event in events:
                print(event.seq, event.type, event.data)
        ```
        """
        self._guard.check()
        if subject is not None:
            check_subject(subject)
        if isinstance(after, bool) or not 0 <= after <= limits.UINT_MAX:
            raise Invalid("after: not a sequence or position")
        options = FeedOptions(
            subject, after, from_end, ephemeral, follow, check_level(level), to_log_id(log)
        )
        feed = Feed(self._another_connection(), self._guard, options, self._feeds.discard)
        self._feeds.add(feed)
        return EventStream(feed, by_position=subject is None)

    async def observe(
        self,
        name: str,
        handler: EventHandler | BatchHandler,
        *,
        batch: bool = False,
        position: int | None = None,
        log: LogId | None = None,
    ) -> None:
        """Takes what the required observer `name` is owed, until cancelled or fenced.

        The handler gets one event, or with `batch` a list; it may be a coroutine function. What it
        has returned from is acked; when it raises, the event is refused with the reason and comes
        again. A consumer that keeps its own cursor passes it as `position` and `log`, and gets
        nothing twice; without one, what was handled but not yet acked may come again.

        ```python
        async def store(event):
            await database.insert(event.position, event.encoded)

        await bus.observe("audit", store)
        ```
        """
        await self.observation(name, handler, batch=batch, position=position, log=log).run()

    def observation(
        self,
        name: str,
        handler: EventHandler | BatchHandler,
        *,
        batch: bool = False,
        position: int | None = None,
        log: LogId | None = None,
    ) -> Observation:
        """What observe() runs, for those who want its counters: `await observation.run()`."""
        self._guard.check()
        check_observer_name(name)
        if position is not None and not 0 <= position <= limits.UINT_MAX:
            raise Invalid("position: not a position")
        observation = Observation(
            self._another_connection(),
            name,
            handler,
            batch=batch,
            position=position,
            log=to_log_id(log),
            on_close=self._observations.discard,
        )
        self._observations.add(observation)
        return observation

    # ---- asking ------------------------------------------------------------------------------

    async def subjects(
        self, prefix: str = "", *, open: bool = False, after: str = "", count_max: int | None = None
    ) -> list[SubjectInfo]:
        """The subjects in name order, those beyond `after`, at most `count_max`; `open`: open runs only."""
        found: list[SubjectInfo] = []
        while count_max is None or len(found) < count_max:
            page = limits.SUBJECTS_PAGE_MAX
            fields = {
                "prefix": prefix or None,
                "after": (found[-1].subject if found else after) or None,
                "max": page if count_max is None else min(page, count_max - len(found)),
                "open": open or None,
            }
            reply = checked(await self._connection.call("subjects", fields), "subjects").fields
            rows = [subject_info(row) for row in reply.maps("subjects", page)]
            found += rows
            if reply.flag("end") or not rows:
                break
        return found

    async def observers(self) -> list[ObserverInfo]:
        """The required observers, in their order."""
        reply = checked(await self._connection.call("observers", {}), "observers").fields
        return [observer_info(row) for row in reply.maps("observers", limits.SUBJECTS_PAGE_MAX)]

    async def suspend(self, observer: str) -> int:
        """The observer is offered nothing and holds nobody back, until resume(); its ack is returned.

        For a consumer that is gone. On record, and so through restarts. Errors: `not_found`.
        """
        return await self._set_suspended("suspend", observer)

    async def resume(self, observer: str) -> int:
        """Takes a suspension back: the observer goes on from its ack, which is returned."""
        return await self._set_suspended("resume", observer)

    async def _set_suspended(self, operation: str, observer: str) -> int:
        check_observer_name(observer)
        call = await self._connection.call(operation, {"observer": observer})
        return checked(call, operation).fields.uint("acked")

    async def status(self) -> dict[str, Fact]:
        """Counters and settings of the server, for people and dashboards."""
        reply = checked(await self._connection.call("status", {}), "status").fields
        return reply.facts("status", STATUS_ENTRIES_MAX)

    # ---- the end -----------------------------------------------------------------------------

    async def aclose(self) -> None:
        """Ends its streams and observations; calls that wait get `closed`. Safe to call twice."""
        if self._guard.closed:
            return
        self._guard.check()
        self._guard.closed = True
        for feed in list(self._feeds):
            feed.close()
        for observation in list(self._observations):
            observation.shut(Closed("this client object was closed"))
        self._claims.close()
        self._connection.close()
        await _end_context(self._connection.context, self._guard)

    async def __aenter__(self) -> Bus:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if not self._guard.closed and not self._guard.forked:
            warnings.warn(f"runwire: the bus at {self.url} was not closed", ResourceWarning)

    def _another_connection(self) -> Connection:
        """A reader or observer has a connection, and so a bound at the server, of its own."""
        return Connection(self._connection.endpoint, self._connection.context, self._guard)
