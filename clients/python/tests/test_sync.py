"""The synchronous face: from any thread, with typed ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from typing import Any, Callable, Iterator

import pytest

import runwire
import runwire.sync
from fake_server import FakeServer


@pytest.fixture
def bus(server: FakeServer) -> Iterator[runwire.sync.Bus]:
    with runwire.sync.connect(server.endpoint) as made:
        yield made


def test_the_same_verbs_work_without_a_loop(bus: runwire.sync.Bus, server: FakeServer) -> None:
    assert bus.append("run-1", "acme.step", {"n": 1}).seq == 1
    assert [receipt.seq for receipt in bus.append_many("run-1", [("acme.a", 1)] * 3)] == [2, 3, 4]
    assert [event.seq for event in bus.events("run-1", after=1, follow=False)] == [2, 3, 4]
    assert [row.subject for row in bus.subjects()] == ["run-1"]
    assert bus.claim("run-2").epoch == 1
    assert bus.observers() == [] and bus.status()["committed"] == 4
    assert bus.url == server.endpoint and bus.log.bytes == server.log


def test_events_follow_until_the_loop_is_left(bus: runwire.sync.Bus, server: FakeServer) -> None:
    server.append("run-1")
    for event in bus.events("run-1"):
        if event.seq == 3:
            break
        server.append("run-1")
    assert [stored.event.seq for stored in server.events] == [1, 2, 3]


def test_errors_come_out_as_they_are(bus: runwire.sync.Bus) -> None:
    with pytest.raises(runwire.Lifecycle):
        bus.append("run-1", "acme.refused")
    with pytest.raises(runwire.CursorAhead):
        list(bus.events("run-1", after=5))
    with pytest.raises(runwire.Invalid):
        bus.events("a/b")


def test_nobody_there_is_unavailable(directory: str) -> None:
    with pytest.raises(runwire.Unavailable):
        runwire.sync.connect(f"ipc://{directory}/nobody", timeout=0.1)


def test_the_handler_of_observe_runs_on_the_callers_thread(
    make_server: Callable[..., FakeServer],
) -> None:
    server = make_server(observers=("audit",))
    server.append_many("run-1", 6)
    bus = runwire.sync.connect(server.endpoint)
    here = threading.current_thread()
    handled: list[int] = []

    def handle(event: runwire.Event) -> None:
        assert threading.current_thread() is here
        handled.append(event.position)
        bus.append("run-2", "acme.seen") if event.subject == "run-1" else None
        if event.position == 12:
            threading.Thread(target=close_when_acked, args=(bus, server)).start()

    with pytest.raises(runwire.Closed):
        bus.observe("audit", handle)
    assert handled == list(range(1, 13))


def close_when_acked(bus: runwire.sync.Bus, server: FakeServer) -> None:
    server.wait(lambda: server.observers["audit"].acked == 12)
    bus.close()


def test_c18_eight_threads_use_one_client_until_one_closes_it(server: FakeServer) -> None:
    bus = runwire.sync.connect(server.endpoint)
    appended: dict[int, list[int]] = {number: [] for number in range(8)}
    problems: list[BaseException] = []
    enough = threading.Event()

    def work(number: int) -> None:
        try:
            for count in range(1_000_000):
                bus.append(f"run-{number}", "acme.step", {"count": count})
                appended[number].append(count)
                if count % 10 == 0:
                    list(bus.events(f"run-{number}", after=count, follow=False))
                if number == 0 and count == 100:
                    enough.set()
        except runwire.Closed:
            return
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    assert enough.wait(60)
    bus.close()
    bus.close()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert problems == []
    for number, counts in appended.items():
        stored = [
            each.event.data_json for each in server.events if each.event.subject == f"run-{number}"
        ]
        expected = [f'{{"count":{count}}}' for count in range(len(stored))]
        assert stored == expected and len(stored) - len(counts) in (0, 1)
    for call in (bus.status, lambda: bus.append("x", "acme.x"), lambda: bus.events("x")):
        with pytest.raises(runwire.Closed):
            call()


def append_in_child(bus: runwire.sync.Bus, answers: Any) -> None:
    try:
        for _ in range(10):
            bus.append("run-1", "acme.lost")
        answers.put("silent")
    except runwire.UsedAfterFork as error:
        bus.close()
        answers.put(error.message)


def test_c19_a_forked_child_is_told_and_the_parent_goes_on(
    bus: runwire.sync.Bus, server: FakeServer
) -> None:
    bus.append("run-1", "acme.step")
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=append_in_child, args=(bus, answers))
    child.start()
    assert "fork" in answers.get(timeout=20)
    child.join(20)
    assert child.exitcode == 0
    assert bus.append("run-1", "acme.step").seq == 2
    assert len(server.events) == 2


def test_c19_a_forked_child_may_connect_anew(bus: runwire.sync.Bus, server: FakeServer) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with runwire.sync.connect(server.endpoint) as fresh:
                fresh.append("run-1", "acme.child")
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert bus.append("run-1", "acme.step").seq == 2


def test_c19_a_program_that_is_started_inherits_no_descriptor(bus: runwire.sync.Bus) -> None:
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
            inherited = os.get_inheritable(int(number))
        except OSError:
            continue
        assert not (inherited and target.startswith(("socket:", "anon_inode:"))), target


def test_a_closed_client_leaves_no_thread(server: FakeServer) -> None:
    before = threading.active_count()
    runwire.sync.connect(server.endpoint).close()
    end = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < end:
        threading.Event().wait(0.01)
    assert threading.active_count() == before
