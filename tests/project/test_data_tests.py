"""``warehouse-sql test``: queries for rows that are wrong, in files and as YAML asks for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.conftest import Done, call, engine  # noqa: F401
from tests.cli.fake import FakeEngine, broken
from tests.project.test_run import told
from warehouse.errors import Diagnostic, SourceText, Span, WarehouseError
from warehouse.execution.results import Result
from warehouse.project import checks
from warehouse.project.files import load_settings
from warehouse.project.loading import Loaded, load_project
from warehouse.project.selection import select_tests

Call = Callable[..., Done]
Write = Callable[..., None]

PROJECT = {
    "models/streams.sql": "CREATE STREAM IF NOT EXISTS readings (station STRING) USING json OPTIONS (path 'x')",
    "models/hourly.sql": "-- Readings by <station>,\n-- an hour.\n"
    "{{ config(materialized='table', tags='live') }} SELECT station FROM STREAM readings",
    "models/stations.sql": "{{ config(alias='places', schema='geo') }} SELECT 'A' AS name",
    "models/schema.yml": """
        version: 2
        models:
          - name: hourly
            columns:
              - name: station
                description: who & where
                data_tests:
                  - not_null: {severity: warn, where: station <> 'B', tags: [slow]}
                  - relationships: {to: "{{ ref('places') }}", field: name}
                  - accepted_values: {arguments: {values: [A, "it's", 1, true]}}
        sources:
          - name: raw
            tables:
              - name: files
                columns: [{name: a.b, tests: [unique]}, {name: c d, tests: [not_null]}]
        """,
    "tests/no_b.sql": "{{ config(tags='slow', severity='warn') }}SELECT * FROM {{ ref('hourly') }} WHERE station = 'B'",
    "tests/deep/joined.sql": "WITH x AS (SELECT * FROM geo.places) SELECT * FROM x JOIN outside ON true -- all\n",
}


def load(write: Write, texts: dict[str, str]) -> Loaded:
    write(texts)
    return load_project(Path("p"), load_settings(Path("p")))


def names(loaded: Loaded, *words: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [loaded.whole.units[at].file.path.stem for at in select_tests(loaded.whole, words, exclude)]


def test_what_yaml_asks_for_is_a_query(write: Write) -> None:
    loaded = load(write, PROJECT)
    found = {
        unit.file.path.stem: " ".join(unit.steps[0].source.text.split())
        for unit in loaded.whole.units
        if unit.severity and "schema.yml" in str(unit.file.path)
    }
    assert found == {
        "not_null_hourly_station": "SELECT * FROM (SELECT * FROM hourly WHERE station <> 'B' ) WHERE station IS NULL",
        "relationships_hourly_station__name__ref_places": "SELECT child.* FROM hourly AS child LEFT ANTI JOIN"
        " geo.places AS parent ON child.station = parent.name WHERE child.station IS NOT NULL",
        "accepted_values_hourly_station__A__it_s__1__True": "SELECT station AS value_field, count(*) AS n_records FROM"
        " hourly WHERE station NOT IN ('A', 'it\\'s', 1, true) GROUP BY station",
        "unique_source_raw_files_a_b": "SELECT a.b, count(*) AS n_records FROM raw.files WHERE a.b IS NOT NULL"
        " GROUP BY a.b HAVING count(*) > 1",
        "not_null_source_raw_files_c_d": "SELECT * FROM raw.files WHERE `c d` IS NULL",
    }
    assert {unit.file.path.stem for unit in loaded.whole.units if unit.severity == "warn"} == {
        "not_null_hourly_station", "no_b",
    }  # fmt: skip


def test_a_stream_is_tested_as_one(write: Write) -> None:
    """Its rows are asked for by STREAM, as they are in any query."""
    columns = "[{name: station, tests: [unique, relationships: {to: ref('readings'), field: id}]}]"
    write({
        "readings.sql": "CREATE STREAM IF NOT EXISTS readings (station STRING, id INT) USING json OPTIONS (path 'x')",
        "s.yml": f"models: [{{name: readings, columns: {columns}}}]",
    })  # fmt: skip
    loaded = load_project(Path("p"), load_settings(Path("p")))
    texts = [unit.steps[0].source.text for unit in loaded.whole.units if unit.severity]
    assert len(texts) == 2 and all("FROM STREAM readings" in " ".join(text.split()) for text in texts)
    assert any("ANTI JOIN STREAM readings AS parent" in " ".join(text.split()) for text in texts)


OF_HOURLY = [
    "no_b", "not_null_hourly_station", "relationships_hourly_station__name__ref_places",
    "accepted_values_hourly_station__A__it_s__1__True",
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "exclude", "expected"),
    [
        (("hourly",), (), OF_HOURLY),
        (("tag:live",), (), OF_HOURLY),
        (("hourly",), ("tag:slow",), OF_HOURLY[2:]),
        (("tag:slow",), (), OF_HOURLY[:2]),
        (("path:tests",), (), ["joined", "no_b"]),
        (("tests/deep",), (), ["joined"]),
        (("not_null_*",), (), ["not_null_hourly_station", "not_null_source_raw_files_c_d"]),
        (("models/schema.yml",), ("hourly",), ["unique_source_raw_files_a_b", "not_null_source_raw_files_c_d"]),
        (("places",), (), ["joined", "relationships_hourly_station__name__ref_places"]),
        (("readings",), (), []),
        (("readings+",), (), OF_HOURLY),
    ],
)
def test_tests_are_chosen_by_what_they_read(
    write: Write, words: tuple[str, ...], exclude: tuple[str, ...], expected: list[str]
) -> None:
    assert sorted(names(load(write, PROJECT), *words, exclude=exclude)) == sorted(expected)


def test_a_test_is_not_run_by_run(call: Call, engine: FakeEngine, write: Write) -> None:  # noqa: F811
    write({"a.sql": "SELECT 1 AS a", "tests/t.sql": "SELECT * FROM a WHERE a > 1"})
    assert call("plan", "--project", "p").out == "1  a.sql  creates view a\n"
    listed = "1  tests/t.sql  finds rows that are wrong  after a.sql\n"
    assert call("test", "--project", "p", "--dry-run").out == listed and not engine.opened
    write({"warehouse.toml": "paths = ['tests']"})
    assert call("plan", "--project", "p").out == "1  tests/t.sql  creates view t\n"
    assert call("test", "--project", "p", "--dry-run").out == ""


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("models: [", "while parsing a flow node"),
        ("models:\n- name: a\n  tags: [", "(p/schema.yml, line 3, pos 9)"),
        ("models: {name: a}", "models is a list"),
        ("models: [a]", "models is a list of things with a name"),
        ("models: [{columns: []}]", "models: one has no name"),
        ("models: [{name: a, columns: [{name: b, tests: not_null}]}]", "a.b: tests is a list"),
        ("models: [{name: a, columns: [{name: b, tests: [not_nul]}]}]", "there is no test not_nul; known are not_null"),
        ("models: [{name: a, columns: [{name: b, tests: [not_nul]}]}]", "(p/schema.yml, line 1, pos 47)"),
        ("models: [{name: a, columns: [{name: b, tests: [accepted_values]}]}]", "accepted_values needs values"),
        ("models: [{name: a, columns: [{name: b, tests: [not_null: {at: 1}]}]}]", "not_null takes no at"),
        ("models: [{name: a, columns: [{name: b, tests: [not_null: {severity: bad}]}]}]", "severity is error or warn"),
        ("models: [{name: a, columns: [{name: b, tests: [not_null: {config: {limit: 1}}]}]}]", "limit is not one of"),
        ("models: [{name: a, columns: [{name: b, tests: [not_null, not_null]}]}]", "two tests are called not_null_a_b"),
        ("models: [{name: a, tests: [unique]}]", "belongs to a column, or says column_name"),
        ("models: [{name: a, columns: [{name: b, tests: [relationships: {to: x y, field: z}]}]}]", "to is ref('name')"),
        ("models: [{name: a, columns: [{name: b, tests: [not_null: , severity: warn]}]}]", "there is no test severity"),
        ("models: [{name: a, columns: [{name: b, tests: [{not_null: , severity: warn}]}]}]", "there is no test {"),
        ("models: [{name: a, columns: [{name: b, tests: [[not_null]]}]}]", "there is no test ["),
        ("models: [{name: a, columns: [{name: b, tests: [{test_name: [x]}]}]}]", "there is no test ["),
        ("models: [{name: a, columns: [{name: b, tests: [not_null: {tags: 5}]}]}]", "tags is a list"),
        ("models: [{name: a, columns: [{name: b, tests: [accepted_values: {values: [null]}]}]}]", "needs values"),
        ("models: [{name: a, at: 2026-13-01}]", "month must be in 1..12"),
        ("sources: [{name: a, schema: [b], tables: [{name: c}]}]", "a: schema is a name"),
        ("unit_tests: [{name: a}]", "unit_tests: tests of these are not run here"),
        ("seeds: [{name: a, columns: [{name: b, tests: [unique]}]}]", "seeds: tests of these"),
    ],
)
def test_yaml_that_nobody_understands(write: Write, yaml: str, words: str) -> None:
    with pytest.raises(WarehouseError) as error:
        load(write, {"a.sql": "SELECT 1 AS b", "schema.yml": yaml})
    assert error.value.condition == "WAREHOUSE_PROJECT_YAML" and words in error.value.render()
    assert "p/schema.yml" in error.value.render()


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("models:\n- name: hourli", "hourly is. SQLSTATE: 42704 (p/schema.yml, line 2, pos 8)"),
        ("models: [{name: hourly, columns: [{name: a, tests: [relationships: {to: ref('b'), field: c}]}]}]", "pos 77"),
    ],
)
@pytest.mark.parametrize("command", ["plan", "run", "test", "docs"])
def test_yaml_that_speaks_of_what_no_file_makes(
    call: Call, engine: FakeEngine, write: Write, command: str, yaml: str, words: str  # noqa: F811
) -> None:  # fmt: skip
    write({"hourly.sql": "SELECT 1 AS a", "schema.yml": yaml})
    done = call(command, "--project", "p")
    assert done.code == 1 and "[WAREHOUSE_PROJECT_REF]" in done.err and words in done.err and not engine.opened


@pytest.mark.parametrize("command", ["plan", "run", "test", "docs"])
@pytest.mark.parametrize(("yaml", "query", "code"), [("models: [", "SELECT 1", 2), ("", "SELECT {{ ref('x') }}", 1)])
def test_commands_agree_on_what_is_no_project(
    call: Call, engine: FakeEngine, write: Write, command: str, yaml: str, query: str, code: int  # noqa: F811
) -> None:  # fmt: skip
    write({"a.sql": query, "schema.yml": yaml})
    assert call(command, "--project", "p").code == code and not engine.opened


def test_what_yaml_asks_for_reads_well_in_errors(write: Write) -> None:
    asked = "{name: b, tests: [not_null: {where: nope > 1}]}"
    loaded = load(write, {"a.sql": "SELECT 1 AS b", "schema.yml": f"models: [{{name: a, columns: [{asked}]}}]"})
    (step,) = loaded.whole.units[-1].steps
    assert step.own.text == "SELECT * FROM (SELECT * FROM a WHERE nope > 1\n) WHERE b IS NULL" == step.source.text
    error = WarehouseError(Diagnostic("C", "m.", None, Span(36, 40)), source=step.source)
    assert step.owned(error).render().splitlines() == [
        "[C] m. (p/schema.yml: not_null_a_b, line 1, pos 36)",
        "== SQL (p/schema.yml: not_null_a_b, line 1) ==",
        "1 | SELECT * FROM (SELECT * FROM a WHERE nope > 1",
        "  |                                     ^^^^",
        "2 | ) WHERE b IS NULL",
    ]


def test_yaml_about_other_things_says_nothing(write: Write) -> None:
    others = {
        "b.yml": "services: {web: {tests: [x]}}",
        "c.yaml": "- 1",
        "d.yml": "",
        "e.yml": "a: !Ref b",
        "f.yml": "{{ x",
    }
    loaded = load(write, {"a.sql": "SELECT 1", **others})
    assert loaded.tables == () and names(loaded) == []


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("SELECT 1; SELECT 2", "WAREHOUSE_PROJECT_TEST"),
        ("DROP TABLE a", "WAREHOUSE_PROJECT_TEST"),
        ("", "WAREHOUSE_PROJECT_TEST"),
        ("{{ config(materialized='table') }} SELECT 1", "WAREHOUSE_PROJECT_TEST"),
        ("{{ config(severity='loud') }} SELECT 1", "WAREHOUSE_PROJECT_TEMPLATE"),
        ("SELECT * FROM {{ ref('b') }}", "WAREHOUSE_PROJECT_REF"),
        ("SELECT * FROM a WINDOW FIXD x", "WAREHOUSE_WINDOW_KIND"),
    ],
)
def test_what_is_no_test(write: Write, text: str, condition: str) -> None:
    with pytest.raises(WarehouseError) as error:
        load(write, {"a.sql": "SELECT 1", "tests/t.sql": text})
    assert error.value.condition == condition and "p/tests/t.sql" in error.value.render()


def test_severity_is_of_a_test(write: Write) -> None:
    with pytest.raises(WarehouseError, match="severity is of a test"):
        load(write, {"a.sql": "{{ config(severity='warn') }} SELECT 1"})


@pytest.fixture
def answers(engine: FakeEngine) -> None:  # noqa: F811
    """Let the engine count as many wrong rows as a test's query says: ``SELECT 3 …``."""

    def answer(source: SourceText) -> Result:
        if "BROKEN" in source.text:
            raise broken(source, "BROKEN")
        wrong = int(source.text.split("SELECT ")[2].split()[0])
        rows = [wrong] if source.text.startswith("SELECT count(*)") else list(range(min(wrong, 10)))
        batch = pa.record_batch({"n": pa.array(rows, pa.int64())})
        return Result(source, batch.schema, iter([batch]))

    class Answers(dict):  # type: ignore[type-arg]
        def __contains__(self, text: object) -> bool:
            return True

        def __getitem__(self, text: str) -> Callable[[SourceText], Result]:
            return answer

    engine.answers = Answers()


