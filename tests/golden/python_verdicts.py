#!/usr/bin/env python3
"""Prints what the Python client makes of each vector of the files named: `name TAB verdict`."""

from __future__ import annotations

import json
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "clients" / "python" / "src")]

import recipe  # noqa: E402
from runwire import protocol  # noqa: E402
from runwire.errors import Error  # noqa: E402
from runwire.event import Event  # noqa: E402
from runwire.event_codec import decode_event, encode_event  # noqa: E402
from runwire.header import decode_header, encode_header  # noqa: E402
from runwire.json_text import canonicalise  # noqa: E402


@dataclass(frozen=True)
class Verdict:
    """`ok`, the code of an error, or `differs: ...` where the bytes were taken but not kept."""

    name: str
    expected: str
    given: str


def of_file(path: Path) -> list[Verdict]:
    return [judge(json.loads(line)) for line in path.read_text().splitlines()]


def judge(vector: dict[str, Any]) -> Verdict:
    try:
        given = _verdict(vector)
    except Error as refusal:
        given = refusal.code
    return Verdict(vector["name"], vector.get("error", "ok"), given)


def _verdict(vector: dict[str, Any]) -> str:
    if "json" in vector:
        return _json(vector, recipe.read(vector["json"]))
    frame = recipe.read(vector["bytes"])
    return _header(vector, frame) if "message" in vector else _event(vector, frame)


def _json(vector: dict[str, Any], text: bytes) -> str:
    canonical = canonicalise(text)
    if "canonical" in vector and canonical.encode() != recipe.read(vector["canonical"]):
        return f"differs: {canonical}"
    return "ok" if canonicalise(canonical.encode()) == canonical else "differs: the canonical form is not canonical"


def _header(vector: dict[str, Any], frame: bytes) -> str:
    fields = decode_header(frame).raw
    protocol.CHECKS[vector["message"]](fields)
    if vector.get("canonical") and encode_header({key: fields[key] for key in fields if key != "v"}) != frame:
        return "differs: the bytes written"
    return "ok"


def _event(vector: dict[str, Any], frame: bytes) -> str:
    event, end = decode_event(frame, 0)
    if end != len(frame):
        return "invalid"
    if "event" not in vector:
        return "ok"
    wanted = vector["event"]
    unknown = bytes.fromhex(wanted["unknown"])
    known = Event(
        uuid.UUID(hex=wanted["id"]), wanted["type"], wanted["time"], wanted["subject"] or None, wanted["seq"],
        wanted["version"], 0, wanted["location"], recipe.read(wanted["data"]).decode(), frame,
    )
    if event != known:
        return "differs: the fields"
    if encode_event(known, unknown, _pairs(frame) - _pairs(encode_event(known))) != frame:
        return "differs: the bytes written"
    return "ok"


def _pairs(event: bytes) -> int:
    """How many fields the map of an encoded event declares."""
    return event[0] & 0x0F if event[0] < 0x90 else int.from_bytes(event[1:3], "big")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        for verdict in of_file(Path(file)):
            print(f"{verdict.name}\t{verdict.given}")
