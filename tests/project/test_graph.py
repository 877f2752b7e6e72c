"""Order, references and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from warehouse.errors import WarehouseError
from warehouse.project.graph import Project
from warehouse.project.selection import select

Load = Callable[[dict[str, str]], Project]

FLIGHTS = {
    "z_streams.sql": "CREATE STREAM IF NOT EXISTS flights (f INT) USING json OPTIONS (path 'x');\n"
    "CREATE STREAM IF NOT EXISTS weather (w INT) USING json OPTIONS (path 'y')",
    "hourly.sql": "CREATE STREAMING TABLE IF NOT EXISTS hourly AS SELECT * FROM STREAM flights",
    "models/busy.sql": "SELECT * FROM {{ ref('hourly') }} JOIN outside ON true",
    "models/all_of_it.sql": "-- last\nWITH hourly AS (SELECT * FROM default.hourly) SELECT * FROM hourly, busy",
    "corrections.sql": "INSERT INTO Targets SELECT * FROM weather",
    "a_targets.sql": "CREATE TABLE targets (t INT)",
    "reader.sql": "SELECT * FROM panes('hourly') JOIN targets ON true",
}


def paths(project: Project, chosen: list[int] | None = None) -> list[str]:
    places = range(len(project.units)) if chosen is None else chosen
    return [str(project.units[at].file.path) for at in places]


def test_files_run_after_what_they_need(project: Load) -> None:
    assert paths(project(FLIGHTS)) == [
        "a_targets.sql",
        "z_streams.sql",
        "corrections.sql",
        "hourly.sql",
        "models/busy.sql",
        "models/all_of_it.sql",
        "reader.sql",
    ]


def test_a_common_table_expression_is_no_dependency(project: Load) -> None:
    built = project({"x.sql": "CREATE TABLE x (a INT)", "a.sql": "WITH x AS (SELECT 1) SELECT * FROM x"})
    assert paths(built) == ["a.sql", "x.sql"]


def test_what_stands_before_a_common_table_expression_of_its_name_is_one(project: Load) -> None:
    text = "WITH y AS (SELECT a FROM x), x AS (SELECT 1) SELECT * FROM y, x"
    assert paths(project({"x.sql": "CREATE TABLE x (a INT)", "a.sql": text})) == ["x.sql", "a.sql"]


def test_a_single_query_becomes_what_its_config_says(project: Load) -> None:
    built = project(
        {
            "2013_flights.sql": "SELECT 1",
            "b.sql": "{{ config(materialized='table', schema='s', alias='c') }}\nSELECT 1",
            "d.sql": "{{ config(materialized='streaming_table') }}SELECT * FROM STREAM x",
        }
    )
    texts = [unit.steps[-1].source.text for unit in built.units]
    assert texts[0] == "CREATE OR REPLACE VIEW `2013_flights` AS SELECT 1"
    assert texts[1] == (
        "CREATE OR REPLACE TABLE s.c USING delta TBLPROPERTIES ('warehouse.project' = 'query') AS SELECT 1"
    )
    assert texts[2] == "CREATE OR REPLACE STREAMING TABLE d AS SELECT * FROM STREAM x"
    assert built.units[1].steps[0].source.text == "CREATE SCHEMA IF NOT EXISTS s"
    steps = [unit.steps[-1] for unit in built.units]
    assert [(step.name, step.becomes) for step in steps] == [
        ("`2013_flights`", "view"), ("s.c", "table"), ("d", "streaming table"),
    ]  # fmt: skip
    assert built.units[1].makes[0].key == ("s", "c")


def test_other_files_run_as_they_stand(project: Load) -> None:
    text = "CREATE TABLE t (a INT);\nSELECT 1 -- {{ not a template here }}"
    (unit,) = project({"t.sql": text}).units
    assert [step.source.text for step in unit.steps] == ["CREATE TABLE t (a INT)", text.split(";\n")[1]]
    assert [step.source.line for step in unit.steps] == [1, 2]


def test_references(project: Load) -> None:
    built = project(
        {
            "a.sql": "SELECT * FROM {{ source('raw', 'files') }} JOIN {{ ref(\n  'Deep' ) }} {# a note #} ON true",
            "b.sql": "-- depends_on: {{ ref('c') }}\nSELECT 1",
            "c.sql": "SELECT '{{ text }}' /* {{ more }} /* it's */ {{ nor }} /*+ this */",
            "e.sql": "/* a /* b */ it's */ {{ config(schema='lake', alias='deep') }} SELECT 1",
        }
    )
    assert paths(built) == ["c.sql", "b.sql", "e.sql", "a.sql"]
    text = built.units[3].steps[0].source.text
    prefix = "CREATE OR REPLACE VIEW a AS "
    assert text.startswith(prefix) and " ".join(text.split()) == (
        "CREATE OR REPLACE VIEW a AS SELECT * FROM raw.files JOIN lake.Deep ON true"
        if "lake.Deep" in text
        else "CREATE OR REPLACE VIEW a AS SELECT * FROM raw.files JOIN lake.deep ON true"
    )
    assert len(text) == len(prefix) + len(built.units[3].file.text) and text.count("\n") == 1


def test_a_reference_to_a_file_is_one_to_its_alias(project: Load) -> None:
    built = project({"tb.sql": "{{ config(alias='tb_x') }} SELECT 1 AS a", "a.sql": "SELECT * FROM {{ ref('tb') }}"})
    assert paths(built) == ["tb.sql", "a.sql"]
    assert " ".join(built.units[1].steps[0].source.text.split()) == "CREATE OR REPLACE VIEW a AS SELECT * FROM tb_x"


def test_writers_come_before_readers(project: Load) -> None:
    built = project(
        {"a.sql": "SELECT * FROM t", "b.sql": "INSERT INTO t SELECT * FROM t", "c.sql": "CREATE TABLE t (x INT)"}
    )
    assert paths(built) == ["c.sql", "b.sql", "a.sql"]


def test_looking_is_reading(project: Load) -> None:
    built = project(
        {"a.sql": "DESCRIBE t; CACHE TABLE t", "b.sql": "INSERT INTO t VALUES (1)", "c.sql": "CREATE TABLE t (x INT)"}
    )
    assert paths(built) == ["c.sql", "b.sql", "a.sql"]


LEARNING = {
    "a_predict.sql": "SELECT age, prediction FROM ML_PREDICT(TABLE u, MODEL churn)",
    "b_clu.sql": "SELECT prediction, count(*) n FROM clustered GROUP BY prediction",
    "y_train.sql": "GENERATE ML LogisticRegression((SELECT age, label FROM u), label => 'label')\n"
    "AS OR REPLACE MODEL default.Churn; GENERATE KMeans(PCA(u, 1), 3) AS OR REPLACE TABLE clustered",
    "z_u.sql": "{{ config(materialized='table', alias='u') }} SELECT 1D AS age, 1 AS label",
}


def test_what_learns_comes_before_what_asks_a_model(project: Load) -> None:
    built = project(LEARNING)
    assert paths(built) == ["z_u.sql", "y_train.sql", "a_predict.sql", "b_clu.sql"]
    assert [(made.kind, made.name) for made in built.units[1].makes] == [
        ("model", "default.Churn"),
        ("table", "clustered"),
    ]
    assert paths(built, select(built, ["churn+1"])) == ["y_train.sql", "a_predict.sql", "b_clu.sql"]


@pytest.mark.parametrize(
    "asking",
    [
        "SELECT * FROM ML_SCORES(MODEL m)",
        "SELECT * FROM ML_CONTENTS(MODEL m, rules)",
        "SELECT * FROM (SELECT * FROM ML_EVALUATE(TABLE t, MODEL m)) JOIN t ON true",
        "CREATE STREAMING TABLE s AS SELECT * FROM ML_PREDICT(STREAM x, MODEL m)",
        "DESCRIBE MODEL m",
        "EXPLAIN SELECT * FROM ML_SCORES(MODEL {{ ref('m') }})",
        "-- depends_on: {{ ref('M') }}\nSELECT 1",
    ],
)
def test_whatever_names_a_model_comes_after_it(project: Load, asking: str) -> None:
    built = project({"a.sql": asking, "b.sql": "GENERATE ML KMeans(t) AS MODEL m", "c.sql": "CREATE TABLE t (x INT)"})
    assert paths(built) == ["c.sql", "b.sql", "a.sql"]


def test_a_model_and_a_table_of_one_name_are_two_things(project: Load) -> None:
    built = project(
        {
            "a.sql": "GENERATE KMeans({{ ref('features') }}) AS OR REPLACE MODEL churn",
            "b.sql": "SELECT * FROM ML_PREDICT(TABLE {{ ref('churn') }}, MODEL {{ ref('churn') }})",
            "churn.sql": "SELECT 1 AS x",
            "features.sql": "SELECT x FROM {{ ref('churn') }}",
        }
    )
    assert paths(built) == ["churn.sql", "features.sql", "a.sql", "b.sql"]


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE a TBLPROPERTIES ('x' = 1, 'copartition' = 'Default.z') AS SELECT 1 k DISTRIBUTE BY k",
        "EXPLAIN REPLACE TABLE a TBLPROPERTIES ('copartition' = '`z`') AS SELECT 1 k DISTRIBUTE BY k",
        "CREATE STREAMING TABLE a TBLPROPERTIES ('copartition' = 'z') AS SELECT k FROM STREAM s DISTRIBUTE BY k",
    ],
)
def test_a_partner_comes_first(project: Load, made: str) -> None:
    built = project({"a.sql": made, "z.sql": "CREATE TABLE z AS SELECT 1 AS k DISTRIBUTE BY k"})
    assert paths(built) == ["z.sql", "a.sql"]


def test_what_a_refresh_needs(project: Load) -> None:
    built = project({"a.sql": "REFRESH STREAMING TABLE t", "b.sql": "CREATE STREAMING TABLE t AS SELECT 1"})
    assert paths(built) == ["b.sql", "a.sql"]


@pytest.mark.parametrize(
    ("files", "condition", "words"),
    [
        (
            {"a.sql": "SELECT * FROM b", "b.sql": "SELECT * FROM c", "c.sql": "SELECT * FROM a"},
            "WAREHOUSE_PROJECT_CYCLE",
            "p/a.sql needs p/b.sql needs p/c.sql needs p/a.sql",
        ),
        (
            {"a.sql": "CREATE TABLE Default.T (x INT)", "t.sql": "SELECT 1"},
            "WAREHOUSE_PROJECT_DUPLICATE",
            "p/a.sql and p/t.sql",
        ),
        (
            {"a.sql": "GENERATE KMeans(x) AS MODEL m", "b.sql": "GENERATE PCA(x) AS MODEL default.M"},
            "WAREHOUSE_PROJECT_DUPLICATE",
            "p/a.sql and p/b.sql",
        ),
        (
            {
                "a.sql": "GENERATE KMeans(x) AS MODEL a.m; GENERATE KMeans(x) AS MODEL b.m",
                "b.sql": "SELECT * FROM ML_SCORES(MODEL {{ ref('m') }})",
            },
            "WAREHOUSE_PROJECT_REF",
            "is one of a.m, b.m",
        ),
        (
            {"a.sql": "SELECT 1\nFROM {{ ref('hourli') }}", "hourly.sql": "SELECT 1"},
            "WAREHOUSE_PROJECT_REF",
            "hourly is",
        ),
        (
            {"a.sql": "SELECT 1\nFROM {{ ref('a') }}"},
            "WAREHOUSE_PROJECT_CYCLE",
            "p/a.sql needs itself. SQLSTATE: 42P19 (p/a.sql, line 2, pos 5)",
        ),
        ({"a.sql": "SELECT * FROM default.A"}, "WAREHOUSE_PROJECT_CYCLE", "(p/a.sql, line 1, pos 0)"),
        ({"we ird-1.sql": "SELECT 1"}, "WAREHOUSE_PROJECT_NAME", "(p/we ird-1.sql, line 1, pos 0)"),
        ({"größe.sql": "SELECT 1"}, "WAREHOUSE_PROJECT_NAME", "größe cannot be"),
        ({"a.sql": "{{ config(alias='x-y') }} SELECT 1"}, "WAREHOUSE_PROJECT_NAME", "x-y cannot"),
        ({"a.sql": "SELECT {{ var('x') }}"}, "WAREHOUSE_PROJECT_TEMPLATE", "{{ var('x') }}"),
        ({"a.sql": "{% if x %} SELECT 1"}, "WAREHOUSE_PROJECT_TEMPLATE", "{% if x %}"),
        (
            {"a.sql": "{{ config(materialized='incremental', unique_key='id') }} SELECT 1"},
            "WAREHOUSE_PROJECT_TEMPLATE",
            "incremental is streaming_table, which reads what has arrived since the last run, here;",
        ),
        ({"a.sql": "{{ config(alias='x') }} SELECT 1; SELECT 2"}, "WAREHOUSE_PROJECT_CONFIG_MISPLACED", "own"),
        ({"a.txt": "SELECT 1"}, "WAREHOUSE_PROJECT_EMPTY", "p"),
        ({"a.sql": "SELECT 1", "warehouse.toml": "nme = 'x'"}, "WAREHOUSE_PROJECT_CONFIG", "unknown: nme"),
        ({"a.sql": "SELECT 1", "warehouse.toml": "name = 1"}, "WAREHOUSE_PROJECT_CONFIG", "name is not a string"),
        ({"a.sql": "SELECT 1", "warehouse.toml": "paths = ['m']"}, "WAREHOUSE_PROJECT_CONFIG", "there is no folder m"),
        ({"a.sql": "SELECT 1", "warehouse.toml": "name"}, "WAREHOUSE_PROJECT_CONFIG", "warehouse.toml"),
    ],
)
def test_what_cannot_be_a_project(project: Load, files: dict[str, str], condition: str, words: str) -> None:
    with pytest.raises(WarehouseError) as error:
        project(files)
    assert error.value.condition == condition and words in error.value.render()


def test_errors_point_into_the_users_file(project: Load) -> None:
    with pytest.raises(WarehouseError) as error:
        project({"a.sql": "SELECT 1;\nSELECT *\nFROM {{ ref('b') }} WINDOW FIXD x", "b.sql": "SELECT 1"})
    text = error.value.render()
    assert "(p/a.sql, line 3, pos 27)" in text
    assert "3 | FROM {{ ref('b') }} WINDOW FIXD x\n  |                            ^^^^" in text


def test_errors_point_behind_what_was_put_in_front(project: Load) -> None:
    (unit, _) = project({"a.sql": "SELECT {{ref('b')}} x, y", "b.sql": "SELECT 1"}).units[::-1]
    step = unit.steps[0]
    from warehouse.errors import Diagnostic, Span

    def owned(start: int, end: int) -> str:
        return step.owned(WarehouseError(Diagnostic("C", "m.", None, Span(start, end)), source=step.source)).render()

    at = step.source.text.index(" x,") + 1
    assert owned(at, at + 1).endswith("1 | SELECT {{ref('b')}} x, y\n  |                     ^")
    assert owned(3, 5).endswith("1 | SELECT {{ref('b')}} x, y\n  | ^^^^^^")  # of the file at least


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["hourly"], ["hourly.sql"]),
        (["HOURLY"], ["hourly.sql"]),
        (["weather"], ["z_streams.sql"]),
        (["+hourly"], ["z_streams.sql", "hourly.sql"]),
        (["hourly+"], ["hourly.sql", "models/busy.sql", "models/all_of_it.sql", "reader.sql"]),
        (["1+all_of_it"], ["hourly.sql", "models/busy.sql", "models/all_of_it.sql"]),
        (["z_streams+1"], ["z_streams.sql", "corrections.sql", "hourly.sql"]),
        (["models"], ["models/busy.sql", "models/all_of_it.sql"]),
        (["models/*.sql"], ["models/busy.sql", "models/all_of_it.sql"]),
        (["path:models/busy.sql"], ["models/busy.sql"]),
        (["./models/busy.sql"], ["models/busy.sql"]),
        (["a_*", "corr*"], ["a_targets.sql", "corrections.sql"]),
        (["a_* corr*"], ["a_targets.sql", "corrections.sql"]),
        (["hourly+,models"], ["models/busy.sql", "models/all_of_it.sql"]),
        (["hourly,weather"], []),
    ],
)
def test_selection(project: Load, words: list[str], expected: list[str]) -> None:
    built = project(FLIGHTS)
    assert paths(built, select(built, words)) == expected


def test_exclusion_and_tags(project: Load) -> None:
    built = project({"a.sql": "{{ config(tags=['nightly', 'x']) }} SELECT 1", "b.sql": "SELECT 1", "c.sql": "SELECT 1"})
    assert paths(built, select(built, ["tag:nightly"])) == ["a.sql"]
    assert paths(built, select(built, [], ["tag:nightly", "b"])) == ["c.sql"]
    with pytest.raises(WarehouseError, match="Nothing in the project matches tag:daily"):
        select(built, ["tag:daily"])


def test_settings_say_where_files_are(project: Load) -> None:
    built = project(
        {
            "warehouse.toml": "name = 'n'\nwarehouse = 'w'\npaths = ['a', 'b']\n[settings]\n'spark.x' = true",
            "a/x.sql": "SELECT 1",
            "b/c/y.sql": "SELECT 1",
            "other/z.sql": "SELECT 1",
            "a/.hidden/h.sql": "SELECT 1",
            "a/target/compiled/h.sql": "SELECT 1",
        }
    )
    assert paths(built) == ["a/x.sql", "b/c/y.sql"]
