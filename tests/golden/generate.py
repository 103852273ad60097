#!/usr/bin/env python3
"""Writes tests/golden/v1: `generate.py` makes the files anew, `generate.py --check` says whether they are so.

Event vectors never change: the sum of their lines is in v1/frozen.txt, and adding one is refused too.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "clients" / "python" / "src")]

import events  # noqa: E402
import json_texts  # noqa: E402
import messages  # noqa: E402
import recipe  # noqa: E402

V1 = HERE / "v1"
EVENTS = ("events-valid.ndjson", "events-invalid.ndjson")


def line(row: dict[str, Any]) -> str:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=True)


def event_lines(vectors: Iterator[events.Vector]) -> Iterator[str]:
    for vector in vectors:
        row: dict[str, Any] = {"name": vector.name, "bytes": recipe.write(vector.bytes)}
        if vector.event is not None:
            data = vector.event["data"].encode()
            row["event"] = vector.event | {"data": recipe.write(data)}
        else:
            row["error"] = vector.error
        yield line(row)


def message_vectors() -> Iterator[messages.Vector]:
    for kind in messages.kinds():
        yield from messages.valid(kind)
        yield from messages.invalid(kind)
    yield from messages.any_header()


def message_lines(valid: bool) -> Iterator[str]:
    for vector in message_vectors():
        if valid != (vector.error is None):
            continue
        row: dict[str, Any] = {"name": vector.name, "message": vector.message, "bytes": recipe.write(vector.bytes)}
        row |= {"canonical": vector.canonical} if valid else {"error": vector.error}
        yield line(row)


def json_lines(texts: Iterator[json_texts.Text]) -> Iterator[str]:
    for text in texts:
        row: dict[str, Any] = {"name": text.name, "json": recipe.write(text.text)}
        if text.canonical is not None:
            row["canonical"] = recipe.write(text.canonical.encode())
        else:
            row["error"] = text.error
        if text.offset is not None:
            row["offset"] = text.offset
        yield line(row)


def files() -> dict[str, str]:
    made = {
        "events-valid.ndjson": event_lines(events.valid()),
        "events-invalid.ndjson": event_lines(events.invalid()),
        "json-valid.ndjson": json_lines(json_texts.valid()),
        "json-invalid.ndjson": json_lines(json_texts.invalid()),
        "messages-valid.ndjson": message_lines(True),
        "messages-invalid.ndjson": message_lines(False),
    }
    texts = {name: "".join(f"{each}\n" for each in lines) for name, lines in made.items()}
    texts["frozen.txt"] = "".join(f"{digest(texts[name])}  {name}\n" for name in EVENTS)
    return texts


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def main(arguments: list[str]) -> int:
    wanted = files()
    if arguments == ["--check"]:
        stale = [name for name, text in wanted.items() if (V1 / name).read_text() != text]
        for name in stale:
            print(f"{name} is not what the generator makes")
        return 1 if stale else 0
    if (V1 / "frozen.txt").exists() and (V1 / "frozen.txt").read_text() != wanted["frozen.txt"]:
        print("event vectors are frozen: implementations that nobody here sees rely on them", file=sys.stderr)
        return 1
    V1.mkdir(exist_ok=True)
    for name, text in wanted.items():
        (V1 / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