def test_what_is_told_of_them(call: Call, write: Write, answers: None) -> None:  # noqa: F811
    write(
        {
            "a.sql": "SELECT 1 AS a",
            "tests/a_good.sql": "SELECT 0 FROM a",
            "tests/b_bad.sql": "SELECT 1 FROM a",
            "tests/c_doubtful.sql": "{{ config(severity='warn') }}SELECT 12 FROM a",
            "tests/d_wrong.sql": "SELECT\n  BROKEN FROM a",
        }
    )
    done = call("test", "--project", "p")
    assert done.code == 1 and done.out == "n\n0\n" + "n\n" + "".join(f"{n}\n" for n in range(10))
    assert told(done) == [
        "1 of 4 PASS a_good (…)",
        "2 of 4 FAIL b_bad: 1 row wrong (…)",
        "3 of 4 WARN c_doubtful: 12 rows wrong (…)",
        "[WAREHOUSE_TEST] This is wrong. SQLSTATE: 42000 (p/tests/d_wrong.sql, line 2, pos 2)",
        "== SQL (p/tests/d_wrong.sql, line 2) ==",
        "1 | SELECT",
        "2 |   BROKEN FROM a",
        "  |   ^^^^^^",
        "hint: write it right",
        "4 of 4 ERROR d_wrong (…)",
        "p: 4 tests, 1 passed, 1 failed, 1 warned, 1 broken (…)",
    ]
    assert call("test", "--project", "p", "-s", "a_good", "c_doubtful").code == 0


