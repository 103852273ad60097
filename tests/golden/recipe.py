"""Bytes as text that stays short: hex, and `hex*N` for what repeats, words between spaces.

>>> write(b"ab" + b"x" * 100)
'6162 78*100'
>>> read("6162 78*3") == b"abxxx"
True
"""

from __future__ import annotations

import re

RUN = re.compile(rb"(?s)(.{1,320}?)\1{7,}")
"""A unit of at most 320 bytes (a row of a listing), eight times or more: less is as short in hex."""


def write(data: bytes) -> str:
    words: list[str] = []
    at = 0
    for run in RUN.finditer(data):
        if len(run[0]) < 48:
            continue
        if run.start() > at:
            words.append(data[at : run.start()].hex())
        words.append(f"{run[1].hex()}*{len(run[0]) // len(run[1])}")
        at = run.end()
    if at < len(data):
        words.append(data[at:].hex())
    return " ".join(words)


def read(text: str) -> bytes:
    parts: list[bytes] = []
    for word in text.split():
        unit, _, times = word.partition("*")
        parts.append(bytes.fromhex(unit) * int(times or 1))
    return b"".join(parts)
