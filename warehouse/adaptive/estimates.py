"""What the order of a join's sides may know of tables: how many distinct values their columns have.

Rows and bytes need not be told: Spark has them from Delta. A number that is out of date makes a plan slower at worst.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.adaptive.rules import SOURCES
from warehouse.execution.java_sources import load


def tell(gateway: Any, schema: str, table: str, distinct: Mapping[str, int]) -> None:
    """Make known how many distinct values the columns of a table have; no columns: forget the table.

    Args:
        gateway: Py4J's.
        schema: of the table.
        table: its name.
        distinct: by the names of columns, those of which it is known.
    """
    known = gateway.jvm.java.util.HashMap()
    for column, number in distinct.items():
        known.put(column, number)
    estimates = load(gateway, SOURCES, "warehouse.adaptive.Estimates")
    types = gateway.new_array(gateway.jvm.java.lang.Class, 2)
    types[0], types[1] = (gateway.jvm.java.lang.Class.forName(f"java.{name}") for name in ("lang.String", "util.Map"))
    given = gateway.new_array(gateway.jvm.java.lang.Object, 2)
    given[0], given[1] = f"{schema}.{table}", known
    estimates.getMethod("tell", types).invoke(None, given)
