"""C22 to C30: the golden vectors (tests/golden/README.md), judged by this client."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "golden"
sys.path.insert(0, str(GOLDEN))

import python_verdicts  # noqa: E402

FILES = ("events-valid", "events-invalid", "messages-valid", "messages-invalid", "json-valid", "json-invalid")


@pytest.mark.parametrize("name", FILES)
def test_every_vector_gets_its_verdict(name: str) -> None:
    verdicts = python_verdicts.of_file(GOLDEN / "v1" / f"{name}.ndjson")
    assert [verdict for verdict in verdicts if verdict.given != verdict.expected] == []
    assert len(verdicts) >= 50


def test_the_files_are_what_the_generator_makes() -> None:
    made = subprocess.run([sys.executable, str(GOLDEN / "generate.py"), "--check"], capture_output=True, text=True)
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")


def test_event_vectors_have_not_changed() -> None:
    for line in (GOLDEN / "v1" / "frozen.txt").read_text().splitlines():
        wanted, name = line.split()
        assert hashlib.sha256((GOLDEN / "v1" / name).read_bytes()).hexdigest() == wanted, name
