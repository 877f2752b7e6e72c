"""Rows as Arrow, of types that its readers do not know or that may be missing where they were said not to."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.statements import rows_of
from warehouse.cli.formats import FORMATS
from warehouse.engine import Engine, WarehouseError


@pytest.mark.parametrize(
    ("value", "given"),
    [
        ("named_struct('x', id)", {"x": 0}),
        ("named_struct('x', named_struct('y', id))", {"x": {"y": 0}}),
        ("array(named_struct('x', id))", [{"x": 0}]),
        ("map('k', named_struct('x', id))", [("k", {"x": 0})]),
        ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"),
        ("parse_json('{\"a\": 1}')", '{"a":1}'),
        ("make_interval(1, 2, 0, 3)", "1 years 2 months 3 days"),
        ("array(make_interval(1))", ["1 years"]),
        ("array()", []),
        ("named_struct('a', id, 'a', 2)", {"a": 0, "a_1": 2}),
        ("map()", []),
        ("named_struct('none', array())", {"none": []}),
        ("array(parse_json('[1, 2]'), NULL)", ["[1,2]", None]),
        ("map('k', parse_json('{}'))", [("k", "{}")]),
        ("named_struct('v', parse_json('1'), 'i', array(INTERVAL '3' MONTH))", {"v": "1", "i": ["INTERVAL '3' MONTH"]}),
    ],
)
def test_a_value_and_its_absence(engine: Engine, value: str, given: object) -> None:
    found = rows_of(engine, f"SELECT if(id = 0, {value}, NULL) AS `a.b`, id AS `a.b` FROM range(2) ORDER BY id")
    assert [row["a.b"] for row in found] == [0, 1], "the last of two columns of a name, in a dict"
    (first, second) = rows_of(engine, f"SELECT if(id = 0, {value}, NULL) AS v, id FROM range(2) ORDER BY id")
    assert first["v"] == given
    assert second["v"] is None


def test_a_struct_within_a_list_that_has_none(engine: Engine) -> None:
    text = "SELECT array(if(id = 0, named_struct('x', id), NULL)) AS v FROM range(2) ORDER BY id"
    assert [row["v"] for row in rows_of(engine, text)] == [[{"x": 0}], [None]]


def test_bytes_that_are_no_text(engine: Engine) -> None:
    text = """SELECT s, array(s, 'ü', NULL) AS a, named_struct('x', map(s, id), 'y', array(s)) AS n, id FROM (
        SELECT if(id = 1, CAST(X'ff41' AS STRING), CAST(id AS STRING)) AS s, id FROM range(0, 3, 1, 2)) ORDER BY id"""
    first, second, third = rows_of(engine, text)
    assert (first["s"], second["s"], third["s"]) == ("0", "\ufffdA", "2")
    assert second["a"] == ["\ufffdA", "ü", None]
    assert second["n"] == {"x": [("\ufffdA", 1)], "y": ["\ufffdA"]}
    assert third["n"] == {"x": [("2", 2)], "y": ["2"]}


@pytest.mark.parametrize("name", ["x ä.parquet", "x ä.json.gz"])
def test_a_file_that_is_no_file_of_its_kind(engine: Engine, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"neither this nor that, and long enough to be read")
    with pytest.raises(WarehouseError, match="FAILED_READ_FILE") as caught:
        rows_of(engine, f"SELECT * FROM {name.split('.')[1]}.`{tmp_path}`")
    assert f"while reading file {tmp_path / name}." in str(caught.value)
    assert caught.value.sqlstate == "KD001"


@pytest.mark.parametrize(
    ("zone", "shown", "offset"),
    [
        ("America/New_York", "2024-03-10 01:30:00", "-05:00"),
        ("+10:00", "2024-03-10 16:30:00", "+10:00"),
        ("GMT-3", "2024-03-10 03:30:00", "-03:00"),
        ("Z", "2024-03-10 06:30:00", "Z"),
    ],
)
def test_instants_are_shown_in_the_sessions_zone(engine: Engine, zone: str, shown: str, offset: str) -> None:
    session = engine.on(engine.spark.newSession())
    list(session.run(f"SET TIME ZONE '{zone}'"))
    [result] = session.run("""SELECT t, CAST(t AS STRING) AS s, array(named_struct('m', map(t, t), 'n', n)) AS a FROM (
        SELECT TIMESTAMP'2024-03-10 06:30:00Z' AS t, TIMESTAMP_NTZ'2024-03-10 06:30:00' AS n)""")
    assert result.schema is not None
    out = io.BytesIO()
    FORMATS["csv"].write(result.schema, result.batches, out, None)
    within = shown.replace(" ", "T") + offset
    nested = f'[{{"m":{{"{shown}":"{within}"}},"n":"2024-03-10T06:30:00"}}]'.replace('"', '""')
    assert out.getvalue().decode() == f't,s,a\n{shown},{shown},"{nested}"\n'


def test_what_delta_says_of_a_command(engine: Engine, schema: str) -> None:
    list(engine.run("CREATE TABLE few AS SELECT 1 AS n; INSERT INTO few VALUES (2)"))
    assert rows_of(engine, "OPTIMIZE few")[0]["metrics"]["numFilesAdded"] == 1
