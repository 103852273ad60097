"""What may be appended: refused before it is sent, with the place that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

import runwire
from runwire import limits
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
