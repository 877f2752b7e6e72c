"""Cases of a parametrized test that take longer than the suite can spare: ``make soak`` runs them."""

from __future__ import annotations

from functools import partial

import pytest

soaked = partial(pytest.param, marks=pytest.mark.soak)
