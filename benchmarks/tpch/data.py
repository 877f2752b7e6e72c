"""TPC-H's tables, queries and reference answers, from DuckDB's extension, which a package on PyPI brings along."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from benchmarks import answers

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
REFERENCE = (0.01, 0.1, 1.0)
"""Scale factors for which there are reference answers."""


def connect(threads: int = 2):  # type: ignore[no-untyped-def]
    """Return a DuckDB connection that knows ``dbgen``."""
    import duckdb
    import duckdb_extension_tpch

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    (extension,) = Path(duckdb_extension_tpch.__file__).parent.rglob("*.duckdb_extension")
    connection.load_extension(str(extension))
    return connection


def files(scratch: Path, scale: float) -> dict[str, Path]:
    """Return the tables as Parquet files, by name; makes them once per scale factor and folder."""
    folder = scratch / f"tpch-{scale:g}"
    found = {name: folder / f"{name}.parquet" for name in TABLES}
    if not folder.exists():
        draft = folder.with_suffix(".draft")
        draft.mkdir(parents=True, exist_ok=True)
        with connect() as connection:
            connection.execute(f"CALL dbgen(sf = {scale})")
            for name in TABLES:
                connection.execute(f"COPY {name} TO '{draft / name}.parquet' (FORMAT parquet)")
        draft.rename(folder)
    return found


def queries() -> dict[str, str]:
    """Return the 22 queries with the parameters of the validation, by name: ``q1`` to ``q22``."""
    with connect() as connection:
        rows = connection.execute("SELECT query_nr, query FROM tpch_queries() ORDER BY query_nr").fetchall()
    return {f"q{number}": text.strip().rstrip(";") for number, text in rows}


def reference(scale: float, name: str, schema: pa.Schema) -> pa.Table | None:
    """Return the reference answer of a query, with the types of ``schema``; None where there is none."""
    if scale not in REFERENCE:
        return None
    with connect() as connection:
        (text,) = connection.execute(
            "SELECT answer FROM tpch_answers() WHERE query_nr = ? AND scale_factor = ?", [int(name[1:]), scale]
        ).fetchone()
    return answers.from_text(text, schema)
