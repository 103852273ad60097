"""Real processes for the demonstration and the proofs: started, killed, waited for with a deadline."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 20.0
"""A server that does not serve by then has failed."""
END_SECONDS = 10.0
LOOK_SECONDS = 0.02


def runwire_binary() -> str:
    """The command under test: RUNWIRE_BIN, else what `./dev build` leaves."""
    path = os.environ.get("RUNWIRE_BIN", str(ROOT / "build/release/bin/runwire"))
    if not os.access(path, os.X_OK):
        sys.exit(f"there is no command at {path}; ./dev build makes it, RUNWIRE_BIN names another")
    return path


class Child:
    """One process whose words go to a file. Owner: the caller, who ends it."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        *,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        stdin: int = subprocess.DEVNULL,
    ) -> None:
        self.log = log
        with log.open("ab") as words:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                list(command),
                stdin=stdin,
                stdout=words,
                stderr=words,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
                pass_fds=tuple(pass_fds),
            )

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """kill -9, and gone when this returns."""
        self.process.kill()
        self.process.wait(END_SECONDS)

    def end(self) -> int:
        """SIGTERM, then what it answered; -9 where it did not end in time."""
        if self.running:
            self.process.send_signal(signal.SIGTERM)
        return self.wait(END_SECONDS)

    def wait(self, seconds: float) -> int:
        """Its status; it is killed when it has not ended by then."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL

    def last_words(self, lines: int = 8) -> str:
        return "\n".join(self.log.read_text("utf-8", "replace").splitlines()[-lines:])


class Server:
    """`runwire serve` on one directory, started as often as it is killed."""

    def __init__(
        self, directory: Path, observers: Sequence[str], *, lease_ms: int, env: Mapping[str, str] | None = None
    ) -> None:
        self.endpoint = f"ipc://{directory}/bus"
        self.ready: dict[str, Any] = {}
        self._directory = directory
        self._observers = tuple(observers)
        self._lease_ms = lease_ms
        self._env = dict(env or {})
        self.child: Child | None = None

    def start(self) -> None:
        """Returns when it serves. Errors: RuntimeError with its last words when it does not."""
        ready = self._directory / "ready.json"
        ready.unlink(missing_ok=True)
        command = [runwire_binary(), "serve", "--data", str(self._directory / "log")]
        command += ["--listen", self.endpoint, "--ready-file", str(ready)]
        command += ["--lease-ms", str(self._lease_ms)]
        for name in self._observers:
            command += ["--require", name]
        child = self.child = Child(command, self._directory / "server.log", env=self._env)
        deadline = time.monotonic() + READY_SECONDS
        while not ready.exists():
            try:
                child.process.wait(LOOK_SECONDS)
                raise RuntimeError(f"the server ended with {child.process.returncode}:\n{child.last_words()}")
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    child.kill()
                    raise RuntimeError(f"the server does not serve:\n{child.last_words()}") from None
        self.ready = json.loads(ready.read_text())

    def kill(self) -> None:
        assert self.child is not None
        self.child.kill()

    def end(self) -> int:
        return self.child.end() if self.child is not None else 0
