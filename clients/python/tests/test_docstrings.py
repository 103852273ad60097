"""The examples in the client's docstrings are what it does."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import runwire

MODULES = [f"runwire.{module.name}" for module in pkgutil.iter_modules(runwire.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    tried = sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES)
    assert tried >= 20
