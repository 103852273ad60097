"""The synchronous face: the same verbs, plain generators, safe to use from any thread.

```python
import runwire.sync

with runwire.sync.connect() as bus:
    bus.append("run-1", "acme.ping", {"n": 1})
    for event in bus.events("run-1", follow=False):
        print(event.seq, event.data)
```
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import queue
import threading
import uuid
from types import TracebackType
from typing import Any, Callable, Coroutine, Iterable, Iterator, Mapping, TypeVar

from runwire import bus as asynchronous
from runwire import limits
from runwire.bus import DraftLike, LogId
from runwire.claims import Claim
from runwire.errors import Closed, Fact, UsedAfterFork, WrongThread
from runwire.event import Event, Receipt
from runwire.rows import ObserverInfo, SubjectInfo

T = TypeVar("T")
Ask = tuple[Any, "concurrent.futures.Future[None]"]


class _LoopThread:
    """A private event loop on a thread of its own, to which any thread may hand a coroutine.

    Errors: UsedAfterFork, Closed, and WrongThread for a call from the loop itself, which would
    wait for ever.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="runwire", daemon=True)
        self._thread.start()

    def check_process(self) -> None:
        if os.getpid() != self._pid:
            raise UsedAfterFork("not usable after fork: connect again in the child process")

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        try:
            self.check_process()
            if threading.current_thread() is self._thread:
                raise WrongThread("called from the client's own event loop")
            with self._lock:
                if self._closed:
                    raise Closed("this client object was closed")
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        except BaseException:
            work.close()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = self.submit(work)
        try:
            return future.result()
        except concurrent.futures.CancelledError as problem:
            raise Closed("this client object was closed") from problem
        except BaseException:
            future.cancel()  # of a KeyboardInterrupt: nobody waits any more
            raise

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Runs `last`, cancels what is still waiting, and ends the thread. Once: later calls do nothing."""
        with self._closing:
            if self._closed or os.getpid() != self._pid:
                last.close()
                return
            try:
                self.run(last)
            finally:
                with self._lock:
                    self._closed = True
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._end_tasks())
        finally:
            self._loop.close()

    async def _end_tasks(self) -> None:
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await self._loop.shutdown_default_executor()


def connect(url: str | None = None, *, timeout: float = limits.CONNECT_TIMEOUT) -> Bus:
    """As runwire.connect(), for code without an event loop."""
    thread = _LoopThread()
    try:
        return Bus(thread, thread.run(asynchronous.connect(url, timeout=timeout)))
    except BaseException:
        thread.close(_nothing())
        raise


async def _nothing() -> None:
    return None


class Bus:
    """As runwire.Bus; any thread may call it, and each thread's own calls keep their order.

    Errors: `closed` for calls after close(), and for those that wait while it happens;
    `UsedAfterFork` in a forked child.
    """

    def __init__(self, thread: _LoopThread, bus: asynchronous.Bus) -> None:
        self._thread = thread
        self._bus = bus

    @property
    def url(self) -> str:
        """The endpoint of the server's requests."""
        return self._bus.url

    @property
    def log(self) -> uuid.UUID:
        """Identity of the log that was served when this bus connected."""
        return self._bus.log

    def append(
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
        """Appends one event and waits for its receipt."""
        return self._thread.run(
            self._bus.append(
                subject,
                type,
                data,
                durable=durable,
                id=id,
                level=level,
                deadline=deadline,
                expect=expect,
                version=version,
                location=location,
            )
        )

    def append_many(
        self,
        subject: str | None,
        events: Iterable[DraftLike],
        *,
        level: str = "committed",
        deadline: float | None = None,
        expect: int | None = None,
    ) -> list[Receipt]:
        """Appends events of one subject in order; the first refusal stops it."""
        return self._thread.run(
            self._bus.append_many(subject, events, level=level, deadline=deadline, expect=expect)
        )

    def claim(self, subject: str, epoch: int = 1) -> Claim:
        """Takes the run and keeps its lease while this bus lives."""
        return self._thread.run(self._bus.claim(subject, epoch))

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
    ) -> Iterator[Event]:
        """As runwire.Bus.events(), as a plain generator; close() it, or leave the loop, to end it."""
        options: dict[str, Any] = {
            "from_end": from_end,
            "ephemeral": ephemeral,
            "follow": follow,
            "level": level,
            "log": log,
        }
        stream = self._thread.run(self._open(subject, after, options))
        return self._events(stream)

    def observe(
        self,
        name: str,
        handler: Callable[[Any], None],
        *,
        batch: bool = False,
        position: int | None = None,
        log: LogId | None = None,
    ) -> None:
        """As runwire.Bus.observe(); the handler is called on this thread, until fenced or closed."""
        asks: queue.SimpleQueue[Ask | None] = queue.SimpleQueue()

        async def hand_over(argument: Any) -> None:
            done: concurrent.futures.Future[None] = concurrent.futures.Future()
            asks.put((argument, done))
            await asyncio.wrap_future(done)

        ended = self._thread.submit(
            self._bus.observe(name, hand_over, batch=batch, position=position, log=log)
        )
        ended.add_done_callback(lambda _: asks.put(None))
        try:
            _serve(asks, handler)
            ended.result()
        except concurrent.futures.CancelledError as problem:
            raise Closed("this client object was closed") from problem
        finally:
            ended.cancel()

    def subjects(
        self,
        prefix: str = "",
        *,
        open: bool = False,
        after: str = "",
        count_max: int | None = None,
    ) -> list[SubjectInfo]:
        """The subjects in name order."""
        return self._thread.run(
            self._bus.subjects(prefix, open=open, after=after, count_max=count_max)
        )

    def observers(self) -> list[ObserverInfo]:
        """The required observers, in their order."""
        return self._thread.run(self._bus.observers())

    def suspend(self, observer: str) -> int:
        """The observer is offered nothing and holds nobody back, until resume(); returns its ack."""
        return self._thread.run(self._bus.suspend(observer))

    def resume(self, observer: str) -> int:
        """The observer goes on from its ack, which is returned."""
        return self._thread.run(self._bus.resume(observer))

    def status(self) -> dict[str, Fact]:
        """Counters and settings of the server."""
        return self._thread.run(self._bus.status())

    def close(self) -> None:
        """Ends its streams; calls that wait get `closed`. Safe to call twice."""
        self._thread.close(self._bus.aclose())

    def __enter__(self) -> Bus:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _open(self, subject: str | None, after: int, options: dict[str, Any]) -> Any:
        return self._bus.events(subject, after, **options)

    def _events(self, stream: Any) -> Iterator[Event]:
        try:
            while batch := self._thread.run(stream.batch()):
                yield from batch
        finally:
            try:
                self._thread.run(stream.aclose())
            except (Closed, UsedAfterFork):
                pass


def _serve(asks: queue.SimpleQueue[Ask | None], handler: Callable[[Any], None]) -> None:
    """Calls the handler for each ask, until there are no more; what it raises goes back to the loop."""
    while (ask := asks.get()) is not None:
        argument, done = ask
        problem: Exception | None = None
        try:
            handler(argument)
        except Exception as raised:
            problem = raised
        try:
            done.set_exception(problem) if problem else done.set_result(None)
        except concurrent.futures.InvalidStateError:
            pass  # the bus was closed meanwhile: nobody waits for this any more
