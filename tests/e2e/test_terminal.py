"""What a person sees: the same commands on a terminal of their own."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time

from conftest import SECONDS, Bus, until


class Terminal:
    """A command on a pseudo terminal; `text` is what it has shown so far."""

    def __init__(self, bus: Bus, *arguments: str, **environment: str) -> None:
        self._file, theirs = pty.openpty()
        self.text = ""
        self.process = subprocess.Popen(
            [bus.command, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
            env={**bus.environment(), "TERM": "xterm", **environment},
        )
        os.close(theirs)
        os.set_blocking(self._file, False)

    def shows(self, wanted: str) -> bool:
        try:
            self.text += os.read(self._file, 1 << 16).decode(errors="replace")
        except (BlockingIOError, OSError):  # nothing new; or the command has ended
            pass
        return wanted in self.text

    def wait(self) -> int:
        """Reads on until the command has ended: it must not wait for us."""
        end = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            self.shows("")
        self.shows("")
        return self.process.wait(0)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(SECONDS)
        os.close(self._file)


def test_a_run_streams_readably_and_ctrl_c_says_how_to_go_on(bus: Bus) -> None:
    bus.serve()
    terminal = Terminal(bus, "tail", NO_COLOR="1")
    try:
        until(lambda: bus.run("status").rows[0]["live.topics"] > 0, "the subscription")
        lines = [
            '{"type":"run.started","data":{"agent":"me"}}',
            '{"type":"turn.started","data":{"turn":1}}',
            '{"type":"model.started","data":{"turn":1,"operation_id":"o","model":"m","attempt":1}}',
            '{"type":"text.started","data":{"operation_id":"o","text_id":"t"}}',
            *(
                '{"type":"text.delta","ephemeral":true,"data":{"text_id":"t","index":%d,"delta":"%s"}}' % delta
                for delta in enumerate(("Hel", "lo \\u001b[2Jwor", "ld"))
            ),
            '{"type":"text.ended","data":{"operation_id":"o","text_id":"t","deltas":3,"text":"Hello \\u001b[2Jworld"}}',
        ]
        appended = bus.run("append", "hello", "-", text="\n".join(lines) + "\n")
        assert appended.code == 0, appended.err
        until(lambda: terminal.shows("text.ended"), "the end of the text")
        assert "hello > Hello ?[2Jworld\r\n" in terminal.text
        assert "\x1b" not in terminal.text
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.wait() == 130
        assert "go on with: runwire tail --after 5 --log " in terminal.text
    finally:
        terminal.close()


def test_colours_are_for_terminals_that_want_them(bus: Bus) -> None:
    bus.serve()
    bus.run("append", "hello", "run.started")
    failed = bus.run("append", "hello", "run.failed", '{"problem":{"code":"c","message":"\u0085m","retryable":false}}')
    assert failed.code == 0, failed.err
    shown = {}
    for name, environment in {"plain": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"}, "colour": {"NO_COLOR": ""}}.items():
        terminal = Terminal(bus, "tail", "hello", "--until-caught-up", **environment)
        try:
            assert terminal.wait() == 0
            shown[name] = terminal.text
        finally:
            terminal.close()
    assert shown["plain"] == shown["dumb"]
    assert "hello #2 run.failed" in shown["plain"] and "\x1b" not in shown["plain"]
    assert "\x1b[31mrun.failed\x1b[0m" in shown["colour"]
    assert "\u0085" not in shown["plain"]


def test_lists_are_tables_on_a_terminal_and_json_when_asked(bus: Bus) -> None:
    bus.serve()
    bus.run("append", "hello", "run.started")
    for arguments, wanted in {
        ("runs",): "hello  ", ("runs", "--json"): '{"subject":"hello"', ("runs", "--prefix", "x"): "no runs",
        ("observers",): "runwire serve --require", ("status",): "log.committed  ",
    }.items():
        terminal = Terminal(bus, *arguments, NO_COLOR="1")
        try:
            assert terminal.wait() == 0
            assert wanted in terminal.text, (arguments, terminal.text)
        finally:
            terminal.close()
