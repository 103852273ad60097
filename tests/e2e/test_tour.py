"""What a newcomer types after reading the README's tour, and each error that it can provoke."""

from __future__ import annotations

import signal
import subprocess

from conftest import ROOT, Bus, rows_of, until

RECORDINGS = sorted(str(path) for path in (ROOT / "examples" / "recordings").glob("*.ndjson"))


def test_a_run_is_appended_by_hand_and_read_back(bus: Bus) -> None:
    bus.serve()
    receipt = bus.run("append", "hello", "run.started", '{"agent":"me"}')
    assert receipt.code == 0
    assert receipt.rows == [
        {"subject": "hello", "seq": 1, "position": 1, "level": "committed", "sync": "always", "duplicate": False}
    ]
    assert bus.run("append", "hello", "notes.idea", '{"text": "yours"}').code == 0
    assert bus.run("append", "hello", "run.completed").code == 0
    read = bus.run("tail", "hello", "--from", "start", "--until-caught-up")
    assert [(row["seq"], row["type"]) for row in read.rows] == [
        (1, "run.started"), (2, "notes.idea"), (3, "run.completed"),
    ]
    assert read.rows[1]["data"] == {"text": "yours"}
    after = bus.run("tail", "hello", "--after", "1", "--count", "1")
    assert [row["seq"] for row in after.rows] == [2]


def test_an_append_after_the_end_is_refused_and_says_what_to_do(bus: Bus) -> None:
    bus.serve()
    bus.run("append", "hello", "run.started")
    bus.run("append", "hello", "run.completed")
    late = bus.run("append", "hello", "notes.late")
    assert late.code == 1
    assert "lifecycle" in late.err and "hint:" in late.err
    assert [row["state"] for row in bus.run("runs").rows] == ["completed"]


def test_c41_lines_on_standard_input_are_appended_in_order_and_once(bus: Bus) -> None:
    bus.serve()
    identity = "01890a5d-ac96-774b-bcce-b302099a8057"
    lines = f'{{"type":"notes.a","data":{{"n":1}},"id":"{identity}"}}\n{{"type":"notes.b"}}\n'
    assert [row["seq"] for row in bus.run("append", "notes", "-", text=lines).rows] == [1, 2]
    again = bus.run("append", "notes", "notes.a", '{"n":1}', "--id", identity)
    assert [(row["seq"], row["duplicate"]) for row in again.rows] == [(1, True)]
    other = bus.run("append", "notes", "notes.a", '{"n":2}', "--id", identity)
    assert other.code == 1 and "conflict" in other.err


def test_a_line_that_is_no_event_is_named_and_what_was_before_it_is_kept(bus: Bus) -> None:
    bus.serve()
    done = bus.run("append", "notes", "-", text='{"type":"notes.a"}\nnot json\n{"type":"notes.c"}\n')
    assert done.code == 1 and "line 2" in done.err
    assert [row["type"] for row in bus.whole_log()] == ["notes.a"]


def test_every_command_says_where_the_server_should_be(bus: Bus) -> None:
    for command in (["status"], ["runs"], ["observers"], ["tail"], ["append", "a", "notes.b"]):
        done = bus.run(*command)
        assert done.code == 3, command
        assert "runwire serve" in done.err


def test_nonsense_on_the_command_line_is_usage(bus: Bus) -> None:
    assert bus.run("serve").code == 2
    assert bus.run("serve", "--data", "d", "--memory").code == 2
    assert bus.run("tail", "--from", "middle").code == 2
    assert bus.run("nothing").code == 2


def test_c39_c40_a_cursor_that_cannot_be_honoured_has_its_own_code(bus: Bus) -> None:
    bus.serve()
    bus.run("append", "hello", "notes.a")
    ahead = bus.run("tail", "hello", "--after", "99")
    assert ahead.code == 4 and "cursor_ahead" in ahead.err
    foreign = bus.run("tail", "--after", "1", "--log", "01890a5d-ac96-774b-bcce-b302099a8057")
    assert foreign.code == 4 and "cursor_foreign" in foreign.err


def test_c49_a_second_server_on_the_same_log_or_path_is_refused(bus: Bus) -> None:
    bus.serve()
    same_log = bus.run("serve", "--data", str(bus.data), "--listen", bus.url + "2")
    assert same_log.code == 6 and "locked" in same_log.err
    same_path = bus.run("serve", "--memory", "--listen", bus.url)
    assert same_path.code == 6 and "locked" in same_path.err
    assert bus.run("status").code == 0


def test_c15_anything_wider_than_this_machine_is_refused(bus: Bus) -> None:
    done = bus.run("serve", "--memory", "--listen", "tcp://0.0.0.0:*")
    assert done.code == 1 and "invalid" in done.err


