"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import warehouse


def with_examples() -> list[str]:
    """Return the modules that hold an example, without importing them."""
    home = Path(warehouse.__file__).parent
    files = [file for file in sorted(home.rglob("*.py")) if "    >>> " in file.read_text(encoding="utf-8")]
    return [".".join(file.relative_to(home.parent).with_suffix("").parts) for file in files]


@pytest.mark.parametrize("name", with_examples())
def test_examples(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried and not failed
