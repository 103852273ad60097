"""Recorded input from elsewhere, through the real command: skipped where it is absent."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from conftest import ROOT, Bus, rows_of, until

DATA = ROOT.parent / "shared" / "data"
TERMINALS = {"run.completed", "run.failed", "run.cancelled"}
ENDS = {"text.ended": ("text_id", "text"), "reasoning.ended": ("reasoning_id", "text")}


def recordings() -> list[Path]:
    folders = (DATA / "provider-streams", DATA / "agent-runs")
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


@pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout")
def test_c33_every_recording_plays_to_one_terminal_and_texts_equal_their_deltas(bus: Bus) -> None:
    bus.serve()
    out = bus.folder / "tail.ndjson"
    bus.start("tail", out=out)
    until(lambda: bus.run("status").rows[0]["live.topics"] > 0, "the subscription")
    files = recordings()
    assert len(files) > 60
    for path in files:
        played = bus.run("play", str(path), "--speed", "2000")
        assert played.code == 0, (path, played.err)
        assert played.rows[0]["events"] == played.rows[0]["of"]
    last = bus.run("status").rows[0]["log.committed"]
    until(lambda: rows_of(out)[-1].get("position") == last, "the reader has the last event")
    judge(rows_of(out), len(files))


def judge(rows: list[dict[str, object]], runs: int) -> None:
    terminals: dict[str, int] = defaultdict(int)
    deltas: dict[tuple[str, str], str] = defaultdict(str)
    texts = 0
    for row in rows:
        subject, kind = str(row["subject"]), str(row["type"])
        data = row["data"]
        assert isinstance(data, dict)
        assert terminals[subject] == 0, f"{subject}: {kind} after the run's end"
        terminals[subject] += kind in TERMINALS
        if kind in ("text.delta", "reasoning.delta"):
            key = "text_id" if kind == "text.delta" else "reasoning_id"
            deltas[subject, str(data[key])] += data["delta"]
        elif kind in ENDS:
            key, value = ENDS[kind]
            assert deltas[subject, str(data[key])] == data[value], (subject, data[key])
            texts += 1
    assert len(terminals) == runs and set(terminals.values()) == {1}
    assert texts > runs
