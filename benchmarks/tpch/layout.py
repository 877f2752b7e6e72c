"""How TPC-H is kept in our warehouse: statements of this project's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DISTRIBUTED = {
    "lineitem": ("l_orderkey", None), "orders": ("o_orderkey", "lineitem"),
    "partsupp": ("ps_partkey", None), "part": ("p_partkey", "partsupp"),
}  # fmt: skip
"""The pairs that most joins put together, the large one first: its key, and whose partner a table is."""

CLUSTERED = {"lineitem": "l_shipdate", "orders": "o_orderdate"}
"""By the quarter of which day the rows of a partition lie together; within it they stay in the order of their key."""

PARTITIONS = 4


def statements(files: Mapping[str, Path], in_memory: bool = False) -> tuple[str, ...]:
    """Return what makes the tables of Parquet files; a table's partner is made before it.

    Args:
        files: those of each table.
        in_memory: whether all of them are kept in the columnar memory store, too.
    """
    made = []
    for name in (*DISTRIBUTED, *(n for n in files if n not in DISTRIBUTED)):
        key, partner = DISTRIBUTED.get(name, (None, None))
        placed = (f"'copartition' = '{partner}'" if partner else f"'partitions' = '{PARTITIONS}'") if key else ""
        told = ", ".join(filter(None, (placed, "'cache' = 'true'" if in_memory else "")))
        together = f" DISTRIBUTE BY {key}" if key else ""
        day = CLUSTERED.get(name)
        made.append(
            f"CREATE TABLE {name}{f' TBLPROPERTIES ({told})' if told else ''} AS"
            f" SELECT * FROM parquet.`{files[name]}`{together}"
            + (f" SORT BY date_trunc('QUARTER', {day})" if day else "")
        )
    return tuple(made)