def test_docs_without_an_engine(call: Call, engine: FakeEngine, write: Write) -> None:  # noqa: F811
    write({**PROJECT, "warehouse.toml": "name = 'lake'"})
    done = call("docs", "--project", "p", "--dry-run", "--target", "out")
    assert done == Done(0, "", "lake: wrote out/index.html and out/manifest.json\n") and not engine.opened
    page = Path("out/index.html").read_text()
    assert "Readings by &lt;station&gt;, an hour." in page and "who &amp; where" in page
    assert '<a href="#models/streams.sql"><rect' in page and page.count("<path d=") == 1
    assert "<td><code>station</code></td><td><code></code></td><td>who &amp; where</td>" in page
    told = json.loads(Path("out/manifest.json").read_text())
    hourly = "model.lake.models.hourly"
    assert told["parent_map"][hourly] == ["operation.lake.models.streams"]
    assert "test.lake.tests.no_b" in told["child_map"][hourly] and len(told["nodes"]) == 10
    assert told["nodes"]["test.lake.tests.no_b"]["config"] == {
        "materialized": "test", "severity": "warn", "tags": ["slow"],
    }  # fmt: skip


def test_docs_have_nowhere_to_go(call: Call, write: Write) -> None:  # noqa: F811
    write({"a.sql": "SELECT 1", "target": "a file"})
    done = call("docs", "--project", "p", "--dry-run")
    assert done.code == 2 and done.err.startswith("warehouse-sql: p/target: ")


