"""What may be appended: refused before it is sent, with the place that is wrong."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import pytest

import runwire
from runwire import canonical, limits
from runwire.json_text import from_text, to_text


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_c23_the_depth_bound_has_two_sides() -> None:
    assert from_text(to_text(nested(limits.DEPTH_MAX))) == nested(limits.DEPTH_MAX)
    for depth in (limits.DEPTH_MAX + 1, 100_000):
        with pytest.raises(runwire.TooLarge):
            to_text(nested(depth))


def test_c23_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(runwire.TooLarge):
        to_text(loop)


@pytest.mark.parametrize("number", [2**53 - 1, -(2**53 - 1), 0, 1.5, 5e-324])
def test_c25_exact_numbers_pass(number: float) -> None:
    assert from_text(to_text({"n": number})) == {"n": number}


@pytest.mark.parametrize("number", [1e21, -1e21, 1e30, 9007199254740991.0])
def test_c25_large_numbers_with_an_exponent_pass(number: float) -> None:
    assert from_text(to_text({"n": number})) == {"n": number}


@pytest.mark.parametrize("number", [9007199254740992.0, -9007199254740992.0, 1e20, -999999999999999900000.0])
def test_c25_large_numbers_that_are_written_in_digits_are_refused(number: float) -> None:
    with pytest.raises(runwire.Invalid, match=r"data\.n.* is beyond 2\^53-1"):
        to_text({"n": number})


@pytest.mark.parametrize("number", [9007199254740993, -9007199254740993, 2**53])
def test_c25_integers_beyond_2_53_are_refused_with_their_place(number: int) -> None:
    with pytest.raises(runwire.Invalid, match=r"data\.a\[1\]\.n"):
        to_text({"a": [0, {"n": number}]})


@pytest.mark.parametrize("key", [1, 1.5, None, True, (1, 2), b"x"])
def test_c25_keys_that_are_not_text_are_refused(key: object) -> None:
    with pytest.raises(runwire.Invalid, match="not text"):
        to_text({key: 1})


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_c26_half_a_surrogate_pair_is_refused(text: str) -> None:
    for value in (text, {"x": text}, {text: 1}):
        with pytest.raises(runwire.Invalid):
            to_text(value)


@pytest.mark.parametrize("value", [b"bytes", object(), {1, 2}, 1j])
def test_c26_bytes_are_not_text(value: object) -> None:
    with pytest.raises(runwire.Invalid, match="no JSON form"):
        to_text({"x": value})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_c28_numbers_that_are_none_are_refused_with_their_place(number: float) -> None:
    with pytest.raises(runwire.Invalid, match=r"data\.score"):
        to_text({"score": number})


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", "", "[" * 100_000])
def test_c28_what_comes_back_is_json_or_an_error(text: str) -> None:
    with pytest.raises(runwire.Invalid):
        from_text(text)


def test_data_has_a_bound_with_two_sides() -> None:
    assert len(to_text("x" * (limits.DATA_BYTES_MAX - 2))) == limits.DATA_BYTES_MAX
    with pytest.raises(runwire.TooLarge):
        to_text("x" * (limits.DATA_BYTES_MAX - 1))


def test_nothing_is_an_empty_object() -> None:
    assert to_text(None) == "{}"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_c28_what_is_not_finite_is_refused_with_its_place(number: float) -> None:
    with pytest.raises(runwire.Invalid, match=r"data\.scores\[1\]"):
        to_text({"scores": [0.5, number]})
    assert to_text({"scores": [0.5, 1.0]}) == '{"scores":[0.5,1]}'


def test_c29_any_double_has_one_form_that_gives_it_back(seed: int = 8785) -> None:
    source = random.Random(seed)
    tried = 0
    while tried < 100_000:
        (number,) = struct.unpack("<d", struct.pack("<Q", source.getrandbits(64)))
        if not math.isfinite(number):
            continue
        tried += 1
        form = canonical.number(number)
        assert float(form) == number, (seed, form)
        assert canonical.number(float(form)) == form


APPENDIX_B = [
    (0x0000000000000000, "0"),
    (0x8000000000000000, "0"),
    (0x0000000000000001, "5e-324"),
    (0x8000000000000001, "-5e-324"),
    (0x7FEFFFFFFFFFFFFF, "1.7976931348623157e+308"),
    (0xFFEFFFFFFFFFFFFF, "-1.7976931348623157e+308"),
    (0x4340000000000000, "9007199254740992"),
    (0xC340000000000000, "-9007199254740992"),
    (0x4430000000000000, "295147905179352830000"),
    (0x44B52D02C7E14AF5, "9.999999999999997e+22"),
    (0x44B52D02C7E14AF6, "1e+23"),
    (0x44B52D02C7E14AF7, "1.0000000000000001e+23"),
    (0x444B1AE4D6E2EF4E, "999999999999999700000"),
    (0x444B1AE4D6E2EF4F, "999999999999999900000"),
    (0x444B1AE4D6E2EF50, "1e+21"),
    (0x3EB0C6F7A0B5ED8C, "9.999999999999997e-7"),
    (0x3EB0C6F7A0B5ED8D, "0.000001"),
    (0x41B3DE4355555553, "333333333.3333332"),
    (0x41B3DE4355555554, "333333333.33333325"),
    (0x41B3DE4355555555, "333333333.3333333"),
    (0x41B3DE4355555556, "333333333.3333334"),
    (0x41B3DE4355555557, "333333333.33333343"),
    (0xBECBF647612F3696, "-0.0000033333333333333333"),
    (0x43143FF3C1CB0959, "1424953923781206.2"),
]
"""RFC 8785, appendix B: the bits of a double and its form."""


@pytest.mark.parametrize("bits, form", APPENDIX_B)
def test_c29_the_samples_of_rfc_8785(bits: int, form: str) -> None:
    (number,) = struct.unpack("<d", struct.pack("<Q", bits))
    assert canonical.number(number) == form


def test_c30_keys_sort_by_utf_16_code_unit() -> None:
    keys = ["\ufb33", "\U0001f600", "1", "\r", "\x80", "\xf6", "\u20ac"]
    assert list(from_text(to_text({key: 0 for key in keys}))) == ["\r", "1", "\x80", "\xf6", "\u20ac", "\U0001f600", "\ufb33"]
    assert to_text({"\ufb33": 2, "\U0001f600": 1}).encode().hex() == "7b22f09f9880223a312c22efacb3223a327d"
