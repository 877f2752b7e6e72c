"""EXPLAIN ANALYZE and the order of a join's sides, over the endpoint."""

from __future__ import annotations

import re

from tests.server.conftest import Jdbc


def test_a_client_sees_what_ran(schema: str, jdbc: Jdbc) -> None:
    jdbc.run(f"USE {schema}")
    jdbc.run("CREATE TABLE large AS SELECT id, id % 2000 AS k, sha2(CAST(id AS STRING), 256) AS s FROM range(20000)")
    jdbc.run("CREATE TABLE small AS SELECT id AS k, sha2(CAST(id AS STRING), 256) AS s FROM range(2000)")
    jdbc.run("SET spark.sql.autoBroadcastJoinThreshold = 2KB")
    query = "SELECT count(*) FROM large JOIN small ON large.k = small.k WHERE small.s LIKE '00%'"
    ((told,),) = jdbc.run(f"EXPLAIN ANALYZE {query}")
    assert jdbc.columns() == [("plan", "string")]
    assert "rows out: 1, thrown away" in told
    assert re.search(r"== Stages ==\n(?!none)", told), told
    assert "it was run first, as it was likely small, and the left side was never shuffled" in told
    ((rows,),) = jdbc.run(query)
    jdbc.run("SET warehouse.join.smallSideFirst = false")
    assert jdbc.run(query) == [[rows]]
    ((told,),) = jdbc.run(f"EXPLAIN ANALYZE {query}")
    assert "the left side had been shuffled by then" in told
    failure = jdbc.fails("EXPLAIN ANALYZE SELECT nope FROM large")
    assert "EXPLAIN ANALYZE SELECT nope FROM large\n  |                        ^^^^" in failure.text


def test_how_many_rows_are_changed_is_told_for_tables_in_memory_too(schema: str, jdbc: Jdbc) -> None:
    jdbc.run(f"USE {schema}")
    jdbc.run("CREATE TABLE kept TBLPROPERTIES ('cache' = 'true') AS SELECT id AS k FROM range(10) DISTRIBUTE BY k")
    assert jdbc.run("DELETE FROM kept WHERE k < 3") == [["3"]]
    assert jdbc.columns() == [("num_affected_rows", "string")]
    ((*figures,),) = jdbc.run("RESTORE TABLE kept TO VERSION AS OF 0")
    assert all(figure is not None and figure.isdecimal() for figure in figures)
    assert jdbc.run("SELECT count(*) FROM kept") == [["10"]]
