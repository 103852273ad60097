"""JSON in and out: what may be appended, and exact reading of what comes back.

The engine makes the canonical form (RFC 8785); this only refuses, before anything is sent, what no
language could read back: NaN, integers beyond 2^53-1, keys that are not text, broken text.

>>> to_text({"step": 1, "note": "fine"})
'{"step":1,"note":"fine"}'
>>> to_text({"score": float("nan")})
Traceback (most recent call last):
    ...
runwire.errors.Invalid: invalid: data.score: nan is not a JSON number
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from runwire.errors import Invalid, TooLarge
from runwire.limits import DATA_BYTES_MAX, DEPTH_MAX, UINT_MAX

EXPONENT_FROM = 1e21
"""From here on canonical JSON writes a number with an exponent (RFC 8785, 3.2.2.3), which no reader takes for an integer."""


def to_text(data: Any) -> str:
    """Compact JSON text of `data`. `Invalid` or `TooLarge`, naming the place that is wrong."""
    if data is None:
        return "{}"
    _check(data, "data", 0)
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as problem:
        raise Invalid("data: text with half a surrogate pair is not UTF-8") from problem
    if size > DATA_BYTES_MAX:
        raise TooLarge(f"data: {size} bytes, at most {DATA_BYTES_MAX}", {"bytes_max": DATA_BYTES_MAX})
    return text


def from_text(text: str) -> Any:
    """The value of an event's data. `Invalid` where the text is not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise Invalid(f"data: not JSON: {problem}") from problem


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _check(value: Any, place: str, depth: int) -> None:
    """Recursion is bounded by DEPTH_MAX, so a value that contains itself ends here too."""
    if isinstance(value, (str, bool)) or value is None:
        return
    if isinstance(value, int):
        if abs(value) > UINT_MAX:
            raise Invalid(f"{place}: {value} is beyond 2^53-1; send it as text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise Invalid(f"{place}: {value} is not a JSON number")
        if UINT_MAX < abs(value) < EXPONENT_FROM:
            raise Invalid(f"{place}: {value} is beyond 2^53-1 and canonical JSON writes it in digits; send it as text")
    elif isinstance(value, (dict, list, tuple)):
        if depth == DEPTH_MAX:
            raise TooLarge(f"{place}: nested more than {DEPTH_MAX} deep", {"depth_max": DEPTH_MAX})
        _check_items(value, place, depth + 1)
    else:
        raise Invalid(f"{place}: {type(value).__name__} has no JSON form")


def _check_items(value: dict[Any, Any] | list[Any] | tuple[Any, ...], place: str, depth: int) -> None:
    if not isinstance(value, dict):
        for index, item in enumerate(value):
            _check(item, f"{place}[{index}]", depth)
        return
    for key, item in value.items():
        if not isinstance(key, str):
            raise Invalid(f"{place}: the key {key!r} is not text")
        _check(item, f"{place}.{key}", depth)
