#!/usr/bin/env python3
"""Fuzz targets under address and undefined behaviour checks, then C++ against Python on what they found."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import _harness

ROOT = Path(__file__).resolve().parents[2]
BINARIES = ROOT / "build" / "fuzz" / "bin"
CORPUS = ROOT / "fuzz" / "corpus"
TARGETS = re.compile(r"^runwire_fuzz\((\w+)", re.MULTILINE)
BORROWED = {"event_oracle": "event"}
"""A target without inputs of its own begins with those of another."""
RUNS, RUNS_FULL = 60_000, 4_500_000
SECONDS, SECONDS_FULL = 120.0, 3000.0
INPUT_BYTES_MAX = 4096
JUDGED_MAX = 4000
"""Inputs of one kind that are judged in both languages."""
BREAKS = ["trailing-byte", "seq", "other-verdict"]
REFUSED = {"invalid", "too_large", "unsupported"}
"""A frame that breaks several rules may be refused by the code of any of them (docs/protocol.md, "Errors")."""
MESSAGES = {"request": ["request"], "message": ["reply", "delivery", "ack", "live"]}


class Fuzzing:
    """One run of every target, from a copy of the committed inputs."""

    def __init__(self, stage: _harness.Stage, given: _harness.Arguments) -> None:
        self.stage = stage
        self.given = given
        self.targets = TARGETS.findall((ROOT / "fuzz" / "CMakeLists.txt").read_text())
        self.findings: list[str] = []

    def run(self) -> int:
        """Executions of all targets; two at a time, since a target is one process."""
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(self._run_one, self.targets))

    def inputs(self, target: str) -> Path:
        return self.stage.directory / target

    def _run_one(self, target: str) -> int:
        corpus = self.inputs(target)
        shutil.copytree(CORPUS / BORROWED.get(target, target), corpus)
        command = [
            str(BINARIES / f"fuzz_{target}"), str(corpus), f"-runs={RUNS_FULL if self.given.full else RUNS}",
            f"-seed={self.given.seed & 0x7FFFFFFF}", f"-max_len={INPUT_BYTES_MAX}", "-print_final_stats=1", "-verbosity=1",
            f"-artifact_prefix={self.stage.directory}/found-{target}-",
        ]
        env = dict(os.environ, RUNWIRE_FUZZ_BUG=self.given.bug or "")
        ran = subprocess.run(command, capture_output=True, text=True, env=env, timeout=self.stage.left())
        done = re.search(r"stat::number_of_executed_units:\s*(\d+)", ran.stderr)
        if ran.returncode != 0 or done is None:
            self.findings.append(f"{target}: " + " / ".join(ran.stderr.strip().splitlines()[-3:]))
            return 0
        print(f"  {target}: {done[1]} executions, {len(list(corpus.iterdir()))} inputs kept")
        return int(done[1])

    # ---- both languages ----------------------------------------------------------------------

    def differing(self) -> tuple[int, int, list[str]]:
        """How many inputs were judged in C++ and in Python, how many were refused by another code of REFUSED, and
        those that one language takes and the other does not."""
        lines = [json.dumps({"name": f"event {path.name}", "bytes": path.read_bytes().hex()}) for path in self._found("event")]
        for target, kinds in MESSAGES.items():
            for path in self._found(target):
                hexed = path.read_bytes().hex()
                lines += [json.dumps({"name": f"{kind} {path.name}", "message": kind, "bytes": hexed}) for kind in kinds]
        file = self.stage.directory / "found.ndjson"
        file.write_text("".join(f"{line}\n" for line in lines))
        golden = ROOT / "tests" / "golden" / "python_verdicts.py"
        cpp = self._verdicts([str(ROOT / "build" / "release" / "bin" / "golden_verdicts"), str(file)])
        python = self._verdicts([sys.executable, str(golden), str(file)])
        if self.given.bug == "other-verdict":
            python[0] += "!"
        if not len(lines) == len(cpp) == len(python):
            raise _harness.Broken(f"{len(lines)} inputs, {len(cpp)} and {len(python)} verdicts")
        unlike = [(line, one, other) for line, one, other in zip(lines, cpp, python) if one != other]
        grave = [(line, one, other) for line, one, other in unlike if not {one, other} <= REFUSED]
        return len(lines), len(unlike) - len(grave), [f"{line}: C++ {one}, Python {other}" for line, one, other in grave]

    def _found(self, target: str) -> list[Path]:
        return sorted(self.inputs(target).iterdir())[:JUDGED_MAX]

    def _verdicts(self, command: list[str]) -> list[str]:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=self.stage.left())
        if ran.returncode != 0:
            raise _harness.Broken(f"{command[0]} exits {ran.returncode}", ran.stderr)
        return [line.rpartition("\t")[2] for line in ran.stdout.splitlines()]


def prove(stage: _harness.Stage, given: _harness.Arguments) -> bool:
    fuzzing = Fuzzing(stage, given)
    executions = fuzzing.run()
    judged, other_code, differing = (0, 0, []) if fuzzing.findings else fuzzing.differing()
    for line in [*fuzzing.findings, *(each[:300] for each in differing[:5])]:
        print(f"  {line}")
    print(
        f"fuzz: {len(fuzzing.targets)} targets, {executions} executions, seed {given.seed}, {judged} inputs judged in "
        f"C++ and Python, refused by another code {other_code}, findings {len(fuzzing.findings)}, judged otherwise {len(differing)}"
    )
    return not fuzzing.findings and not differing


def main() -> int:
    given = _harness.arguments(__doc__ or "", BREAKS)
    stage = _harness.stage("fuzz", SECONDS_FULL if given.full else SECONDS)
    held = False
    try:
        held = prove(stage, given)
    except (_harness.Broken, subprocess.TimeoutExpired) as problem:
        print(f"fuzz: broken: {problem}")
    finally:
        stage.end(given.keep)
    return 0 if held else _harness.BROKEN


if __name__ == "__main__":
    sys.exit(main())
