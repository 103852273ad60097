"""observe(): acked after the effect, never before; what is owed comes, in order."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any, AsyncIterator, Callable

import pytest
import pytest_asyncio

import runwire
from fake_server import FakeServer


@pytest.fixture
def server(make_server: Callable[..., FakeServer]) -> FakeServer:
    return make_server(observers=("audit",))


@pytest_asyncio.fixture
async def bus(server: FakeServer) -> AsyncIterator[runwire.Bus]:
    async with await runwire.connect(server.endpoint) as made:
        yield made


async def acked(server: FakeServer, position: int) -> None:
    await asyncio.to_thread(server.wait, lambda: server.observers["audit"].acked == position)


async def stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_each_event_is_acked_after_the_handler_returned(
    bus: runwire.Bus, server: FakeServer
) -> None:
    seen: list[tuple[int, int]] = []

    def handle(event: runwire.Event) -> None:
        seen.append((event.position, server.observers["audit"].acked))

    task = asyncio.ensure_future(bus.observe("audit", handle))
    server.append_many("run-1", 10)
    await acked(server, 10)
    assert [position for position, _ in seen] == list(range(1, 11))
    assert all(before < position for position, before in seen)
    await stop(task)
    assert server.requests["detach"] == 1


async def test_batches_are_handed_over_whole(bus: runwire.Bus, server: FakeServer) -> None:
    server.append_many("run-1", 7)
    batches: list[list[int]] = []

    async def handle(events: list[runwire.Event]) -> None:
        await asyncio.sleep(0)
        batches.append([event.position for event in events])

    task = asyncio.ensure_future(bus.observe("audit", handle, batch=True))
    await acked(server, 7)
    assert batches == [[1, 2, 3], [4, 5, 6], [7]]
    await stop(task)


@pytest.mark.parametrize("batch", [False, True])
async def test_an_event_that_the_handler_refuses_comes_again_before_those_behind_it(
    bus: runwire.Bus, server: FakeServer, batch: bool
) -> None:
    server.append_many("run-1", 9)
    handled: list[int] = []
    trouble = [2, 2, 5]

    def handle(what: object) -> None:
        events = what if isinstance(what, list) else [what]
        for event in events:
            if trouble and event.position == trouble[0]:
                trouble.pop(0)
                raise RuntimeError("disk on fire")
        handled.extend(event.position for event in events)

    observation = bus.observation("audit", handle, batch=batch)
    task = asyncio.ensure_future(observation.run())
    await acked(server, 9)
    assert handled == list(range(1, 10))
    refusals = server.observers["audit"].refusals
    assert [position for position, _ in refusals] == ([1, 1, 4] if batch else [2, 2, 5])
    assert refusals[0][1] == "RuntimeError: disk on fire"
    assert observation.counters.refusals == 3
    await stop(task)


async def test_a_restarted_server_is_attached_to_again_and_nothing_is_handed_over_twice(
    bus: runwire.Bus, server: FakeServer
) -> None:
    handled: list[int] = []
    observation = bus.observation("audit", lambda event: handled.append(event.position))
    task = asyncio.ensure_future(observation.run())
    for round_ in range(1, 4):
        server.append_many("run-1", 5)
        await acked(server, 5 * round_)
        server.stop_sockets()
        server.observers["audit"].acked -= 2  # the tail of acks that a crash may lose
        server.start_sockets()
        await acked(server, 5 * round_)
    assert handled == list(range(1, 16))
    assert observation.counters.attaches == 4 and observation.counters.repeats_dropped >= 6
    await stop(task)


async def test_what_a_later_life_of_the_server_sends_to_somebody_else_is_no_fence(
    bus: runwire.Bus, server: FakeServer
) -> None:
    """Endpoints may be given out again after a restart, and sockets connect again by themselves."""
    handled: list[int] = []
    observation = bus.observation("audit", lambda event: handled.append(event.position))
    task = asyncio.ensure_future(observation.run())
    await asyncio.to_thread(server.wait, lambda: server.requests["attach"] == 1)
    other = {"kind": "heartbeat", "observer": "other", "term": server.term + 1, "acked": 0}
    server.do(lambda: server._to_observer("audit", other))
    await asyncio.to_thread(server.wait, lambda: server.requests["attach"] == 2)
    server.append_many("run-1", 3)
    await acked(server, 3)
    assert handled == [1, 2, 3] and not task.done()
    await stop(task)


async def test_silence_attaches_again_with_the_same_instance(
    bus: runwire.Bus, server: FakeServer
) -> None:
    task = asyncio.ensure_future(bus.observe("audit", lambda event: None))
    await asyncio.to_thread(server.wait, lambda: server.requests["attach"] == 1)
    server.silent = True
    await asyncio.to_thread(server.wait, lambda: server.requests["attach"] == 2)
    server.silent = False
    attaches = [request for request in server.seen if request["op"] == "attach"]
    assert len({request["instance"] for request in attaches}) == 1
    server.append("run-1")
    await acked(server, 1)
    await stop(task)


async def test_a_newer_consumer_fences_the_older_one(
    bus: runwire.Bus, server: FakeServer
) -> None:
    first = asyncio.ensure_future(bus.observe("audit", lambda event: None))
    await asyncio.to_thread(server.wait, lambda: server.requests["attach"] == 1)
    async with await runwire.connect(server.endpoint) as other:
        second = asyncio.ensure_future(other.observe("audit", lambda event: None))
        with pytest.raises(runwire.Fenced) as caught:
            await asyncio.wait_for(first, 10)
        assert caught.value.facts == {"epoch": 1, "current": 2}
        server.append("run-1")
        await acked(server, 1)
        await stop(second)


async def test_the_consumers_own_cursor_keeps_repeats_from_it(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.append_many("run-1", 8)
    handled: list[int] = []
    task = asyncio.ensure_future(
        bus.observe("audit", lambda event: handled.append(event.position), position=5, log=bus.log)
    )
    await acked(server, 8)
    assert handled == [6, 7, 8]
    assert server.seen[-1]["position"] == 5
    await stop(task)


async def test_a_consumer_that_knows_less_than_was_acked_reads_what_it_lacks(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.append_many("run-1", 8)
    server.observers["audit"].acked = 6
    handled: list[int] = []
    trouble = [4]

    def handle(event: runwire.Event) -> None:
        if event.position in trouble:
            trouble.clear()
            raise RuntimeError("once")
        handled.append(event.position)

    task = asyncio.ensure_future(bus.observe("audit", handle, position=2, log=bus.log))
    await acked(server, 8)
    assert handled == [3, 4, 5, 6, 7, 8]
    await stop(task)


async def test_what_cannot_be_attached_is_typed(bus: runwire.Bus, server: FakeServer) -> None:
    with pytest.raises(runwire.NotFound):
        await bus.observe("nobody", print)
    with pytest.raises(runwire.CursorAhead):
        await bus.observe("audit", print, position=99)
    with pytest.raises(runwire.CursorForeign):
        await bus.observe("audit", print, position=0, log=b"x" * 16)
    with pytest.raises(runwire.Invalid):
        await bus.observe("no/name", print)


async def test_closing_the_bus_ends_an_observation(server: FakeServer) -> None:
    bus = await runwire.connect(server.endpoint)
    stuck = asyncio.Event()
    idle = bus.observation("audit", print)  # never run

    async def handle(_: runwire.Event) -> None:
        await stuck.wait()

    task = asyncio.ensure_future(bus.observe("audit", handle))
    server.append("run-1")
    await asyncio.to_thread(server.wait, lambda: server.requests["attach"] == 1)
    await asyncio.wait_for(bus.aclose(), 10)
    stuck.set()
    with pytest.raises(runwire.Closed):
        await asyncio.wait_for(task, 10)
    with pytest.raises(runwire.Closed):
        await idle.run()


async def test_c20_a_cancelled_observation_goes_on_where_its_acks_ended(
    bus: runwire.Bus, server: FakeServer
) -> None:
    seed = time.time_ns()
    print(f"seed {seed}")
    chance = random.Random(seed)
    handled: list[int] = []

    async def handle(event: runwire.Event) -> None:
        await asyncio.sleep(0)
        handled.append(event.position)

    flowing = asyncio.ensure_future(asyncio.to_thread(server.append_many, "run-1", 400))
    while not handled or handled[-1] < 400:
        position = handled[-1] if handled else 0
        observing = bus.observe("audit", handle, position=position, log=bus.log)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(observing, chance.uniform(0.005, 0.05))
    await flowing
    assert handled == list(range(1, 401))


async def test_a_bus_that_is_closed_while_an_attach_is_answered_ends_the_observation(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = await runwire.connect(server.endpoint)
    observation = bus.observation("audit", print)
    call = observation._connection.call

    async def call_and_close(op: str, *arguments: Any, **options: Any) -> Any:
        reply = await call(op, *arguments, **options)
        if op == "attach":
            await bus.aclose()
        return reply

    monkeypatch.setattr(observation._connection, "call", call_and_close)
    with pytest.raises(runwire.Closed):
        await observation.run()


async def test_an_ack_is_on_record_before_its_consumer_has_left(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.slow_acks = True
    handled = asyncio.Event()
    task = asyncio.ensure_future(bus.observe("audit", lambda event: handled.set()))
    server.append_many("run-1", 1)
    await asyncio.wait_for(handled.wait(), 10)
    await stop(task)
    assert server.observers["audit"].acked == 1