def test_recordings_play_to_runs_that_end(bus: Bus) -> None:
    bus.serve()
    played = bus.run("play", *RECORDINGS, "--fast")
    assert played.code == 0
    assert sorted(row["end"] for row in played.rows) == [
        "run.cancelled", "run.completed", "run.completed", "run.completed", "run.failed",
    ]
    assert all(row["events"] == row["of"] for row in played.rows)
    assert bus.run("runs", "--active").rows == []


def test_a_follower_hears_deltas_live_and_stops_with_the_command_to_go_on(bus: Bus) -> None:
    bus.serve()
    out = bus.folder / "tail.ndjson"
    tail = bus.start("tail", "--from", "start", out=out)
    until(lambda: bus.run("status").rows[0]["live.topics"] > 0, "the subscription")
    bus.run("play", RECORDINGS[0], "--fast")
    until(lambda: any(row["type"] == "run.completed" for row in rows_of(out)), "the run's end")
    rows = rows_of(out)
    assert any(row["type"] == "text.delta" and "seq" not in row for row in rows)
    assert [row["seq"] for row in rows if "seq" in row] == list(range(1, sum("seq" in row for row in rows) + 1))
    tail.send_signal(signal.SIGINT)
    assert tail.wait(10) == 130
    last = max(row.get("position", 0) for row in rows)
    assert f"go on with: runwire tail --after {last} --log " in bus.log()


def test_c03_an_observer_comes_before_everybody_else(bus: Bus) -> None:
    bus.serve("--require", "audit")
    assert bus.run("append", "hello", "notes.a").code == 0
    assert bus.run("tail", "--from", "start", "--until-caught-up").rows == []
    assert [row["type"] for row in bus.whole_log()] == ["notes.a"]
    assert bus.run("observe", "audit", "--count", "1").code == 0
    assert len(bus.run("tail", "--from", "start", "--until-caught-up").rows) == 1
    assert bus.run("observers").rows[0]["owed"] == 0
    unknown = bus.run("observe", "nobody")
    assert unknown.code == 1 and "--require" in unknown.err


def test_a_command_for_each_event_decides_with_its_exit_status(bus: Bus) -> None:
    bus.serve("--require", "audit")
    bus.run("append", "hello", "notes.a", '{"n":1}')
    kept = bus.folder / "kept"
    assert bus.run("observe", "audit", "--count", "1", "--exec", f"cat >> {kept}").code == 0
    assert rows_of(kept)[0]["data"] == {"n": 1}
    bus.run("append", "hello", "notes.b")
    refusing = bus.start("observe", "audit", "--exec", "exit 3")
    until(lambda: bus.run("observers").rows[0]["refusals"] > 0, "the refusal")
    assert bus.run("observers").rows[0]["acked"] == 1
    refusing.terminate()
    assert refusing.wait(10) == 130


def test_c04_a_newer_consumer_fences_the_older_one(bus: Bus) -> None:
    bus.serve("--require", "audit")
    older = bus.start("observe", "audit")
    until(lambda: bus.run("observers").rows[0]["state"] == "attached", "the first attach")
    newer = bus.start("observe", "audit")
    assert older.wait(20) == 5
    assert newer.poll() is None


def test_c08_a_server_that_is_asked_to_stop_answers_first(bus: Bus) -> None:
    first = bus.serve()
    bus.run("append", "hello", "notes.a")
    assert bus.stop() == 0
    second = bus.serve()
    assert (second["term"], second["log"]) == (first["term"] + 1, first["log"])
    assert len(bus.whole_log()) == 1


def test_a_closed_pipe_ends_a_tail_quietly(bus: Bus) -> None:
    bus.serve()
    bus.run("play", *RECORDINGS, "--fast")
    tail = f"exec '{bus.command}' tail --from start --until-caught-up | head -n 1"
    done = subprocess.run(["sh", "-c", tail], env=bus.environment(), capture_output=True, timeout=20, check=False)
    assert done.stdout.count(b"\n") == 1 and done.stderr == b""


def test_a_run_that_somebody_holds_says_so_until_it_has_ended(bus: Bus) -> None:
    bus.serve()
    agent = bus.start("play", RECORDINGS[0], "--run", "held", "--speed", "1")
    held = until(lambda: [row for row in bus.run("runs").rows if row["claimed"]], "a claimed run")
    assert [(row["subject"], row["state"], row["epoch"]) for row in held] == [("held", "open", 1)]
    assert agent.wait(30.0) == 0
    assert [(row["claimed"], row["epoch"]) for row in bus.run("runs").rows] == [(False, 0)]