def test_accepted_values_are_what_yaml_reads(write: Write) -> None:
    asked = "values: [2026-01-02, null, -1.5, 'null', x\\y]"
    loaded = load(
        write, {"schema.yml": f"models: [{{name: a, columns: [{{name: b, tests: [accepted_values: {{{asked}}}]}}]}}]",
                "a.sql": "SELECT 1 AS b"},
    )  # fmt: skip
    assert "NOT IN ('2026-01-02', -1.5, 'null', 'x\\\\y')" in loaded.whole.units[-1].steps[0].source.text


def test_a_project_may_be_tests_alone(call: Call, write: Write) -> None:  # noqa: F811
    write({"tests/t.sql": "SELECT * FROM outside"})
    assert call("test", "--project", "p", "--dry-run").out == "1  tests/t.sql  finds rows that are wrong\n"
    assert "The folder p holds no .sql files." in call("run", "--project", "p").err
    write({"tests/t.sql": "", "warehouse.toml": ""})
    Path("p/tests/t.sql").unlink()
    assert "The folder p holds no .sql files." in call("test", "--project", "p", "--dry-run").err


def test_every_known_test_is_a_query() -> None:
    from warehouse.project.properties import GENERIC, Check

    arguments = {"values": [1], "to": "ref('x')", "field": "f"}
    texts = {checks.query(Check(kind, kind, "c", arguments), "ref('t')", lambda _: False) for kind in GENERIC}
    assert len(texts) == len(GENERIC)
