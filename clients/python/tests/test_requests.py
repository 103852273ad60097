"""Requests against a server that loses, refuses and restarts."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import threading
import uuid
import warnings
from pathlib import Path
from typing import Any, Callable

import msgpack
import pytest
import zmq

import runwire
from fake_server import FakeServer
from runwire import errors, limits


async def test_an_append_is_answered_with_its_place(bus: runwire.Bus, server: FakeServer) -> None:
    receipt = await bus.append("run-1", "acme.step", {"n": 1}, version=3, location={"node": "a"})
    assert (receipt.seq, receipt.position, receipt.duplicate) == (1, 1, False)
    assert receipt.id.version == 7
    request = server.seen[-1]
    assert next(iter(request)) == "v" and len(request["client"]) == 16
    assert request["events"] == [
        {
            "id": receipt.id.bytes,
            "type": "acme.step",
            "data": '{"n":1}',
            "version": 3,
            "location": {"node": "a"},
        }
    ]


async def test_the_same_id_again_returns_the_first_receipt(bus: runwire.Bus) -> None:
    first = await bus.append("run-1", "acme.step")
    again = await bus.append("run-1", "acme.step", id=first.id)
    assert again.duplicate and (again.seq, again.position) == (first.seq, first.position)


async def test_an_id_that_is_no_uuidv7_is_refused(bus: runwire.Bus) -> None:
    for wrong in ("x", uuid.uuid4(), str(uuid.uuid4())):
        with pytest.raises(runwire.Invalid):
            await bus.append("run-1", "acme.step", id=wrong)


async def test_an_ephemeral_event_has_no_place_and_needs_no_subject(bus: runwire.Bus) -> None:
    receipt = await bus.append(None, "acme.delta", durable=False)
    assert (receipt.seq, receipt.position) == (0, 0)
    with pytest.raises(runwire.Invalid, match="durable=False"):
        await bus.append(None, "acme.delta")


async def test_a_lost_reply_is_asked_for_again_and_appends_once(
    bus: runwire.Bus, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RESEND_AFTER", 0.05)
    server.lose_replies = 2
    receipt = await bus.append("run-1", "acme.step")
    assert receipt.duplicate and receipt.seq == 1 and len(server.events) == 1
    appends = [request for request in server.seen if request["op"] == "append"]
    assert [request.get("again") for request in appends] == [None, True, True]
    assert len({request["rid"] for request in appends}) == 1


async def test_an_append_outlives_a_restart_of_the_server(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.stop_sockets()
    waiting = asyncio.ensure_future(bus.append("run-1", "acme.step"))
    await asyncio.sleep(0)
    assert not waiting.done()
    server.start_sockets()
    assert (await waiting).seq == 1
    assert server.requests["append"] == 1, "nothing was queued beside its repeats"


async def test_no_answer_in_time_is_typed_and_leaves_the_outcome_open(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.swallow_appends = 99
    with pytest.raises(runwire.TimedOut) as caught:
        await bus.append("run-1", "acme.step", deadline=0.1)
    assert caught.value.code == "timed_out"
    await asyncio.to_thread(server.wait, lambda: server.requests["append"] == 1)
    server.swallow_appends = 0
    assert (await bus.append("run-1", "acme.step")).seq == 1
    assert server.seen[-1]["go_on"] is True


async def test_backpressure_is_waited_out(bus: runwire.Bus, server: FakeServer) -> None:
    for _ in range(3):
        server.refuse("append", "backpressure")
    assert (await bus.append("run-1", "acme.step")).seq == 1
    assert server.requests["append"] == 4


async def test_backpressure_beyond_the_deadline_is_an_error(
    bus: runwire.Bus, server: FakeServer
) -> None:
    for _ in range(50):
        server.refuse("append", "backpressure")
    with pytest.raises(runwire.Backpressure):
        await bus.append("run-1", "acme.step", deadline=0.1)
    assert len(server.events) == 0


async def test_a_refusal_carries_the_receipts_of_what_was_taken(
    bus: runwire.Bus, server: FakeServer
) -> None:
    with pytest.raises(runwire.Lifecycle) as caught:
        await bus.append_many("run-1", [("acme.a", 1), ("acme.refused", 2), ("acme.b", 3)])
    assert [receipt.seq for receipt in caught.value.receipts] == [1]
    assert caught.value.facts == {"index": 1}
    await bus.append("run-1", "acme.b")
    assert server.seen[-1]["go_on"] is True
    await bus.append("run-1", "acme.b")
    assert "go_on" not in server.seen[-1]


async def test_appends_of_one_subject_keep_the_order_of_their_calls(
    bus: runwire.Bus, server: FakeServer
) -> None:
    server.refuse("append", "backpressure")
    await asyncio.gather(*(bus.append("run-1", "acme.step", index) for index in range(20)))
    assert [stored.event.data_json for stored in server.events] == [str(n) for n in range(20)]


async def test_many_events_are_split_by_the_bounds_of_a_request(
    bus: runwire.Bus, server: FakeServer
) -> None:
    count = limits.APPEND_EVENTS_MAX + 1
    receipts = await bus.append_many("run-1", [("acme.step", None)] * count, expect=0)
    assert [receipt.seq for receipt in receipts] == list(range(1, count + 1))
    assert server.requests["append"] == 2 and server.seen[-1]["expect"] == count - 1
    big = "x" * 1_000_000
    await bus.append_many("run-2", [("acme.big", big)] * 5)
    assert server.requests["append"] == 4


async def test_nothing_at_all_is_appended_as_nothing(bus: runwire.Bus, server: FakeServer) -> None:
    assert await bus.append_many("run-1", []) == []
    assert server.requests["append"] == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"subject": "a/b"}, runwire.Invalid),
        ({"subject": ""}, runwire.Invalid),
        ({"subject": "x" * 129}, runwire.TooLarge),
        ({"type": "Acme"}, runwire.Invalid),
        ({"type": "a" * 65}, runwire.TooLarge),
        ({"level": "maybe"}, runwire.Invalid),
        ({"deadline": 0}, runwire.Invalid),
        ({"deadline": 601}, runwire.Invalid),
        ({"version": 0}, runwire.Invalid),
        ({"version": 2**32}, runwire.Invalid),
        ({"expect": -1}, runwire.Invalid),
        ({"location": {"": "x"}}, runwire.Invalid),
        ({"location": {"x": "y" * 257}}, runwire.TooLarge),
        ({"location": {str(n): "" for n in range(9)}}, runwire.TooLarge),
    ],
)
async def test_what_breaks_a_rule_is_refused_before_it_is_sent(
    bus: runwire.Bus, server: FakeServer, arguments: dict[str, Any], error: type[runwire.Error]
) -> None:
    with pytest.raises(error):
        await bus.append(**{"subject": "run-1", "type": "acme.step", **arguments})
    assert server.requests["append"] == 0


async def test_the_longest_names_pass(bus: runwire.Bus) -> None:
    location = {"k" * 64: "v" * 256, **{str(n): "" for n in range(7)}}
    assert await bus.append("x" * 128, "a" * 64, location=location, version=2**32 - 1)


async def test_c28_a_good_event_follows_a_refused_one(bus: runwire.Bus) -> None:
    with pytest.raises(runwire.Invalid):
        await bus.append("run-1", "acme.step", {"score": float("nan")})
    assert (await bus.append("run-1", "acme.step", {"score": 1})).seq == 1


async def test_waiting_for_observers_tells_the_server_until_when(
    bus: runwire.Bus, server: FakeServer
) -> None:
    await bus.append("run-1", "acme.step", level="acknowledged", deadline=1.5)
    assert (server.seen[-1]["level"], server.seen[-1]["deadline_ms"]) == ("acknowledged", 1500)
    server.refuse("append", "observer_timeout", observer="audit", seq=2, position=2)
    with pytest.raises(runwire.ObserverTimeout) as caught:
        await bus.append("run-1", "acme.step", level="acknowledged")
    assert caught.value.facts["observer"] == "audit"


async def test_subjects_are_listed_over_pages(bus: runwire.Bus) -> None:
    for name in ("a", "b", "c", "d", "e"):
        await bus.append(name, "acme.step")
    assert [row.subject for row in await bus.subjects()] == ["a", "b", "c", "d", "e"]
    assert [row.subject for row in await bus.subjects(after="b", count_max=1)] == ["c"]


async def test_status_and_observers_are_told(bus: runwire.Bus) -> None:
    assert (await bus.status())["sync"] == "always"
    assert await bus.observers() == []


async def test_a_claim_is_renewed_and_its_epoch_is_on_every_append(
    bus: runwire.Bus, server: FakeServer
) -> None:
    claim = await bus.claim("run-1")
    assert (claim.epoch, claim.state, claim.lease) == (1, "open", 0.3)
    await bus.append("run-1", "acme.step")
    assert server.seen[-1]["epoch"] == 1
    await asyncio.to_thread(server.wait, lambda: server.requests["renew"] >= 2)
    await bus.append("run-1", "run.completed")
    await bus.append("run-1", "acme.step")
    assert "epoch" not in server.seen[-1], "a claim ends with the run"


async def test_a_claim_is_taken_again_after_a_restart(bus: runwire.Bus, server: FakeServer) -> None:
    await bus.claim("run-1", epoch=4)
    server.do(server.claims.clear)
    server.restart()
    assert (await bus.append("run-1", "acme.step")).seq == 1
    await asyncio.to_thread(server.wait, lambda: "run-1" in server.claims)
    assert server.claims["run-1"][1] == 4


async def test_not_owner_claims_again_and_only_once(bus: runwire.Bus, server: FakeServer) -> None:
    await bus.claim("run-1")
    server.refuse("append", "not_owner")
    assert (await bus.append("run-1", "acme.step")).seq == 1
    async with await runwire.connect(server.endpoint) as other:
        with pytest.raises(runwire.Fenced):
            await other.claim("run-1")
        await other.claim("run-1", epoch=2)
        with pytest.raises(runwire.NotOwner):
            await bus.append("run-1", "acme.step")


async def test_nobody_there_is_unavailable_and_says_what_to_do(directory: str) -> None:
    with pytest.raises(runwire.Unavailable, match="runwire serve"):
        await runwire.connect(f"ipc://{directory}/nobody", timeout=0.1)


@pytest.mark.parametrize("url", ["http://x", "tcp://", "tcp://*:1", "inproc://x", "ipc://" + "x" * 300])
async def test_an_endpoint_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(runwire.Invalid):
        await runwire.connect(url, timeout=0.1)


def test_the_default_endpoint_is_the_users_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from runwire import endpoint

    monkeypatch.delenv("RUNWIRE_URL", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert endpoint.resolve_endpoint(None) == "ipc:///run/user/7/runwire/requests"
    monkeypatch.setenv("RUNWIRE_URL", "tcp://127.0.0.1:5")
    assert endpoint.resolve_endpoint(None) == "tcp://127.0.0.1:5"
    assert endpoint.resolve_endpoint("ipc:///x") == "ipc:///x"
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    with pytest.raises(runwire.Invalid, match="0700"):
        endpoint._check_directory(str(shared))
    shared.chmod(0o700)
    endpoint._check_directory(str(shared))


async def test_another_protocol_major_is_unsupported(directory: str) -> None:
    context = zmq.Context()
    router = context.socket(zmq.ROUTER)
    router.bind(f"ipc://{directory}/old")

    def answer() -> None:
        peer, _ = router.recv_multipart()
        error = {"code": "unsupported", "message": "speak 7", "facts": {"supported": "7"}}
        header = {"v": 1, "op": "error", "rid": 0, "log": bytes(16), "term": 1, "error": error}
        router.send_multipart([peer, msgpack.packb(header)])

    thread = threading.Thread(target=answer)
    thread.start()
    with pytest.raises(runwire.Unsupported) as caught:
        await runwire.connect(f"ipc://{directory}/old")
    assert caught.value.facts == {"supported": "7"}
    thread.join()
    router.close(0)
    context.term()


async def test_garbage_from_the_server_harms_no_request(
    bus: runwire.Bus, server: FakeServer
) -> None:
    peers: list[bytes] = []
    original = server._reply

    def reply(peer: bytes, request: dict[str, Any]) -> None:
        for garbage in (b"", b"\xc1", b"\x91" * 1000, b"\xdd\xff\xff\xff\xff"):
            asyncio.ensure_future(server.router.send_multipart([peer, garbage]))
        asyncio.ensure_future(server.router.send_multipart([peer, b"a", b"b", b"c", b"d", b"e"]))
        peers.append(peer)
        original(peer, request)

    server.do(lambda: setattr(server, "_reply", reply))
    assert (await bus.append("run-1", "acme.step")).seq == 1
    assert bus._connection.counters.unreadable == 5 and peers


async def test_after_close_every_call_is_refused(server: FakeServer) -> None:
    bus = await runwire.connect(server.endpoint)
    stream = bus.events("run-1")
    waiting = asyncio.ensure_future(stream.next())
    server.swallow_appends = 9
    appending = asyncio.ensure_future(bus.append("run-1", "acme.step"))
    await asyncio.to_thread(server.wait, lambda: server.requests["append"] == 1)
    await bus.aclose()
    await bus.aclose()
    with pytest.raises(runwire.Closed):
        await appending
    with pytest.raises(StopAsyncIteration):
        await waiting
    for call in (lambda: bus.append("run-1", "acme.step"), stream.next, bus.status):
        with pytest.raises(runwire.Closed):
            await call()


async def test_c18_another_thread_or_loop_is_told_at_once(bus: runwire.Bus) -> None:
    def elsewhere(call: Callable[[], Any]) -> BaseException | None:
        async def run() -> None:
            result = call()
            if asyncio.iscoroutine(result):
                await result

        try:
            asyncio.run(run())
        except BaseException as problem:
            return problem
        return None

    stream = bus.events("run-1")
    for call in (lambda: bus.append("r", "acme.x"), lambda: bus.events("r"), stream.next, bus.aclose):
        problem = await asyncio.to_thread(elsewhere, call)
        assert isinstance(problem, runwire.WrongThread) and problem.code == "invalid"
    assert (await bus.append("run-1", "acme.step")).seq == 1


async def test_c19_a_forked_child_is_told_at_once_and_the_parent_goes_on(
    bus: runwire.Bus, server: FakeServer
) -> None:
    await bus.append("run-1", "acme.step")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"silent"
        try:
            async def use() -> None:
                await bus.append("run-1", "acme.lost")

            asyncio.run(use())
        except runwire.UsedAfterFork:
            answer = b"told"
        except BaseException as problem:
            answer = repr(problem).encode()
        os.write(writer, answer)
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"told"
    os.close(reader)
    os.close(writer)
    assert (await bus.append("run-1", "acme.step")).seq == 2
    assert [stored.event.type for stored in server.events] == ["acme.step"] * 2


def test_a_bus_that_is_not_closed_warns_and_does_not_hang(server: FakeServer) -> None:
    async def forget() -> None:
        bus = await runwire.connect(server.endpoint)
        await bus.append("run-1", "acme.step")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(forget())
        gc.collect()
    assert any("was not closed" in str(each.message) for each in caught)


def test_every_code_of_the_protocol_page_has_its_type() -> None:
    page = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text()
    section = page[page.index("## 7. Errors") :]
    codes = re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)
    assert len(codes) > 20 and set(codes) == set(errors.BY_CODE)
    unknown = errors.from_wire("from_the_future", "x", {})
    assert type(unknown) is runwire.Error and unknown.code == "from_the_future"


def test_event_ids_grow_and_are_of_version_7() -> None:
    made = [runwire.new_event_id() for _ in range(10_000)]
    assert made == sorted(set(made))
    assert all(each.version == 7 and each.variant == uuid.RFC_4122 for each in made)
