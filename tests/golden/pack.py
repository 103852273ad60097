"""A plain msgpack encoder, written from the format's specification and nothing of the clients.

Strings, bins, lists, maps and integers in their shortest form. `Raw` stands for bytes as they are,
so that a vector can be wrong on purpose.

>>> pack({"v": 1, "id": bytes(2)}).hex()
'82a17601a26964c4020000'
"""

from __future__ import annotations

import struct
from typing import Any


class Raw(bytes):
    """Encoded already."""


def pack(value: Any) -> bytes:
    if isinstance(value, Raw):
        return bytes(value)
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        return text_head(len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return head(len(value), None, 0, 0xC4) + value
    if isinstance(value, list):
        return head(len(value), 0x90, 16, 0xDB) + b"".join(map(pack, value))
    if isinstance(value, dict):
        return map_head(len(value)) + b"".join(pack(key) + pack(each) for key, each in value.items())
    raise TypeError(type(value).__name__)


def integer(value: int) -> bytes:
    if value < 0:
        return struct.pack(">b", value) if value >= -32 else b"\xd3" + struct.pack(">q", value)
    if value < 128:
        return bytes([value])
    for size, code in ((1, 0xCC), (2, 0xCD), (4, 0xCE), (8, 0xCF)):
        if value < 1 << (8 * size):
            return bytes([code]) + value.to_bytes(size, "big")
    raise ValueError(value)


def eight(value: int) -> Raw:
    """The nine-byte form that time and seq always have."""
    return Raw(b"\xcf" + value.to_bytes(8, "big"))


def text_head(size: int) -> bytes:
    return head(size, 0xA0, 32, 0xD9)


def map_head(pairs: int) -> bytes:
    return head(pairs, 0x80, 16, 0xDD)


def head(size: int, fix: int | None, fix_below: int, code: int) -> bytes:
    """`code` is the one-byte form of str and bin; lists and maps have none, theirs would be `code`."""
    if fix is not None and size < fix_below:
        return bytes([fix | size])
    if code < 0xDB and size < 1 << 8:
        return bytes([code, size])
    if size < 1 << 16:
        return bytes([code + 1]) + size.to_bytes(2, "big")
    return bytes([code + 2]) + size.to_bytes(4, "big")
