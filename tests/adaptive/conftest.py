"""Tables with a large and a small side, once for all tests here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.statements import rows_of
from warehouse.engine import Engine

TABLES = """
CREATE SCHEMA IF NOT EXISTS adaptive;
CREATE TABLE adaptive.items AS
  SELECT id, id % 2000 AS supplier, concat('item ', hash(id)) AS said, CAST(id % 7 AS INT) AS kind FROM range(60000);
CREATE TABLE adaptive.suppliers AS
  SELECT id AS supplier, concat('street ', id) AS address, CAST(id % 5 AS INT) AS kind FROM range(2000);
CREATE TABLE adaptive.visits AS
  SELECT if(id % 2 = 0, 7, id) AS page, sha2(CAST(id AS STRING), 256) AS said FROM range(60000);
CREATE TABLE adaptive.pages AS SELECT id AS page, sha2(CAST(-id AS STRING), 256) AS title FROM range(30000)
"""
"""``suppliers`` is small, but too large to be broadcast before it is filtered; half of all visits are to one page."""

SMALL = {"spark.sql.autoBroadcastJoinThreshold": "2KB", "spark.sql.shuffle.partitions": "8"}
"""What is large is large on a big machine, too."""


@contextmanager
def settings(engine: Engine, values: dict[str, str]) -> Iterator[None]:
    """Within this, the engine's session has these settings."""
    before = {name: engine.spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        engine.spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                engine.spark.conf.unset(name)
            else:
                engine.spark.conf.set(name, old)


PLACED = {"spark.sql.autoBroadcastJoinThreshold": "32MB"}
"""On a big machine, too, joins in place are by hashing."""


@dataclass
class Partners:
    """Tables ``many`` and ``few``, partners by each of some keys, in a schema for each key.

    Args:
        engine: makes them, those of a key when it is first used.
        schema: the schemas are called by it, ``_`` and the key's name.
        keys: SQL of each key, by its name.
        many, few: the other columns of each, and the rows: ``id AS v FROM range(9)``.
    """

    engine: Engine
    schema: str
    keys: dict[str, str]
    many: str
    few: str
    made: set[str] = field(default_factory=set)

    def use(self, kind: str) -> Engine:
        """Make the schema of a key the current one; return the engine."""
        schema, key = f"{self.schema}_{kind}", f"{self.keys[kind]} AS {kind}"
        made = f"""CREATE SCHEMA {schema}; USE {schema};
            CREATE TABLE many AS SELECT {key}, {self.many} DISTRIBUTE BY {kind};
            CREATE TABLE few TBLPROPERTIES ('copartition' = 'many') AS SELECT {key}, {self.few} DISTRIBUTE BY {kind}"""
        rows_of(self.engine, f"USE {schema}" if kind in self.made else made)
        self.made.add(kind)
        return self.engine


@contextmanager
def in_memory(engine: Engine, *tables: str) -> Iterator[None]:
    """Within this, tables are in memory."""
    rows_of(engine, "; ".join(f"CACHE TABLE {table}" for table in tables))
    try:
        yield
    finally:
        rows_of(engine, "; ".join(f"UNCACHE TABLE {table}" for table in tables))


def answered(engine: Engine, query: str) -> tuple[str, list[str]]:
    """Return the plan of a query as it ended, and the rows, each as text, in order."""
    frame = engine.spark.sql(query)
    rows = sorted(map(str, frame.collect()))
    return frame._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0], rows


@pytest.fixture(scope="module")
def tables(engine: Engine) -> Iterator[Engine]:
    """Return the engine with the tables, their schema being the current one."""
    exists = engine.spark.catalog.databaseExists("adaptive")
    if not exists:
        list(engine.run(TABLES))
        engine.spark.udf.register("is_rare", lambda address: address is not None and address.endswith("77"), "boolean")
    list(engine.run("USE adaptive"))
    with settings(engine, SMALL):
        yield engine
    list(engine.run("USE default"))


@pytest.fixture
def analyzed(tables: Engine) -> Callable[[str], str]:
    """Return what EXPLAIN ANALYZE prints of a statement."""

    def analyze(statement: str) -> str:
        (result,) = tables.run(f"EXPLAIN ANALYZE {statement}")
        return next(iter(result.batches)).to_pylist()[0]["plan"]

    return analyze


def code_of_join(engine: Engine, query: str) -> str:
    """Return the generated code that makes a join's table of hashed rows."""
    frame = engine.spark.sql(query)
    frame.collect()
    debug = getattr(getattr(engine.spark._jvm.org.apache.spark.sql.execution.debug, "package$"), "MODULE$")
    whole = debug.codegenString(frame._jdf.queryExecution().executedPlan())
    made = (".buildHashedRelation(", "takingRows")
    (join,) = [part for part in whole.split("== Subtree ") if any(its in part for its in made)]
    return join
