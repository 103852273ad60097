"""C36: old data comes up to date, newer data is carried, and neither is guessed at."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

import runwire
from runwire import limits


def idea(version: int, data_json: str = '{"text":"x"}', type: str = "notes.idea") -> runwire.Event:
    seq = 7 if version else 0
    return runwire.Event(uuid.UUID(int=1), type, 5, "run-1", seq, version, 9, {"node": "a"}, data_json, b"as it came")


def two_steps() -> runwire.Upcasts:
    upcasts = runwire.Upcasts()

    @upcasts.step("notes.idea", 1)
    def two(data: Any) -> Any:
        return {"two": data}

    @upcasts.step("notes.idea", 2)
    def three(data: Any) -> Any:
        return {"three": data}

    return upcasts


def test_c36_every_step_that_is_due_and_nothing_else() -> None:
    upcasts = two_steps()
    assert upcasts(idea(1)) == idea(3, '{"three":{"two":{"text":"x"}}}')
    assert upcasts(idea(2)) == idea(3, '{"three":{"text":"x"}}')
    assert upcasts.newest("notes.idea") == 3


@pytest.mark.parametrize("event", [idea(3), idea(4), idea(limits.VERSION_MAX), idea(1, type="notes.other"), idea(0)])
def test_c36_the_newest_the_newer_and_what_has_no_steps_stay(event: runwire.Event) -> None:
    assert two_steps()(event) is event


def test_what_is_older_than_the_first_step_is_unsupported() -> None:
    upcasts = runwire.Upcasts()
    upcasts.step("notes.idea", 5)(lambda data: data)
    with pytest.raises(runwire.Unsupported, match="4 is older than the first step, from 5"):
        upcasts(idea(4))


def test_what_a_step_makes_is_checked_like_any_data() -> None:
    upcasts = runwire.Upcasts()
    upcasts.step("notes.idea", 1)(lambda data: {"score": float("nan")})
    with pytest.raises(runwire.Invalid, match="data.score"):
        upcasts(idea(1))


@pytest.mark.parametrize("version", [0, 1, 2, 4, limits.VERSION_MAX])
def test_steps_follow_each_other(version: int) -> None:
    with pytest.raises(runwire.Invalid, match="does not follow"):
        two_steps().step("notes.idea", version)


def test_one_decorator_adds_one_step() -> None:
    decorator = two_steps().step("notes.idea", 3)
    decorator(lambda data: data)
    with pytest.raises(runwire.Invalid, match="already"):
        decorator(lambda data: data)


def test_the_table_has_a_bound() -> None:
    upcasts = runwire.Upcasts()
    for version in range(1, limits.UPCAST_STEPS_MAX + 1):
        upcasts.step("notes.idea", version)(lambda data: data)
    with pytest.raises(runwire.TooLarge):
        upcasts.step("notes.other", 1)
