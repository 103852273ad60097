#!/usr/bin/env python3
"""All golden vectors get the same verdict in every language, and it is the one that stands beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Iterator

import _harness

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "golden"))

import json_texts  # noqa: E402
from runwire import canonical  # noqa: E402

V1 = ROOT / "tests" / "golden" / "v1"
FILES = sorted(V1.glob("*.ndjson"))
BREAKS = ["flipped-byte", "wrong-code", "lost-field", "other-number"]
NUMBERS, NUMBERS_FULL, NUMBERS_ROW = 100_000, 2_000_000, 100
"""Random doubles besides the vectors, and how many of them a text has."""
SHOWN_MAX, SHOWN_BYTES_MAX = 5, 200
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
    if bug == "flipped-byte" and row.get("canonical") is True:
        text = str(row["bytes"])
        return row | {"bytes": text[:-1] + ("0" if text[-1] != "0" else "1")}
    if bug == "other-number" and str(row["name"]).startswith("numbers 7"):
        return row | {"canonical": str(row["canonical"]).replace("31", "32", 1)}
    event = row.get("event")
    if bug == "lost-field" and isinstance(event, dict) and event["unknown"]:
        return row | {"event": event | {"unknown": ""}}
    return row


def numbers(seed: int, count: int) -> Iterator[dict[str, object]]:
    """Doubles by random bit pattern (C29): as Python prints them, and the form that the Python client makes of them."""
    exact = (each for each in json_texts.doubles(seed, count) if not 2**53 <= abs(each) < canonical.EXPONENT_FROM)
    for at, row in enumerate(iter(lambda: list(islice(exact, NUMBERS_ROW)), [])):
        text, form = f"[{','.join(map(repr, row))}]", f"[{','.join(map(canonical.number, row))}]"
        yield {"name": f"numbers {at}", "json": text.encode().hex(), "canonical": form.encode().hex()}


def sources(given: _harness.Arguments) -> Iterator[tuple[str, list[dict[str, object]]]]:
    for file in FILES:
        yield file.name, [json.loads(line) for line in file.read_text().splitlines()]
    yield "numbers.ndjson", list(numbers(given.seed, NUMBERS_FULL if given.full else NUMBERS))


def vectors(stage: _harness.Stage, given: _harness.Arguments) -> tuple[list[Path], list[tuple[str, str]]]:
    """The files to judge, and what is expected of each of their lines."""
    paths: list[Path] = []
    expected: list[tuple[str, str]] = []
    for name, sound in sources(given):
        rows = [broken(row, given.bug) for row in sound]
        copy = stage.directory / name
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
    paths, expected = vectors(stage, given)
    wrong = 0
    for language, command in languages().items():
        got = verdicts(command, paths, stage.left())
        differing = [(want, have) for want, have in zip(expected, got) if want != have]
        wrong += len(differing) + abs(len(expected) - len(got))
        for want, have in differing[:SHOWN_MAX]:
            print(f"  {language}: {want[0]}: {have[1]}, not {want[1]}"[:SHOWN_BYTES_MAX])
    valid = sum(verdict == "ok" for _, verdict in expected)
    print(
        f"vectors: {valid} valid and {len(expected) - valid} invalid in {len(languages())} languages "
        f"({', '.join(languages())}), seed {given.seed}, wrong verdicts {wrong}"
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
