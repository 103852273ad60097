"""Headers: one bounded msgpack map, first key `v`; and a reader that checks each field it is asked for.

>>> frame = encode_header({"op": "hello", "rid": 1})
>>> frame.hex()
'83a17601a26f70a568656c6c6fa372696401'
>>> decode_header(frame).uint("rid")
1
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, NoReturn

import msgpack

from runwire import limits
from runwire.errors import Fact, Invalid, TooLarge, Unsupported

PROTOCOL_MAJOR = 1
_CONTAINERS = (dict, list)


def encode_header(fields: Mapping[str, Any]) -> bytes:
    """`v` and then `fields`, those that are None left out."""
    header = {"v": PROTOCOL_MAJOR}
    header.update((key, value) for key, value in fields.items() if value is not None)
    frame: bytes = msgpack.packb(header, use_bin_type=True)
    if len(frame) > limits.MESSAGE_BYTES_MAX:
        raise TooLarge(f"message: at most {limits.MESSAGE_BYTES_MAX} bytes")
    return frame


def decode_header(frame: bytes) -> Fields:
    """The fields of a header. `Invalid`, `TooLarge`, or `Unsupported` for another major."""
    fields = _unpack(frame)
    if not isinstance(fields, dict) or next(iter(fields), None) != "v":
        raise Invalid("header: not a map whose first key is v")
    major = fields["v"]
    if type(major) is not int or major != PROTOCOL_MAJOR:
        raise Unsupported(f"protocol {major} is not known", {"supported": str(PROTOCOL_MAJOR)})
    return Fields(fields)


def _unpack(frame: bytes) -> Any:
    if len(frame) > limits.MESSAGE_BYTES_MAX:
        raise TooLarge(f"message: at most {limits.MESSAGE_BYTES_MAX} bytes")
    # A declared length beyond the bytes present is refused before anything is allocated for it.
    size = len(frame)
    unpacker = msgpack.Unpacker(
        raw=False,
        strict_map_key=True,
        unicode_errors="strict",
        max_buffer_size=max(size, 1),
        max_str_len=size,
        max_bin_len=size,
        max_array_len=min(size, limits.TOKENS_MAX),
        max_map_len=min(size, limits.TOKENS_MAX),
        max_ext_len=0,
        ext_hook=_refuse_extension,
        object_pairs_hook=_unique,
    )
    try:
        unpacker.feed(frame)
        value = unpacker.unpack()
    except msgpack.OutOfData as problem:
        raise Invalid("header: truncated") from problem
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as problem:
        raise Invalid(f"header: {problem or type(problem).__name__}") from problem
    if unpacker.tell() != size:
        raise Invalid("header: bytes behind its one value")
    _check_depth(value)
    return value


def _unique(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key is double")
    if not all(type(key) is str for key in fields):
        raise ValueError("a key is not a str")
    return fields


def _refuse_extension(code: int, _: bytes) -> NoReturn:
    raise ValueError(f"extension type {code} is refused")


def _check_depth(value: Any) -> None:
    """Level by level, so that depth costs no stack; also bounds how many values there are."""
    level: list[Any] = [value] if type(value) in _CONTAINERS else []
    seen = 1
    for _ in range(limits.DEPTH_MAX):
        deeper: list[Any] = []
        for container in level:
            inner = container.values() if type(container) is dict else container
            deeper += [each for each in inner if type(each) in _CONTAINERS]
            seen += len(container)
        if seen > limits.TOKENS_MAX:
            raise TooLarge(f"header: at most {limits.TOKENS_MAX} values")
        if not deeper:
            return
        level = deeper
    raise TooLarge(f"header: nested more than {limits.DEPTH_MAX} deep")


class Fields:
    """The fields of one map, each checked when it is read. Unknown ones are ignored."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def __contains__(self, key: str) -> bool:
        return key in self._fields

    @property
    def raw(self) -> Mapping[str, Any]:
        """All of them, unchecked."""
        return self._fields

    def keys(self) -> Iterable[str]:
        return self._fields.keys()

    def uint(self, key: str, default: int | None = None) -> int:
        value = self._fields.get(key, default)
        if type(value) is not int or not 0 <= value <= limits.UINT_MAX:
            raise Invalid(f"{key}: not an unsigned integer below 2^53")
        return value

    def text(self, key: str, default: str | None = None, bytes_max: int = limits.HEADER_TEXT_BYTES_MAX) -> str:
        value = self._fields.get(key, default)
        if type(value) is not str:
            raise Invalid(f"{key}: not text")
        if len(value.encode()) > bytes_max:
            raise TooLarge(f"{key}: at most {bytes_max} bytes")
        return value

    def maybe_text(self, key: str, bytes_max: int = limits.HEADER_TEXT_BYTES_MAX) -> str | None:
        return self.text(key, bytes_max=bytes_max) if key in self._fields else None

    def flag(self, key: str, default: bool | None = None) -> bool:
        value = self._fields.get(key, default)
        if type(value) is not bool:
            raise Invalid(f"{key}: not true or false")
        return value

    def bin16(self, key: str) -> bytes:
        value = self._fields.get(key)
        if type(value) is not bytes or len(value) != 16:
            raise Invalid(f"{key}: not 16 bytes")
        return value

    def uints(self, key: str, count_max: int, default: list[int] | None = None) -> list[int]:
        values = self.items(key, count_max, default)
        for value in values:
            if type(value) is not int or not 0 <= value <= limits.UINT_MAX:
                raise Invalid(f"{key}: not a list of unsigned integers below 2^53")
        return values

    def texts(self, key: str, count_max: int) -> list[str]:
        values = self.items(key, count_max)
        if not all(type(value) is str for value in values):
            raise Invalid(f"{key}: not a list of text")
        return values

    def maps(self, key: str, count_max: int) -> list[Fields]:
        values = self.items(key, count_max)
        if not all(type(value) is dict for value in values):
            raise Invalid(f"{key}: not a list of maps")
        return [Fields(value) for value in values]

    def map(self, key: str) -> Fields:
        value = self._fields.get(key)
        if type(value) is not dict:
            raise Invalid(f"{key}: not a map")
        return Fields(value)

    def items(self, key: str, count_max: int, default: list[Any] | None = None) -> list[Any]:
        values = self._fields.get(key, default)
        if type(values) is not list:
            raise Invalid(f"{key}: not a list")
        if len(values) > count_max:
            raise TooLarge(f"{key}: at most {count_max} entries")
        return values

    def facts(self, key: str, count_max: int = limits.FACTS_MAX) -> dict[str, Fact]:
        """A map str -> uint or str; entries of other forms are a newer peer's and left out."""
        if key not in self._fields:
            return {}
        found: dict[str, Fact] = {}
        for name, value in list(self.map(key)._fields.items())[:count_max]:
            if type(value) is int or type(value) is str:
                found[name] = value
        return found
