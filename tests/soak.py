"""Cases of a parametrized test that take longer than the suite can spare: ``make soak`` runs them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

soaked = partial(pytest.param, marks=pytest.mark.soak)


def sampled(cases: Iterable[Any]) -> list[Any]:
    """Return all cases, each a value or a tuple of several; every second one is soaked."""
    return [
        soaked(*(case if isinstance(case, tuple) else (case,))) if number % 2 else case
        for number, case in enumerate(cases)
    ]
