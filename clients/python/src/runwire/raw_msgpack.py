"""msgpack at the level of its bytes, for what must be exact: shortest forms and skipped values.

>>> uint_bytes(300).hex(), text_bytes(b"ab").hex()
('cd012c', 'a26162')
>>> skip_value(bytes.fromhex("9301a161c0ff"), 0, 1)
5
"""

from __future__ import annotations

from typing import Final

from runwire.errors import Invalid, TooLarge
from runwire.limits import DEPTH_MAX

_SHORTEST_FROM: Final = {1: 0, 2: 1 << 8, 4: 1 << 16, 8: 1 << 32}
"""Size of a length or number -> the smallest value that needs that size."""


def map_head(count: int) -> bytes:
    """The head of a map of at most 65535 entries."""
    return bytes([0x80 | count]) if count < 16 else b"\xde" + count.to_bytes(2, "big")


def text_bytes(text: bytes) -> bytes:
    """A str of these UTF-8 bytes in shortest form."""
    size = len(text)
    if size < 32:
        return bytes([0xA0 | size]) + text
    if size < 1 << 8:
        return bytes([0xD9, size]) + text
    if size < 1 << 16:
        return b"\xda" + size.to_bytes(2, "big") + text
    return b"\xdb" + size.to_bytes(4, "big") + text


def uint_bytes(value: int) -> bytes:
    """An unsigned integer in shortest form."""
    if value < 0x80:
        return bytes([value])
    for head, size in ((0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
        if value < 1 << (8 * size):
            return bytes([head]) + value.to_bytes(size, "big")
    raise Invalid(f"{value} does not fit in 64 bits")


def read_uint(frame: bytes, offset: int, name: str) -> tuple[int, int]:
    """An unsigned integer in shortest form, and the offset behind it."""
    head = _head(frame, offset, name)
    if head < 0x80:
        return head, offset + 1
    if 0xCC <= head <= 0xCF:
        size = 1 << (head - 0xCC)
        value = _number(frame, offset + 1, size, name)
        least = 0x80 if size == 1 else _SHORTEST_FROM[size]
        if value >= least:
            return value, offset + 1 + size
    raise Invalid(f"{name}: no unsigned integer in shortest form")


def read_text(
    frame: bytes, offset: int, bytes_max: int, name: str, shortest: bool = True
) -> tuple[str, int]:
    """A str of valid UTF-8 and the offset behind it; checked against the bytes present, then its bound."""
    head = _head(frame, offset, name)
    offset += 1
    if 0xA0 <= head <= 0xBF:
        size = head & 0x1F
    elif 0xD9 <= head <= 0xDB:
        width = 1 << (head - 0xD9)
        size = _number(frame, offset, width, name)
        offset += width
        least = 32 if width == 1 else _SHORTEST_FROM[width]
        if shortest and size < least:
            raise Invalid(f"{name}: a str that is not in shortest form")
    else:
        raise Invalid(f"{name}: not a str")
    if size > len(frame) - offset:
        raise Invalid(f"{name}: truncated")
    if size > bytes_max:
        raise TooLarge(f"{name}: {size} bytes, at most {bytes_max}")
    text = frame[offset : offset + size]
    try:
        return text.decode("utf-8"), offset + size
    except UnicodeDecodeError as problem:
        raise Invalid(f"{name}: not UTF-8") from problem


def skip_value(frame: bytes, offset: int, depth: int) -> int:
    """The offset behind the value at `offset`, which may be anything but an extension type.

    `depth` is how many containers are around it; recursion ends at DEPTH_MAX.
    """
    head = _head(frame, offset, "value")
    offset += 1
    if head < 0x80 or head >= 0xE0 or head in (0xC0, 0xC2, 0xC3):
        return offset
    if head < 0x90:
        return _skip_map(frame, offset, head & 0x0F, depth)
    if head < 0xA0:
        return _skip_list(frame, offset, head & 0x0F, depth)
    if head < 0xC0 or 0xD9 <= head <= 0xDB:
        return read_text(frame, offset - 1, len(frame), "value", shortest=False)[1]
    if 0xC4 <= head <= 0xC6:
        width = 1 << (head - 0xC4)
        return _skip_bytes(frame, offset + width, _number(frame, offset, width, "value"))
    if head in (0xCA, 0xCB):
        return _skip_bytes(frame, offset, 4 if head == 0xCA else 8)
    if 0xCC <= head <= 0xD3:
        return _skip_bytes(frame, offset, 1 << ((head - 0xCC) & 3))
    if head in (0xDC, 0xDD):
        width = 2 if head == 0xDC else 4
        return _skip_list(frame, offset + width, _number(frame, offset, width, "value"), depth)
    if head in (0xDE, 0xDF):
        width = 2 if head == 0xDE else 4
        return _skip_map(frame, offset + width, _number(frame, offset, width, "value"), depth)
    raise Invalid(f"value: the form {head:#x} is not allowed")


def _skip_bytes(frame: bytes, offset: int, size: int) -> int:
    if offset + size > len(frame):
        raise Invalid("value: truncated")
    return offset + size


def _skip_list(frame: bytes, offset: int, count: int, depth: int) -> int:
    _check_container(frame, offset, count, depth)
    for _ in range(count):
        offset = skip_value(frame, offset, depth + 1)
    return offset


def _skip_map(frame: bytes, offset: int, count: int, depth: int) -> int:
    _check_container(frame, offset, 2 * count, depth)
    seen: set[str] = set()
    for _ in range(count):
        key, offset = read_text(frame, offset, len(frame), "key", shortest=False)
        if key in seen:
            raise Invalid(f"value: the key {key!r} is double")
        seen.add(key)
        offset = skip_value(frame, offset, depth + 1)
    return offset


def _check_container(frame: bytes, offset: int, values: int, depth: int) -> None:
    if depth >= DEPTH_MAX:
        raise TooLarge(f"value: nested more than {DEPTH_MAX} deep", {"depth_max": DEPTH_MAX})
    if values > len(frame) - offset:
        raise Invalid("value: truncated")


def _head(frame: bytes, offset: int, name: str) -> int:
    if offset >= len(frame):
        raise Invalid(f"{name}: truncated")
    return frame[offset]


def _number(frame: bytes, offset: int, size: int, name: str) -> int:
    digits = frame[offset : offset + size]
    if len(digits) != size:
        raise Invalid(f"{name}: truncated")
    return int.from_bytes(digits, "big")
