"""events(): through drops, silence, restarts and cancelled waits."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from typing import Callable

import pytest

import runwire
from fake_server import FakeServer
from runwire import limits


async def take(stream: runwire.EventStream, count: int) -> list[int | str]:
    """The next events: sequences, and data of ephemeral ones."""
    found: list[int | str] = []
    while len(found) < count:
        event = await asyncio.wait_for(stream.next(), 10)
        found.append(event.data_json if event.ephemeral else event.seq)
    return found


async def on_server(server: FakeServer, condition: Callable[[], bool]) -> None:
    await asyncio.to_thread(server.wait, condition)


async def test_history_then_live_with_ephemeral_events_in_their_place(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.append_many("run-1", 3)
    async with bus.events("run-1") as stream:
        assert await take(stream, 3) == [1, 2, 3]
        await stream.joined()
        server.ephemeral("run-1", "1")
        server.append("run-1")
        server.ephemeral("run-1", "2")
        server.append("other")
        server.append("run-1")
        assert await take(stream, 4) == ["1", 4, "2", 5]
        assert stream.live and stream.cursor == 5 and stream.log == bus.log


async def test_the_whole_log_is_read_by_position(bus: runwire.Bus, server: FakeServer) -> None:
    for name in ("a", "b", "a"):
        server.append(name)
    async with bus.events(after=1) as stream:
        events = [await stream.next() for _ in range(2)]
        assert [(event.subject, event.seq, event.position) for event in events] == [
            ("b", 1, 2),
            ("a", 2, 3),
        ]
        await stream.joined()
        server.ephemeral("a", "7")
        server.append("b")
        assert await take(stream, 2) == ["7", 2] and stream.cursor == 4


async def test_positions_of_a_subject_among_others_are_right(
    bus: runwire.Bus, server: FakeServer
) -> None:
    for name in ("a", "b", "a", "b", "a"):
        server.append(name)
    events = [event async for event in bus.events("a", follow=False)]
    assert [(event.seq, event.position) for event in events] == [(1, 1), (2, 3), (3, 5)]


async def test_without_following_the_stream_ends(bus: runwire.Bus, server: FakeServer) -> None:
    server.page_events = 2
    server.append_many("run-1", 5)
    stream = bus.events("run-1", after=1, follow=False)
    assert [event.seq async for event in stream] == [2, 3, 4, 5]
    with pytest.raises(StopAsyncIteration):
        await stream.next()
    assert [event async for event in bus.events("nobody", follow=False)] == []


async def test_from_the_end_only_what_comes_later_is_heard(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.append_many("run-1", 3)
    for subject in ("run-1", None):
        async with bus.events(subject, from_end=True) as stream:
            await stream.joined()
            before = len(server.events)
            assert stream.cursor == before
            server.append("run-1")
            assert (await stream.next()).position == before + 1


async def test_at_level_committed_news_come_by_reading(
    make_server: Callable[..., FakeServer],
) -> None:
    server = make_server(observers=("audit",))
    async with await runwire.connect(server.endpoint) as bus:
        server.append("run-1")
        async with bus.events("run-1", level="committed") as stream:
            assert await take(stream, 1) == [1]
            server.append("run-1")
            assert await take(stream, 1) == [2]
        async with bus.events("run-1") as quiet:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(quiet.next(), 0.1)


async def test_a_dropped_message_is_read_when_the_next_one_shows_it(
    bus: runwire.Bus, server: FakeServer
) -> None:
    async with bus.events("run-1") as stream:
        await stream.joined()
        server.drop_live = 4  # two events, each on two topics
        server.append("run-1")
        server.append("run-1")
        server.append("run-1")
        assert await take(stream, 3) == [1, 2, 3]
        assert stream.counters.messages_missed == 2 and stream.counters.holes_healed == 1


async def test_a_dropped_last_message_is_read_when_a_beacon_shows_it(
    bus: runwire.Bus, server: FakeServer
) -> None:
    async with bus.events("run-1") as stream:
        await stream.joined()
        server.drop_live = 2
        server.append("run-1")
        server.beacons()
        assert await take(stream, 1) == [1]


async def test_silence_of_three_heartbeats_joins_again_from_the_cursor(
    bus: runwire.Bus, server: FakeServer
) -> None:
    async with bus.events("run-1") as stream:
        await stream.joined()
        server.append("run-1")
        assert await take(stream, 1) == [1]
        server.silent = True
        server.append("run-1")
        await on_server(server, lambda: server.requests["hello"] >= 3)
        server.silent = False
        assert await take(stream, 1) == [2]
        assert stream.counters.resumes >= 1


async def test_c01_twenty_late_subscribers_miss_nothing(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.append_many("run-1", 10)
    streams = [bus.events("run-1") for _ in range(20)]
    server.append_many("run-1", 10)
    for stream in streams:
        assert await take(stream, 20) == list(range(1, 21))


async def test_a_restarted_server_is_resumed_from_the_cursor(
    bus: runwire.Bus, server: FakeServer
) -> None:
    async with bus.events("run-1") as stream:
        for seq in range(1, 6):
            server.append("run-1")
            assert await take(stream, 1) == [seq]
            server.restart()
        server.append("run-1")
        assert await take(stream, 1) == [6]
        assert stream.counters.resumes >= 1


async def test_a_server_that_is_away_is_waited_for(bus: runwire.Bus, server: FakeServer) -> None:
    async with bus.events("run-1") as stream:
        await stream.joined()
        server.stop_sockets()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(stream.next(), 0.5)
        server.start_sockets()
        server.append("run-1")
        assert await take(stream, 1) == [1]


async def test_another_log_at_the_same_place_is_foreign(
    bus: runwire.Bus, server: FakeServer
) -> None:
    async with bus.events("run-1") as stream:
        await stream.joined()
        server.log = b"x" * 16
        server.restart()
        with pytest.raises(runwire.CursorForeign):
            await asyncio.wait_for(stream.next(), 10)
    with pytest.raises(runwire.CursorForeign):
        await bus.events("run-1", log=bus.log).next()


async def test_cursors_that_cannot_be_honoured_are_typed_with_their_facts(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.append_many("run-1", 5)
    with pytest.raises(runwire.CursorAhead) as ahead:
        await bus.events("run-1", after=9).next()
    assert ahead.value.facts == {"requested": 9, "latest": 5}
    server.earliest = 4
    with pytest.raises(runwire.CursorExpired) as expired:
        await bus.events("run-1").next()
    recovery = expired.value.facts["recovery"]
    assert isinstance(recovery, int)
    seqs = [event.seq async for event in bus.events("run-1", after=recovery, follow=False)]
    assert seqs == [4, 5]


async def test_refusals_that_pass_are_not_the_end_of_a_stream(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.append("run-1")
    server.refuse("read", "backpressure")
    server.refuse("read", "closed")
    async with bus.events("run-1") as stream:
        assert await take(stream, 1) == [1]


async def test_c20_cancelled_waits_lose_and_repeat_nothing(
    bus: runwire.Bus, server: FakeServer
) -> None:
    seed = time.time_ns()
    print(f"seed {seed}")
    chance = random.Random(seed)
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: complaints.append(about))
    stream = bus.events("run-1")
    await stream.joined()
    flowing = asyncio.ensure_future(asyncio.to_thread(flow, server))
    found: list[int] = []
    timeouts = 0
    while len(found) < 10_000:
        waiting = asyncio.ensure_future(stream.next())
        if chance.random() < 0.2:  # cancelled by hand, at any moment
            for _ in range(chance.randint(0, 3)):
                await asyncio.sleep(0)
            waiting.cancel()
        try:
            found.append((await asyncio.wait_for(waiting, chance.uniform(0.0, 0.003))).seq)
        except (asyncio.TimeoutError, asyncio.CancelledError):
            timeouts += 1
    await flowing
    gc.collect()
    assert found == list(range(1, 10_001)) and timeouts > 100 and complaints == []


def flow(server: FakeServer) -> None:
    for _ in range(1000):
        server.append_many("run-1", 10)


async def test_two_waits_at_once_get_two_events(bus: runwire.Bus, server: FakeServer) -> None:
    async with bus.events("run-1") as stream:
        await stream.joined()
        both = asyncio.gather(stream.next(), stream.next())
        await asyncio.sleep(0)
        server.append_many("run-1", 2)
        assert sorted(event.seq for event in await both) == [1, 2]


async def test_a_reader_that_stops_reading_bounds_what_it_keeps_and_loses_nothing(
    bus: runwire.Bus, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "READY_EVENTS_MAX", 50)
    server.page_events = 20
    server.append_many("run-1", 500)
    async with bus.events("run-1") as stream:
        await on_server(server, lambda: server.requests["read"] >= 3)
        await on_server(server, lambda: stream._feed._full)
        assert len(stream._feed.join.ready) < 50 + 20
        assert await take(stream, 500) == list(range(1, 501))
        await stream.joined()
        server.repeat_beacons = True  # what PUB drops at the end shows only by a beacon
        server.append_many("run-1", 3000)  # beyond every queue on the way
        assert await take(stream, 3000) == list(range(501, 3501))
        assert stream.counters.resumes == 0


async def test_a_stream_that_is_let_go_frees_its_sockets(
    bus: runwire.Bus, server: FakeServer
) -> None:
    stream = bus.events("run-1")
    await stream.joined()
    assert len(bus._feeds) == 1
    del stream
    gc.collect()
    await on_server(server, lambda: b"run-1/" not in server.topics)
    assert len(bus._feeds) == 0


async def test_a_closed_stream_has_ended(bus: runwire.Bus, server: FakeServer) -> None:
    server.append("run-1")
    stream = bus.events("run-1")
    await stream.aclose()
    await stream.aclose()
    with pytest.raises(StopAsyncIteration):
        await stream.next()
    assert await stream.batch() == []


@pytest.mark.parametrize(
    "arguments", [{"subject": "a/"}, {"after": -1}, {"after": 2**53}, {"level": "x"}, {"log": "x"}]
)
async def test_what_is_no_cursor_is_refused_at_once(
    bus: runwire.Bus, arguments: dict[str, object]
) -> None:
    with pytest.raises(runwire.Error):
        bus.events(**arguments)  # type: ignore[arg-type]
