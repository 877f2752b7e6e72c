"""A star means the user's columns: a row's place and arrival, which go along with it in a step, are none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_in
from warehouse.engine import Engine
from warehouse.errors import WarehouseError

TABLES = """
CREATE TABLE s (k STRING, x INT, at TIMESTAMP, p STRUCT<a: INT, b: INT>);
INSERT INTO s VALUES ('a', 1, TIMESTAMP'2026-01-01 00:00:00', struct(1, 2)),
  ('a', 2, TIMESTAMP'2026-01-01 00:00:10', NULL),
  ('b', 3, TIMESTAMP'2026-01-01 00:01:10', struct(3, 4));
CREATE TABLE d (k STRING, name STRING); INSERT INTO d VALUES ('a', 'A'), ('b', 'B');
CREATE VIEW seen AS SELECT * FROM STREAM s;
CREATE VIEW rows AS SELECT * FROM s
"""


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    for rows in rows_in(engine, "stars"):
        rows(TABLES)
        yield rows


@pytest.mark.parametrize(
    "query",
    [
        "SELECT to_json(struct(*)) AS j FROM STREAM s",
        soaked("SELECT s.* EXCEPT (x), to_json(struct(s.* EXCEPT (x))) AS j, x * 2 AS y FROM STREAM s"),
        soaked("SELECT q.*, d.name FROM (SELECT k FROM STREAM s) q JOIN d ON d.k = q.k"),
        soaked("SELECT d.*, to_json(struct(*)) AS j, to_json(struct(d.*)) AS i FROM STREAM s JOIN d USING (k)"),
        soaked("SELECT `Q`.*, to_json(struct(`Q`.*)) AS j FROM (SELECT k FROM STREAM s) AS q"),
        soaked("SELECT q.*, to_json(struct(*)) AS j FROM (SELECT k, x FROM STREAM s) AS q (a, b)"),
        "WITH c AS (SELECT *, to_json(struct(*)) AS j FROM STREAM s) SELECT c.*, to_json(struct(c.*)) AS jj FROM c",
        soaked("SELECT s.p.*, to_json(struct(s.p.*)) AS j FROM STREAM s"),
        soaked("SELECT x FROM STREAM s WHERE to_json(struct(*)) LIKE '%w_row%' OR x = (SELECT 3)"),
        soaked("SELECT seen.*, (SELECT to_json(max(struct(*))) FROM d) AS most FROM seen"),
        soaked("SELECT to_json(struct(*)) AS j FROM STREAM s UNION ALL SELECT to_json(struct(*)) FROM seen"),
        "SELECT *, to_json(struct(*)) AS j FROM STREAM s"
        " WINDOW SLIDING (at, SIZE INTERVAL 1 MINUTE, EVERY INTERVAL 30 SECONDS)",
        "SELECT to_json(struct(w.*)) AS j FROM TUMBLE(TABLE STREAM s, DESCRIPTOR(at), INTERVAL 1 MINUTE) AS w",
        soaked("SELECT s.*, n FROM STREAM s LATERAL VIEW explode(array(x, 2)) e AS n"),
        soaked("SELECT k, to_json(max(struct(*))) AS j, count(*) AS n FROM STREAM s GROUP BY k TRIGGER EVERY ROW"),
        soaked(
            "SELECT k, to_json(max(struct(* EXCEPT (k)))) AS j FROM STREAM s GROUP BY k"
            " WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE) TRIGGER EVERY ROW"
        ),
        soaked(
            "SELECT k, array_sort(collect_set(struct(q.*))) AS j FROM (SELECT k, x FROM seen) q"
            " GROUP BY k TRIGGER EVERY ROW"
        ),
        "SELECT d.name, to_json(max(struct(d.*))) AS a, max(struct(s.*)) AS b, max((SELECT max(struct(*)) FROM d)) AS c"
        " FROM STREAM s JOIN d ON d.k = s.k GROUP BY d.name TRIGGER EVERY ROW",
        soaked("SELECT DISTINCT hash(*) AS h, to_json(struct(s.*)) AS j FROM STREAM s"),
    ],
)
def test_a_star_means_what_it_means_of_a_table(rows: Rows, request: pytest.FixtureRequest, query: str) -> None:
    name = f"t{request.node.callspec.indices['query']}"
    rows(f"CREATE STREAMING TABLE {name} AS {query}")
    plain = query.replace("STREAM s", "s").replace("seen", "rows").replace("TRIGGER EVERY ROW", "")
    found, wanted = rows(f"SELECT * FROM {name}"), rows(plain)
    assert wanted or "w_row" in query
    assert Counter(map(str, found)) == Counter(map(str, wanted))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, count(DISTINCT *) AS n FROM STREAM s GROUP BY k TRIGGER EVERY ROW",
        "SELECT k, count(DISTINCT *) AS n FROM s GROUP BY k WINDOW FIXED (at, SIZE '1 hour')",
    ],
)
def test_a_star_is_no_argument_of_an_aggregate(rows: Rows, query: str) -> None:
    with pytest.raises(WarehouseError) as refused:
        rows(f"CREATE STREAMING TABLE t AS {query}" if "STREAM" in query else query)
    (told,) = refused.value.diagnostics
    assert told.condition == "WAREHOUSE_NOT_SUPPORTED" and told.span is not None
