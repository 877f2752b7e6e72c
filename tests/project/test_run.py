"""``warehouse-sql run`` on an engine that is not there."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.cli.conftest import Done, call, engine  # noqa: F401
from tests.cli.fake import FakeEngine, broken
from warehouse.cli.console import Output, ReaderGone
from warehouse.engine import Standing
from warehouse.errors import SourceText
from warehouse.execution.results import Result

Call = Callable[..., Done]


@pytest.fixture(autouse=True)
def answers(engine: FakeEngine) -> None:  # noqa: F811
    """Let the engine take any statement, and remember streaming tables."""
    tables: dict[str, str] = {}

    def made(text: str) -> list[str]:
        found = re.match(r"CREATE (?:OR REPLACE )?STREAMING TABLE (?:IF NOT EXISTS )?(\w+) AS (.*)", text)
        return list(found.groups()) if found else []

    def there(source: SourceText) -> Standing | None:
        found = made(source.text)
        return Standing("streaming table", tables[found[0]] == found[1]) if found and found[0] in tables else None

    def answer(source: SourceText) -> Result:
        text = source.text
        if "BROKEN" in text:
            raise broken(source, "BROKEN")
        replaced = None
        if found := made(text):
            replaced = "continues" if found[0] in tables and "OR REPLACE" in text else None
            tables[found[0]] = found[1]
        return Result(source, message="done", replaced=replaced)

    class Answers(dict):  # type: ignore[type-arg]
        def __contains__(self, text: object) -> bool:
            return str(text).split()[0] not in ("SELECT", "BUG")

        def __getitem__(self, text: str) -> Callable[[SourceText], Result]:
            return answer

    engine.answers = Answers()
    engine.there = there


def told(done: Done) -> list[str]:
    return re.sub(r"\([\d.]+ s\)", "(…)", done.err).splitlines()


def test_a_project(call: Call, engine: FakeEngine, write: Callable[..., None]) -> None:  # noqa: F811
    write(
        {
            "warehouse.toml": "name = 'flights'\nwarehouse = 'kept'\n[settings]\n'spark.x' = 1",
            "streams.sql": "CREATE STREAM flights USING json; CREATE STREAM weather USING json",
            "hourly.sql": "CREATE STREAMING TABLE IF NOT EXISTS hourly AS SELECT * FROM STREAM flights",
            "busy.sql": "SELECT * FROM hourly",
            "script.sql": "SET x = 1; SELECT 2",
        }
    )
    first = call("run", "--project", "p")
    assert first.code == 0 and first.out == "n\n0\n1\n"
    assert told(first) == [
        "1 of 4 OK ran 2 statements (…)",
        "2 of 4 OK created streams flights, weather (…)",
        "3 of 4 OK created streaming table hourly (…)",
        "4 of 4 OK created view busy (…)",
        "flights: 4 files, 4 OK, 0 failed, 0 skipped (…)",
    ]
    assert [(str(folder), settings) for folder, settings in engine.opened] == [("p/kept", {"spark.x": "1"})]
    engine.ran.clear()
    second = call("run", "--project", "p", "--select", "hourly")
    assert told(second)[0] == "1 of 1 OK refreshed streaming table hourly (…)"
    assert engine.ran[-1] == "REFRESH STREAMING TABLE hourly"
    write({"hourly.sql": "CREATE STREAMING TABLE IF NOT EXISTS hourly AS SELECT f FROM STREAM flights"})
    kept, refreshed, _ = told(call("run", "--project", "p", "--select", "hourly"))
    assert "hourly keeps the query that made it" in kept and "refreshed streaming table hourly" in refreshed
    call("run", "--project", "p", "--select", "hourly", "--full-refresh", "--quiet", "--warehouse", "w")
    assert engine.ran[-1] == "REFRESH STREAMING TABLE hourly FULL" and str(engine.opened[-1][0]) == "w"


def test_a_model_that_is_edited(call: Call, engine: FakeEngine, write: Callable[..., None]) -> None:  # noqa: F811
    model = "{{{{ config(materialized='streaming_table') }}}}\nSELECT {} FROM STREAM s"

    def ran(query: str, *words: str) -> tuple[list[str], str]:
        write({"agg.sql": model.format(query)})
        engine.ran.clear()
        return engine.ran, told(call("run", "--project", "p", *words))[0]

    first = "CREATE OR REPLACE STREAMING TABLE agg AS SELECT a FROM STREAM s"
    changed = "CREATE OR REPLACE STREAMING TABLE agg AS SELECT b FROM STREAM s"
    refresh = "REFRESH STREAMING TABLE agg"
    assert ran("a") == ([first], "1 of 1 OK created streaming table agg (…)")
    assert ran("a") == ([refresh], "1 of 1 OK refreshed streaming table agg (…)")
    assert ran("b") == ([changed], "1 of 1 OK replaced streaming table agg: continues (…)")
    assert ran("b", "--full-refresh")[0] == [f"{refresh} FULL"]
    assert ran("a", "--full-refresh") == (
        [first, f"{refresh} FULL"],
        "1 of 1 OK replaced streaming table agg: rebuilt from source (…)",
    )
    plan = call("plan", "--project", "p")
    assert plan.out == "1  agg.sql  creates, refreshes or replaces streaming table agg\n"


def test_what_depends_on_a_failure_is_skipped(call: Call, write: Callable[..., None]) -> None:  # noqa: F811
    write(
        {
            "a.sql": "CREATE TABLE ok AS SELECT 1",
            "b.sql": "SELECT\n  BROKEN",
            "c.sql": "SELECT * FROM b",
            "d.sql": "SELECT * FROM c",
            "e.sql": "SELECT * FROM ok",
        }
    )
    done = call("run", "--project", "p")
    assert done.code == 1
    assert told(done) == [
        "1 of 5 OK created table ok (…)",
        "[WAREHOUSE_TEST] This is wrong. SQLSTATE: 42000 (p/b.sql, line 2, pos 2)",
        "== SQL (p/b.sql, line 2) ==",
        "1 | SELECT",
        "2 |   BROKEN",
        "  |   ^^^^^^",
        "hint: write it right",
        "2 of 5 FAILED p/b.sql (…)".replace("p/", ""),
        "3 of 5 SKIPPED c.sql: b.sql did not run through",
        "4 of 5 SKIPPED d.sql: c.sql did not run through",
        "5 of 5 OK created view e (…)",
        "p: 5 files, 2 OK, 1 failed, 2 skipped (…)",
    ]


def test_plan_runs_nothing(call: Call, engine: FakeEngine, write: Callable[..., None]) -> None:  # noqa: F811
    write({"b.sql": "CREATE TABLE b AS SELECT 1", "longer.sql": "SET x = 1", "a.sql": "SELECT * FROM b"})
    expected = (
        "1  b.sql       creates table b\n2  a.sql       creates view a  after b.sql\n3  longer.sql  runs 1 statement\n"
    )
    for words in (["plan"], ["run", "--dry-run"]):
        assert call(*words, "--project", "p") == Done(0, expected, "")
    assert not engine.opened


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--project", "nowhere"], 2, "There is no project folder nowhere"),
        (["--project", "p", "--select", "x"], 2, "Nothing in the project matches x"),
    ],
)
def test_trouble(call: Call, write: Callable[..., None], words: list[str], code: int, text: str) -> None:  # noqa: F811
    write({"b.sql": "SELECT 1"})
    done = call("run", *words)
    assert done.code == code and text in done.err


def test_a_reader_that_leaves(call: Call, write: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    def leave(*_: object) -> int:
        raise ReaderGone

    monkeypatch.setattr(Output, "write", leave)
    write({"a.sql": "SET x = 1; SELECT 2", "b.sql": "CREATE TABLE b AS SELECT 1"})
    done = call("run", "--project", "p")
    assert done.code == 1 and told(done)[:3] == [
        "standard output was closed",
        "1 of 2 FAILED a.sql (…)",
        "2 of 2 OK created table b (…)",
    ]
