"""What Spark says of a setting when it starts is an error about that setting."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from warehouse.errors import WarehouseError
from warehouse.execution import session

SETTINGS = {
    "spark.app.name": "warehouse",
    "spark.memory.fraction": "lots",
    "spark.speculation": "maybe",
    "spark.speculation.quantile": "x",
}


def raised(said: str) -> Any:
    return SimpleNamespace(_origin=SimpleNamespace(getMessage=lambda: said))


@pytest.mark.parametrize(
    ("said", "setting"),
    [
        ("The value 'maybe' in the config \"spark.speculation\" is invalid.", "spark.speculation"),
        ("The value 'x' in the config \"spark.speculation.quantile\" is invalid.", "spark.speculation.quantile "),
        ('For input string: "lots"', "spark.memory.fraction"),
    ],
)
def test_the_setting_is_named(said: str, setting: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        session._blame_setting(raised(said), SETTINGS)
    assert caught.value.condition == "WAREHOUSE_SETTING_INVALID"
    assert setting in str(caught.value) and said in str(caught.value)


def test_what_is_about_no_setting_stays_what_it_is() -> None:
    session._blame_setting(raised("Address already in use"), SETTINGS)
