"""The benchmarks' queries give DuckDB's answers, on small data.

Some of TPC-H's run by default, one of each trait that others have too; ``TPCH=all`` runs the 22.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import answers, pavlo, status, tpch
from benchmarks.systems import Duck, Warehouse, opened
from tests.soak import soaked

if TYPE_CHECKING:
    from warehouse.engine import Engine


QUERIES = os.environ.get("TPCH", "q3,q13,q16,q21").split(",")


@pytest.mark.parametrize("in_memory", [soaked(False), True])
def test_tpch_has_the_reference_answers(engine: Engine, schema: str, tmp_path: Path, in_memory: bool) -> None:
    """At scale factor 0.01, DuckDB's answers are the reference and ours are DuckDB's."""
    system = Warehouse(engine)
    files, queries = tpch.data.files(tmp_path, 0.01), tpch.data.queries()
    assert list(queries) == [f"q{number}" for number in range(1, 23)]
    queries = queries if QUERIES == ["all"] else {name: queries[name] for name in QUERIES}
    for statement in tpch.layout.statements(files, in_memory):
        system.run(statement)
    expected = tpch.expectations(0.01, files, queries)
    wrong = {
        name: told
        for name, text in queries.items()
        if (told := answers.difference(text, system.run(text), expected[name]))
    }
    assert not wrong


@pytest.mark.parametrize("query", pavlo.QUERIES)
def test_pavlo(engine: Engine, pavlo_files: dict[str, Path], query: str) -> None:
    """Each query over tables of ours gives what DuckDB gives, and is no empty answer."""
    text = pavlo.QUERIES[query]
    with opened(Duck({name: folder / "*.parquet" for name, folder in pavlo_files.items()})) as duck:
        expected = duck.run(text)
    assert expected.num_rows > 0
    with status.watched(engine.spark) as seen:
        mine = Warehouse(engine).run(text)
    assert answers.difference(text, mine, expected) is None
    assert seen.tasks > 0 and seen.stages and seen.operators


@pytest.fixture(scope="module")
def pavlo_files(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    list(engine.run("CREATE SCHEMA pavlo; USE pavlo"))
    files = pavlo.data.write(engine.spark, tmp_path_factory.mktemp("pavlo"), 0.01)
    for name, folder in files.items():
        list(engine.run(f"CREATE TABLE {name} AS SELECT * FROM parquet.`{folder}`"))
    yield files
    list(engine.run("USE default"))
