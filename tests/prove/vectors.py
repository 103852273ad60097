#!/usr/bin/env python3
"""All golden vectors get the same verdict in every language, and it is the one that stands beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import _harness

ROOT = Path(__file__).resolve().parents[2]
V1 = ROOT / "tests" / "golden" / "v1"
FILES = [V1 / f"{name}.ndjson" for name in ("events-valid", "events-invalid", "messages-valid", "messages-invalid")]
BREAKS = ["flipped-byte", "wrong-code", "lost-field"]
SHOWN_MAX = 5
SECONDS = 120.0


def languages() -> dict[str, list[str]]:
    """The program of each language: files in, a line `name TAB verdict` for each vector out."""
    return {
        "C++": [str(ROOT / "build" / "release" / "bin" / "golden_verdicts")],
        "Python": [sys.executable, str(ROOT / "tests" / "golden" / "python_verdicts.py")],
    }


def broken(row: dict[str, object], bug: str | None) -> dict[str, object]:
    """One vector of a kind with a bug put in, as a codec that has it would show."""
    if bug == "wrong-code" and row.get("error") == "too_large":
        return row | {"error": "invalid"}
    if bug == "flipped-byte" and row.get("canonical"):
        text = str(row["bytes"])
        return row | {"bytes": text[:-1] + ("0" if text[-1] != "0" else "1")}
    event = row.get("event")
    if bug == "lost-field" and isinstance(event, dict) and event["unknown"]:
        return row | {"event": event | {"unknown": ""}}
    return row


def vectors(stage: _harness.Stage, bug: str | None) -> tuple[list[Path], list[tuple[str, str]]]:
    """The files to judge, and what is expected of each of their lines."""
    paths: list[Path] = []
    expected: list[tuple[str, str]] = []
    for file in FILES:
        rows = [broken(json.loads(line), bug) for line in file.read_text().splitlines()]
        copy = stage.directory / file.name
        copy.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(copy)
        expected += [(str(row["name"]), str(row.get("error", "ok"))) for row in rows]
    return paths, expected


def verdicts(command: list[str], paths: list[Path], seconds: float) -> list[tuple[str, str]]:
    ran = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, timeout=seconds)
    if ran.returncode != 0:
        raise _harness.Broken(f"{command[-1]} exits {ran.returncode}", ran.stderr)
    lines = [line.rpartition("\t") for line in ran.stdout.splitlines()]
    return [(name, verdict) for name, _, verdict in lines]


def prove(stage: _harness.Stage, given: _harness.Arguments) -> bool:
    paths, expected = vectors(stage, given.bug)
    wrong = 0
    for language, command in languages().items():
        got = verdicts(command, paths, stage.left())
        differing = [(want, have) for want, have in zip(expected, got) if want != have]
        wrong += len(differing) + abs(len(expected) - len(got))
        for want, have in differing[:SHOWN_MAX]:
            print(f"  {language}: {want[0]}: {have[1]}, not {want[1]}")
    valid = sum(verdict == "ok" for _, verdict in expected)
    print(
        f"vectors: {valid} valid and {len(expected) - valid} invalid in {len(languages())} languages "
        f"({', '.join(languages())}), wrong verdicts {wrong}"
    )
    return wrong == 0


def main() -> int:
    given = _harness.arguments(__doc__ or "", BREAKS)
    stage = _harness.stage("vectors", SECONDS)
    held = False
    try:
        held = prove(stage, given)
    except (_harness.Broken, subprocess.TimeoutExpired) as problem:
        print(f"vectors: broken: {problem}")
    finally:
        stage.end(given.keep)
    return 0 if held else _harness.BROKEN


if __name__ == "__main__":
    sys.exit(main())
