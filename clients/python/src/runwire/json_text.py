"""JSON in and out: what may be appended, and exact reading of what comes back.

What no language could read back is refused before anything is sent: NaN, integers beyond 2^53-1, keys that are not
text, broken text. The rest is sent in canonical form, so that the engine only has to look at it.

>>> to_text({"step": 1, "note": "fine"})
'{"note":"fine","step":1}'
>>> to_text({"score": float("nan")})
Traceback (most recent call last):
    ...
runwire.errors.Invalid: invalid: data.score: nan is not a JSON number
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from runwire import canonical
from runwire.errors import Invalid, TooLarge
from runwire.limits import DATA_BYTES_MAX, DEPTH_MAX, UINT_MAX

_EXACT_DIGITS = 15
"""No two integers of so many digits are the same double."""


def to_text(data: Any) -> str:
    """Canonical JSON text of `data`. `Invalid` or `TooLarge`, naming the place that is wrong."""
    if data is None:
        return "{}"
    _check(data, "data", 0)
    return _bounded(canonical.dumps(data))


def _bounded(text: str) -> str:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as problem:
        raise Invalid("data: text with half a surrogate pair is not UTF-8") from problem
    if size > DATA_BYTES_MAX:
        raise TooLarge(f"data: {size} bytes, at most {DATA_BYTES_MAX}", {"bytes_max": DATA_BYTES_MAX})
    return text


def canonicalise(text: bytes) -> str:
    """The canonical form of any valid JSON text, as the engine makes it. `Invalid` or `TooLarge`."""
    try:
        value = json.loads(
            text.decode("utf-8"), parse_constant=_refuse_constant, parse_int=_number, object_pairs_hook=_object
        )
    except RecursionError as problem:
        raise TooLarge(f"data: nested more than {DEPTH_MAX} deep", {"depth_max": DEPTH_MAX}) from problem
    except ValueError as problem:
        raise Invalid(f"data: not JSON: {problem}") from problem
    _check(value, "data", 0)
    return _bounded(canonical.dumps(value))


def from_text(text: str) -> Any:
    """The value of an event's data. `Invalid` where the text is not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise Invalid(f"data: not JSON: {problem}") from problem


def _number(digits: str) -> int | float:
    """Like any number: a double, and an integer where no other integer is the same double."""
    return int(digits) if len(digits) <= _EXACT_DIGITS else float(digits)


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        raise ValueError("an object has a key twice")
    return made


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
        if UINT_MAX < abs(value) < canonical.EXPONENT_FROM:
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
