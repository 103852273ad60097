"""kill -9 of each part, once, in the open: what was answered is there, and everybody goes on by himself."""

from __future__ import annotations

from conftest import ROOT, Bus, rows_of, until

RECORDINGS = sorted(str(path) for path in (ROOT / "examples" / "recordings").glob("*.ndjson"))


def positions(rows: list[dict[str, object]]) -> list[object]:
    return [row["position"] for row in rows if "position" in row]


def test_c03_what_is_unacked_is_owed_across_every_crash(bus: Bus) -> None:
    bus.serve("--require", "audit")
    out = bus.folder / "audit.ndjson"
    consumer = bus.start("observe", "audit", "--out", str(out))
    play = bus.start("play", *RECORDINGS, "--speed", "8")
    for kept in (5, 40, 80):
        until(lambda: len(rows_of(out)) >= kept, f"{kept} events in the journal")
        bus.kill()
        consumer.kill()
        consumer.wait(10)
        bus.serve("--require", "audit")
        consumer = bus.start("observe", "audit", "--out", str(out))
    assert play.wait(60) == 0
    log = bus.whole_log()
    until(lambda: len(rows_of(out)) >= len(log), "the journal has everything")
    assert [(row["position"], row["id"]) for row in rows_of(out)] == [(row["position"], row["id"]) for row in log]


def test_c44_an_answered_append_survives_kill_and_numbers_go_on(bus: Bus) -> None:
    for life in range(1, 6):
        assert bus.serve()["term"] == life
        receipt = bus.run("append", "notes", "notes.n", f'{{"life":{life}}}').rows[0]
        bus.kill()
        assert (receipt["seq"], receipt["position"]) == (life, life)
    bus.serve()
    assert [row["data"]["life"] for row in bus.whole_log()] == [1, 2, 3, 4, 5]


def test_c16_a_reader_resumes_by_itself_and_a_torn_journal_line_is_written_again(bus: Bus) -> None:
    bus.serve("--require", "audit")
    out, journal = bus.folder / "tail.ndjson", bus.folder / "audit.ndjson"
    bus.start("tail", "--from", "start", out=out)
    consumer = bus.start("observe", "audit", "--out", str(journal))
    bus.run("append", "notes", "notes.a")
    until(lambda: positions(rows_of(out)) == [1], "the first event")
    bus.kill()
    bus.serve("--require", "audit")
    bus.run("append", "notes", "notes.b")
    until(lambda: positions(rows_of(out)) == [1, 2], "the event after the restart")
    assert "reading on after 1" in bus.log()
    consumer.kill()
    consumer.wait(10)
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    bus.start("observe", "audit", "--out", str(journal))
    bus.run("append", "notes", "notes.c")
    until(lambda: positions(rows_of(journal)) == [1, 2, 3], "the journal is whole again")


def test_c35_a_run_whose_agent_died_is_closed_when_its_lease_lapses(bus: Bus) -> None:
    bus.serve("--lease-ms", "500")
    agent = bus.start("play", RECORDINGS[0], "--subject", "orphan", "--speed", "0.2")
    until(lambda: bus.run("runs", "--active").rows, "the run")
    agent.kill()
    agent.wait(10)
    until(lambda: bus.run("runs", "orphan").rows[0]["state"] == "failed", "the run's end")
    last = bus.run("tail", "orphan", "--from", "start", "--until-caught-up").rows[-1]
    assert last["type"] == "run.failed" and "owner_lost" in str(last["data"])


def test_sockets_of_a_killed_server_do_not_pile_up(bus: Bus) -> None:
    bus.serve("--require", "audit")
    consumer = bus.start("observe", "audit")
    until(lambda: bus.run("observers").rows[0]["state"] == "attached", "the attach")
    assert len(list(bus.folder.glob("bus.attach-1-*"))) > 0
    consumer.kill()
    consumer.wait(10)
    bus.kill()
    bus.serve("--require", "audit")
    assert list(bus.folder.glob("bus.attach-1-*")) == []
