"""Real processes of the built command, each bounded in time and stopped by its own process id."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("RUNWIRE_BIN", str(ROOT / "build" / "release" / "bin" / "runwire"))
SECONDS = 30.0
LOOK_SECONDS = 0.01

Row = dict[str, Any]


def until(condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
    """What `condition` gives once it is true; looks again and again, and fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(LOOK_SECONDS)
    raise AssertionError(f"{what}: not within {seconds:.0f} s")


def rows_of(path: Path) -> list[Row]:
    """The whole lines of an NDJSON file that somebody may be writing."""
    text = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in text[: text.rfind(b"\n") + 1].splitlines()]


class Done:
    """A command that has ended."""

    def __init__(self, process: subprocess.CompletedProcess[str]) -> None:
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def rows(self) -> list[Row]:
        return [json.loads(line) for line in self.out.splitlines()]


class Bus:
    """One directory with one server, and commands that talk to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"ipc://{folder}/bus"
        self.data = folder / "data"
        self._children: list[subprocess.Popen[bytes]] = []
        self._server: subprocess.Popen[bytes] | None = None

    command = BINARY

    def environment(self) -> dict[str, str]:
        return dict(os.environ, RUNWIRE_URL=self.url)

    def start(self, *arguments: str, out: Path | None = None, stdin: int | None = None) -> subprocess.Popen[bytes]:
        errors = (self.folder / "stderr.log").open("ab")
        output = out.open("ab") if out else errors
        with errors, output:
            child = subprocess.Popen(
                [BINARY, *arguments], env=self.environment(), stdin=stdin or subprocess.DEVNULL,
                stdout=output, stderr=errors,
            )
        self._children.append(child)
        return child

    def adopt(self, child: subprocess.Popen[bytes]) -> None:
        """Ends a process of the test's own with the rest."""
        self._children.append(child)

    def run(self, *arguments: str, text: str | None = None) -> Done:
        return Done(
            subprocess.run(
                [BINARY, *arguments], env=self.environment(), input=text, capture_output=True,
                text=True, timeout=SECONDS, check=False,
            )
        )

    def serve(self, *options: str) -> Row:
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        server = self.start(
            "serve", "--data", str(self.data), "--listen", self.url, "--ready-file", str(ready), *options
        )
        self._server = server
        until(lambda: ready.exists() or server.poll() is not None, "the server's start")
        assert server.poll() is None, self.log()
        facts: Row = json.loads(ready.read_text())
        return facts

    @property
    def server_pid(self) -> int:
        assert self._server is not None
        return self._server.pid

    def kill(self) -> None:
        assert self._server is not None
        self._server.kill()
        self._server.wait(SECONDS)

    def stop(self) -> int:
        assert self._server is not None
        self._server.send_signal(signal.SIGTERM)
        return self._server.wait(SECONDS)

    def whole_log(self) -> list[Row]:
        return self.run("tail", "--from", "start", "--until-caught-up", "--committed").rows

    def log(self) -> str:
        return (self.folder / "stderr.log").read_text()

    def end(self) -> None:
        for child in self._children:
            if child.poll() is None:
                child.kill()
            child.wait(SECONDS)


@pytest.fixture
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bus]:
    """A bus that is not serving yet. Its folder has a short name: an ipc path holds 107 bytes."""
    there = Bus(tmp_path_factory.mktemp("b"))
    yield there
    there.end()
