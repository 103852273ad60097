"""What an operator does with `runwire serve` and `runwire observe`, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess

from conftest import ROOT, Bus, rows_of, until

RECORDING = str(sorted((ROOT / "examples" / "recordings").glob("*.ndjson"))[0])


def test_options_come_from_a_file_too(bus: Bus) -> None:
    config, ready = bus.folder / "runwire.toml", bus.folder / "ready.json"
    config.write_text(
        f'[serve]\nmemory = true\nlisten = "{bus.url}"\nrequire = ["audit", "second"]\nready-file = "{ready}"\n'
    )
    bus.start("serve", "--config", str(config))
    until(ready.exists, "the server's start")
    assert set(json.loads(ready.read_text())) == {"endpoint", "log", "term", "pid"}
    assert [row["observer"] for row in bus.run("observers").rows] == ["audit", "second"]


def test_a_config_with_an_unknown_option_or_none_is_usage(bus: Bus) -> None:
    config = bus.folder / "runwire.toml"
    config.write_text('[serve]\nmemry = true\n')
    for path in (config, bus.folder / "absent.toml"):
        done = bus.run("serve", "--config", str(path), "--memory", "--listen", bus.url)
        assert done.code == 2, done.err


def test_c48_a_held_log_names_its_holder_and_a_dead_one_does_not_matter(bus: Bus) -> None:
    bus.serve()
    second = bus.run("serve", "--data", str(bus.data), "--listen", bus.url + "2")
    assert second.code == 6
    assert str(bus.server_pid) in second.err
    bus.kill()
    (bus.data / "lock").write_text(f"{os.getpid()}\n")
    bus.serve()
    bus.kill()
    (bus.data / "lock").write_bytes(b"")
    assert bus.serve()["term"] == 3


def test_a_bug_that_is_put_in_is_said_aloud_and_a_misspelt_one_refused(bus: Bus) -> None:
    def serve(bug: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [bus.command, "serve", "--memory", "--listen", "tcp://0.0.0.0:1"], capture_output=True, text=True,
            env={**bus.environment(), "RUNWIRE_BREAK": bug}, timeout=20, check=False,
        )

    assert "breaks its promises" in serve("drop_event").stderr
    assert "no such bug" in serve("drop_evnt").stderr


def test_c03_an_ack_is_on_record_when_the_observer_has_ended(bus: Bus) -> None:
    bus.serve("--require", "audit")
    for number in range(1, 21):
        bus.run("append", "notes", "notes.n")
        done = bus.run("observe", "audit", "--count", "1")
        assert (done.code, done.err, done.rows[0]["position"]) == (0, "", number)
        assert bus.run("observers").rows[0]["acked"] == number


def test_c04_a_journal_has_one_writer(bus: Bus) -> None:
    bus.serve("--require", "audit")
    out = bus.folder / "audit.ndjson"
    first = bus.start("observe", "audit", "--out", str(out))
    bus.run("append", "notes", "notes.a")
    until(lambda: rows_of(out), "the first event")
    second = bus.run("observe", "audit", "--out", str(out))
    assert second.code == 6 and "another process writes" in second.err
    bus.run("append", "notes", "notes.b")
    until(lambda: len(rows_of(out)) == 2, "the second event")
    assert first.poll() is None


def test_a_journal_that_is_something_else_is_left_alone(bus: Bus) -> None:
    bus.serve("--require", "audit")
    out = bus.folder / "notes.txt"
    out.write_text("my notes\n")
    done = bus.run("observe", "audit", "--out", str(out))
    assert done.code == 1 and "no log and position" in done.err
    assert out.read_text() == "my notes\n"


def test_c40_a_journal_of_another_log_is_refused(bus: Bus) -> None:
    bus.serve("--require", "audit")
    out = bus.folder / "audit.ndjson"
    bus.run("append", "notes", "notes.a")
    assert bus.run("observe", "audit", "--out", str(out), "--count", "1").code == 0
    bus.stop()
    bus.data = bus.folder / "other"
    bus.serve("--require", "audit")
    done = bus.run("observe", "audit", "--out", str(out))
    assert done.code == 4 and "cursor_foreign" in done.err


def test_c08_an_observer_ends_although_its_command_hangs(bus: Bus) -> None:
    bus.serve("--require", "audit")
    bus.run("append", "notes", "notes.a")
    started = bus.folder / "started"
    observer = bus.start("observe", "audit", "--exec", f"touch {started}; exec tail -f /dev/null")
    until(started.exists, "the command")
    observer.terminate()
    assert observer.wait(15) == 130
    assert bus.run("observers").rows[0]["acked"] == 0


def test_a_command_has_its_signals_as_a_shell_would_give_them(bus: Bus) -> None:
    bus.serve("--require", "audit")
    bus.run("append", "notes", "notes.a")
    out = bus.folder / "out"
    command = f"(yes; echo $? > {out}) | head -n 1"
    assert bus.run("observe", "audit", "--count", "1", "--exec", command).code == 0
    assert out.read_text() == "141\n"  # ended by SIGPIPE


def test_c53_a_run_that_somebody_owns_is_not_played_over(bus: Bus) -> None:
    bus.serve()
    owner = bus.start("play", RECORDING, "--run", "owned", "--speed", "0.2")
    until(lambda: bus.run("runs", "--active").rows, "the run")
    late = bus.run("append", "owned", "notes.late")
    assert late.code == 5 and "hint:" in late.err
    assert bus.run("play", RECORDING, "--run", "owned", "--speed", "max").code == 5
    assert owner.poll() is None
