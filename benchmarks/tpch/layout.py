"""How TPC-H is kept in our warehouse: statements of this project's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DISTRIBUTED = {
    "lineitem": ("l_orderkey", None), "orders": ("o_orderkey", "lineitem"),
    "partsupp": ("ps_partkey", None), "part": ("p_partkey", "partsupp"),
}  # fmt: skip
"""The pairs that most joins put together, the large one first: its key, and whose partner a table is."""

PARTITIONS = 4


def statements(files: Mapping[str, Path]) -> tuple[str, ...]:
    """Return what makes the tables of Parquet files; a table's partner is made before it."""
    made = []
    for name in (*DISTRIBUTED, *(n for n in files if n not in DISTRIBUTED)):
        key, partner = DISTRIBUTED.get(name, (None, None))
        told = f"'copartition' = '{partner}'" if partner else f"'partitions' = '{PARTITIONS}'"
        made.append(
            f"CREATE TABLE {name}{f' TBLPROPERTIES ({told})' if key else ''} AS"
            f" SELECT * FROM parquet.`{files[name]}`{f' DISTRIBUTE BY {key}' if key else ''}"
        )
    return tuple(made)
