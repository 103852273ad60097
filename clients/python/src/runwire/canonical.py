"""The canonical form of JSON (RFC 8785): equal values have equal bytes, in every language.

The engine makes this form of whatever valid JSON it is given. A client that sends it already saves the engine the
work, and a consumer that wants a digest of its own values makes it with `dumps`.

>>> dumps({"\\ufb33": 2, "\\U0001f600": 1.0, "n": [1e-07, 0.00001, 1e21, -0.0]})
'{"n":[1e-7,0.00001,1e+21,0],"\U0001f600":1,"\ufb33":2}'
"""

from __future__ import annotations

import json
from typing import Any

EXPONENT_FROM = 1e21
"""From here on a number has an exponent (ECMA-262, Number::toString), which no reader takes for an integer."""
_DIGITS_MAX = 21
"""Digits before the point of a number that has none."""
_ZEROS_MAX = 6
"""Zeros behind the point, from which on a number has one."""

_quote = json.JSONEncoder(ensure_ascii=False).encode


def number(value: float) -> str:
    """A finite float as ECMAScript prints it: the shortest digits that give the same double.

    >>> number(333333333.33333329), number(5e-324), number(1e20), number(-1.5e-9)
    ('333333333.3333333', '5e-324', '100000000000000000000', '-1.5e-9')
    """
    if value == 0:
        return "0"
    # repr has the same shortest digits (David Gay's algorithm); only where the point stands differs.
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return ("-" if value < 0 else "") + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    """`digits` with the point behind the first `point` of them."""
    count = len(digits)
    if count <= point <= _DIGITS_MAX:
        return digits + "0" * (point - count)
    if 0 < point <= _DIGITS_MAX:
        return f"{digits[:point]}.{digits[point:]}"
    if -_ZEROS_MAX < point <= 0:
        return "0." + "0" * -point + digits
    fraction = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


def dumps(value: Any) -> str:
    """Canonical JSON text of a value that `json_text.check` lets through; the value is not checked here.

    Recursion is as deep as the value.
    """
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        members = (f"{_quote(key)}:{dumps(value[key])}" for key in sorted(value, key=utf16))
        return "{" + ",".join(members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(dumps, value)) + "]"
    return _quote(value)


def utf16(key: str) -> bytes:
    """Sorts as UTF-16 code units do: beyond U+FFFF comes before U+E000 .. U+FFFF."""
    return key.encode("utf-16-be", "surrogatepass")
