"""The consumer that was written from docs/protocol.md alone joins, heals and resumes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Bus, until

CONSUMER = str(ROOT / "examples" / "plain_consumer.py")
RECORDINGS = sorted(str(path) for path in (ROOT / "examples" / "recordings").glob("*.ndjson"))


def places(path: Path) -> list[tuple[int, int]]:
    text = path.read_text() if path.exists() else ""
    return [(int(words[0]), int(words[1])) for words in map(str.split, text.splitlines()) if len(words) > 1]


def start(bus: Bus, out: Path, *arguments: str) -> subprocess.Popen[bytes]:
    with out.open("ab") as file:
        child = subprocess.Popen([sys.executable, CONSUMER, bus.url, *arguments], stdout=file)
    bus.adopt(child)
    return child


def test_it_has_every_event_once_and_in_order_across_kill_of_the_server(bus: Bus) -> None:
    bus.serve()
    out = bus.folder / "plain.txt"
    start(bus, out)
    play = bus.start("play", *RECORDINGS, "--speed", "6")
    for seen in (20, 60):
        until(lambda: len(places(out)) >= seen, f"{seen} events")
        bus.kill()
        bus.serve()
    assert play.wait(60) == 0
    log = [(row["position"], row["seq"]) for row in bus.whole_log()]
    until(lambda: len(places(out)) >= len(log), "everything arrived")
    assert places(out) == log


@pytest.mark.parametrize("after", [0, 3])
def test_it_resumes_one_subject_behind_its_cursor(bus: Bus, after: int) -> None:
    bus.serve()
    for subject in ("a", "b", "a", "a", "b", "a"):
        assert bus.run("append", subject, "notes.n").code == 0
    out = bus.folder / "plain.txt"
    start(bus, out, "a", str(after))
    until(lambda: len(places(out)) >= 4 - after, "history")
    assert bus.run("append", "b", "notes.n").code == 0
    assert bus.run("append", "a", "notes.n").code == 0
    until(lambda: len(places(out)) >= 5 - after, "the live event")
    assert [seq for _, seq in places(out)] == list(range(after + 1, 6))


def test_it_says_why_its_cursor_is_none(bus: Bus) -> None:
    bus.serve()
    done = subprocess.run([sys.executable, CONSUMER, bus.url, "a", "9"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "cursor_ahead" in done.stderr
