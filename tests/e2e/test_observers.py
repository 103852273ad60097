"""`runwire observers`, refusals and suspension, with real processes and kill -9."""

from __future__ import annotations

from pathlib import Path

from conftest import Bus, Row, rows_of, until

REFUSES_POISON = "grep -v -q poison"


def row(bus: Bus) -> Row:
    return bus.run("observers", "--json").rows[0]


def put(bus: Bus, data: str, *options: str) -> None:
    done = bus.run("append", "s", "acme.x", data, *options)
    assert done.code == 0, done.err


def test_c03_an_event_that_is_refused_for_good_is_skipped_on_record(bus: Bus, tmp_path: Path) -> None:
    bus.serve("--require", "audit", "--skip", "audit=2")
    journal = tmp_path / "journal.ndjson"
    consumer = bus.start("observe", "audit", "--out", str(journal), "--exec", REFUSES_POISON)
    put(bus, '{"n":1}')
    put(bus, '"poison"')
    put(bus, '{"n":2}')
    until(lambda: len(rows_of(journal)) == 3, "the journal goes on behind the poison")
    assert [entry["type"] for entry in rows_of(journal)] == ["acme.x", "acme.x", "observer.skipped"]
    consumer.kill()
    bus.kill()
    bus.serve("--require", "audit", "--skip", "audit=2")
    assert row(bus)["skipped"] == 1
    noted = [event for event in bus.whole_log() if event["subject"] == "_runwire"]
    assert [event["data"] for event in noted] == [
        {"first": 2, "last": 2, "observer": "audit", "reason": "exit status 1"}
    ]


def test_a_suspended_observer_is_waited_for_no_longer_and_resumes_from_its_ack(bus: Bus, tmp_path: Path) -> None:
    bus.serve("--require", "audit")
    put(bus, '{"n":1}')
    assert bus.run("observers", "suspend", "audit").code == 0
    put(bus, '{"n":2}', "--acknowledged")
    bus.kill()
    bus.serve("--require", "audit")
    assert row(bus)["state"] == "suspended"
    put(bus, '{"n":3}', "--acknowledged")
    assert bus.run("observers", "resume", "audit").code == 0
    bus.kill()
    bus.serve("--require", "audit")
    journal = tmp_path / "journal.ndjson"
    assert bus.run("observe", "audit", "--out", str(journal), "--count", "3").code == 0
    assert [entry["data"] for entry in rows_of(journal)] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_an_unknown_observer_is_refused_by_name(bus: Bus) -> None:
    bus.serve("--require", "audit")
    done = bus.run("observers", "suspend", "nobody")
    assert done.code != 0
    assert "nobody" in done.err


def test_watching_says_it_again_and_again(bus: Bus, tmp_path: Path) -> None:
    bus.serve("--require", "audit")
    out = tmp_path / "watch.ndjson"
    bus.start("observers", "--watch", "--json", out=out)
    until(lambda: len(rows_of(out)) >= 2, "two looks")
    put(bus, '{"n":1}')
    until(lambda: rows_of(out)[-1]["owed"] == 1 and rows_of(out)[-1]["owed_bytes"] > 0, "what is owed now")
