"""Lines into `runwire append --ndjson`: each once, in order, exactly as written, or refused by its number."""

from __future__ import annotations

import signal
import subprocess

import pytest

from conftest import Bus, Row, until


def test_c44_lines_appended_across_kills_are_there_once_and_in_order(bus: Bus) -> None:
    bus.serve()
    receipts = bus.folder / "receipts.ndjson"
    append = bus.start("append", "notes", "-", out=receipts, stdin=subprocess.PIPE)
    assert append.stdin is not None
    count = 400
    for number in range(count):
        append.stdin.write(b'{"type":"notes.n","data":{"n":%d}}\n' % number)
        append.stdin.flush()
        if number % 100 == 50:
            until(lambda: receipts.read_bytes(), "the first receipts")
            bus.kill()
            bus.serve()
    append.stdin.close()
    assert append.wait(60) == 0
    log = bus.whole_log()
    assert [row["data"]["n"] for row in log] == list(range(count))
    assert [row["seq"] for row in log] == list(range(1, count + 1))
    assert len(receipts.read_bytes().splitlines()) == count


def test_a_line_is_on_its_way_when_the_pipe_pauses(bus: Bus) -> None:
    bus.serve()
    receipts = bus.folder / "receipts.ndjson"
    append = bus.start("append", "--ndjson", "-", out=receipts, stdin=subprocess.PIPE)
    assert append.stdin is not None
    append.stdin.write(b'{"subject":"a","type":"notes.n"}\n{"subject":"b","type":"notes.n"}\n{"subject":"b",')
    append.stdin.flush()
    until(lambda: [row["subject"] for row in bus.whole_log()] == ["a", "b"], "the two whole lines")
    append.send_signal(signal.SIGINT)
    assert append.wait(10) == 130
    assert len(bus.whole_log()) == 2


def test_what_tail_prints_can_be_appended_to_another_log(bus: Bus) -> None:
    bus.serve()
    line = '{"subject":"a","type":"notes.n","version":3,"location":{"node":"n1"},"data":{"x":[1,2.5,"\\u20ac"]}}\n'
    assert bus.run("append", "--ndjson", "-", text=line).code == 0
    printed = bus.run("tail", "--from", "start", "--until-caught-up")
    bus.stop()
    bus.data = bus.folder / "other"
    bus.serve()
    lines = bus.folder / "lines"
    lines.write_text(printed.out)
    assert bus.run("append", "--ndjson", str(lines)).code == 0

    def lasting(row: Row) -> Row:
        return {key: value for key, value in row.items() if key != "time"}

    assert [lasting(row) for row in bus.whole_log()] == [lasting(row) for row in printed.rows]
    assert printed.rows[0]["version"] == 3 and printed.rows[0]["location"] == {"node": "n1"}


@pytest.mark.parametrize("number", ["9007199254740993", "18446744073709551616"])
def test_c25_an_integer_that_is_not_exact_everywhere_is_refused_and_not_rounded(bus: Bus, number: str) -> None:
    bus.serve()
    as_line = bus.run("append", "notes", "-", text=f'{{"type":"notes.n","data":{{"n":{number}}}}}\n')
    as_word = bus.run("append", "notes", "notes.n", f'{{"n":{number}}}')
    for done in (as_line, as_word):
        assert done.code == 1 and "invalid" in done.err
    assert bus.whole_log() == []


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('{"type":"notes.n","dta":{}}', "dta: no such field"),
        ('{"data":{}}', "type: missing"),
        ('{"type":7}', "type: "),
        ('{"type":"notes.n","ephemeral":"yes"}', "ephemeral: "),
        ('{"type":"notes.n","id":"no"}', "id"),
        ('{"type":"notes.n","location":{"node":1}}', "location: "),
        ('{"type":"notes.n","version":4294967296}', "version: "),
        ('{"type":"notes.n","subject":"other"}', "subject: "),
        ('{"type":"notes.n"} {"type":"notes.n"}', "more than one"),
        ('["notes.n"]', "one JSON object"),
    ],
)
def test_c27_a_line_that_is_no_event_names_its_field_and_uses_no_number(bus: Bus, line: str, named: str) -> None:
    bus.serve()
    done = bus.run("append", "notes", "-", text=f'{{"type":"notes.first"}}\n\n{line}\n{{"type":"notes.n"}}\n')
    assert done.code == 1
    assert named in done.err and "line 3" in done.err
    assert [row["type"] for row in bus.whole_log()] == ["notes.first"]


def test_one_event_and_lines_are_not_mixed(bus: Bus) -> None:
    for mixed in (["a", "notes.n", "--ndjson", "-"], ["a", "-", "--expect", "3"], ["a"], []):
        assert bus.run("append", *mixed).code == 2, mixed
