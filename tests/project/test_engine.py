"""A project that is run, tested and told about on an engine that is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import Done
from tests.project.test_run import told
from warehouse.cli.main import main

if TYPE_CHECKING:
    from warehouse.engine import Engine


class Borrowed:
    """An engine that stays open when the command line closes it."""

    def __init__(self, engine: Engine):
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def close(self) -> None:
        """Leave it open."""


SMALL = {
    "readings.sql": "{{ config(materialized='table') }}\n"
    "SELECT * FROM VALUES ('A', 1), ('B', -2), (NULL, 3), ('A', 4) AS t(station, v) -- all there are",
    "stations.sql": "SELECT 'A' AS name",
    "live.sql": "CREATE STREAMING TABLE IF NOT EXISTS live AS SELECT station, sum(v) AS total FROM STREAM readings"
    " GROUP BY station WINDOW GLOBAL TRIGGER EVERY ROW",
    "schema.yml": """
        models:
          - name: readings
            description: What was read.
            columns:
              - name: station
                data_tests: [unique, not_null, relationships: {to: ref('stations'), field: name}]
              - name: v
                data_tests: [accepted_values: {values: [1, "-2", 3, 4]}, not_null: {where: v > :least}]
        """,
    "tests/none_below.sql": "SELECT * FROM readings WHERE v < :least ORDER BY v -- wrong",
    "tests/by_station.sql": "SELECT station FROM STREAM readings GROUP BY station HAVING count(*) > 2 WINDOW GLOBAL",
}


Called = Callable[..., Done]


@pytest.fixture
def called(engine: Engine, schema: str, capfdbinary: pytest.CaptureFixture[bytes]) -> Called:
    """Return ``called(*words)``, which runs the command line for the project ``p`` in a schema of its own."""
    opened = Borrowed(engine)

    def run(*words: str) -> Done:
        code = main((*words, "--project", "p"), lambda *_, **__: opened)
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return run


def rows(engine: Engine, query: str) -> list[dict[str, Any]]:
    (result,) = engine.run(query)
    return [row for batch in result.batches for row in batch.to_pylist()]


def outcomes(done: Done) -> list[str]:
    return [line.split(" (")[0] for line in told(done) if " of " in line]


@pytest.mark.soak
def test_a_streaming_table_whose_query_is_edited(engine: Engine, called: Called, write: Callable[..., None]) -> None:
    model = (
        "{{{{ config(materialized='streaming_table') }}}}\nSELECT k, {} FROM STREAM src GROUP BY k TRIGGER EVERY ROW"
    )

    def ran(columns: str, extra: dict[str, str] | None = None) -> Done:
        write({"agg.sql": model.format(columns), **(extra or {})})
        return called("run")

    source = {"src.sql": "CREATE TABLE IF NOT EXISTS src AS SELECT * FROM VALUES (1, 2), (1, 5) AS t(k, v)"}
    assert outcomes(ran("sum(v) AS s", source)) == [
        "1 of 2 OK created table src",
        "2 of 2 OK created streaming table agg",
    ]
    assert outcomes(ran("SUM( v )  as s /* all */"))[1] == "2 of 2 OK refreshed streaming table agg"
    done = ran("sum(v) AS s, 2 * sum(v) AS d")
    assert outcomes(done)[1] == "2 of 2 OK replaced streaming table agg: continues"
    assert "column d is added: NULL in panes emitted so far" in done.err
    assert rows(engine, "SELECT * FROM agg") == [{"k": 1, "s": 7, "d": None}]
    done = ran("sum(v) AS s, max(v) AS m")
    assert outcomes(done)[1] == "2 of 2 OK replaced streaming table agg: rebuilt from source"
    assert rows(engine, "SELECT * FROM agg") == [{"k": 1, "s": 7, "m": 5}]
    reader = {"reader.sql": "CREATE STREAMING TABLE IF NOT EXISTS reader AS SELECT k, s FROM STREAM panes('agg')"}
    done = ran("sum(v) AS s, max(v) AS m", reader)
    assert outcomes(done)[1:] == ["2 of 3 OK refreshed streaming table agg", "3 of 3 OK created streaming table reader"]
    done = ran("max(v) AS m")
    assert done.code == 1 and "[WAREHOUSE_REPLACE_REFUSED]" in done.err and "p/agg.sql, line 2" in done.err
    assert rows(engine, "SELECT * FROM agg") == [{"k": 1, "s": 7, "m": 5}]


@pytest.mark.soak
def test_a_query_that_becomes_something_else(engine: Engine, called: Called, write: Callable[..., None]) -> None:
    def ran(kind: str, query: str = "SELECT 1 AS a", **others: str) -> Done:
        write({"m.sql": f"{{{{ config(materialized='{kind}') }}}}\n{query}", **others})
        return called("run", "--select", "m")

    assert outcomes(ran("table")) == ["1 of 1 OK created table m"]
    done = ran("view", "SELECT nope")
    assert done.code == 1 and "p/m.sql, line 2" in done.err and "^^^^" in done.err
    assert rows(engine, "SELECT * FROM m") == [{"a": 1}]
    assert outcomes(ran("view")) == ["1 of 1 OK replaced view m: was a table"]
    assert outcomes(ran("view")) == ["1 of 1 OK created view m"]
    assert outcomes(ran("table", "SELECT 2 AS a")) == ["1 of 1 OK replaced table m: was a view"]
    assert rows(engine, "SELECT * FROM m") == [{"a": 2}]
    list(engine.run("CREATE STREAMING TABLE reader AS SELECT a FROM STREAM m"))
    done = ran("view")
    assert done.code == 1 and "[WAREHOUSE_PROJECT_KIND]" in done.err and ".reader" in done.err
    list(engine.run("DROP STREAMING TABLE reader; DROP TABLE m; CREATE TABLE m AS SELECT 3 AS a"))
    done = ran("view")
    assert done.code == 1 and "p/m.sql, line 2" in done.err and "hint: DROP TABLE m " in done.err
    list(engine.run("DROP TABLE m; CREATE TABLE src AS SELECT 1 AS a"))
    assert ran("streaming_table", "SELECT a FROM STREAM src").code == 0
    done = ran("table", "SELECT a FROM src")
    assert done.code == 1 and "hint: DROP STREAMING TABLE m " in done.err
    write({"n.sql": "{{ config(materialized='table') }}\nSELECT a FROM src"})
    assert called("run", "--select", "n").code == 0
    write({"n.sql": "{{ config(materialized='streaming_table') }}\nSELECT a FROM src"})
    done = called("run", "--select", "n")
    assert done.code == 1 and "[WAREHOUSE_STREAMING_TABLE_WITHOUT_STREAM]" in done.err
    assert rows(engine, "SELECT * FROM n") == [{"a": 1}]
    assert rows(engine, "SELECT * FROM m") == [{"a": 1}]


def test_on_an_engine(called: Called, write: Callable[..., None]) -> None:
    write(SMALL)
    assert called("run").code == 0
    done = called("test", "--param", "least=0")
    assert done.code == 1
    assert [line.split(" (")[0] for line in told(done)[:-1]] == [
        "1 of 7 PASS by_station",
        "2 of 7 FAIL none_below: 1 row wrong",
        "3 of 7 FAIL unique_readings_station: 1 row wrong",
        "4 of 7 FAIL not_null_readings_station: 1 row wrong",
        "5 of 7 FAIL relationships_readings_station__name__ref_stations: 1 row wrong",
        "6 of 7 PASS accepted_values_readings_v__1___2__3__4",
        "7 of 7 PASS not_null_readings_v",
    ]
    assert done.out == "station,v\nB,-2\nstation,n_records\nA,2\nstation,v\n,3\nstation,v\nB,-2\n"
    more = "models: [{name: stations, columns: [{name: NAME}, {name: town}]}]"
    write({"more.yml": more})
    documented = called("docs")
    assert documented.code == 0
    assert [line for line in told(documented) if "no column" in line] == [
        "p/more.yml: stations has no column town in the warehouse"
    ]
    nodes = json.loads(Path("p/target/manifest.json").read_text())["nodes"]
    assert nodes["model.p.readings"]["columns"]["v"]["data_type"] == "int"
    assert nodes["operation.p.live"]["columns"]["total"]["data_type"] == "bigint"
