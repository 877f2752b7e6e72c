"""Other spellings of WINDOW: what they mean, whose they are, and where they are only names."""

from __future__ import annotations

import pytest

from warehouse.errors import SourceText
from warehouse.language import parse
from warehouse.language.statements import Clauses, FixedWindow, QueryShape, SessionWindow, SlidingWindow, SparkStatement

MINUTE = 60_000_000


def shape(text: str) -> QueryShape:
    found = getattr(parse(SourceText(text)), "query", None)
    assert found is not None
    return found


def clauses(text: str) -> Clauses | None:
    """Return the clauses of the outermost block."""
    return shape(text).blocks[0].clauses


def test_a_table_function_under_a_grouping_by_its_bounds_is_the_blocks_window() -> None:
    text = "SELECT k, sum(x) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), '10 minutes') GROUP BY k, window_start, window_end"
    found = shape(text)
    block = found.blocks[0]
    assert block.clauses and block.spelling and block.spelling.call is found.calls[0]
    window = block.clauses.window
    assert isinstance(window, FixedWindow)
    assert (window.time.of(text), window.size.micros, window.offset) == ("ts", 10 * MINUTE, None)


@pytest.mark.parametrize(
    "arguments",
    [
        "TABLE t, DESCRIPTOR(ts), '1 minute', INTERVAL '10' MINUTE, '30 seconds'",
        "STREAM t, DESCRIPTOR(ts), '1 minute', INTERVAL '10' MINUTE, '30 seconds'",
        "TABLE STREAM t WATERMARK ts DELAY OF '1 second', DESCRIPTOR(ts), '1 minute', '10 minutes', '30 seconds'",
        "(SELECT * FROM t), DESCRIPTOR(ts), '1 minute', '10 minutes', '30 seconds'",
        "data => TABLE t, timecol => descriptor(ts), slide => '1 minute', size => '10 minutes', offset => '30 seconds'",
        "SIZE => '10 minutes', EVERY => '1 minute', OFFSET => '30 seconds', DATA => TABLE t, TIMECOL => DESCRIPTOR(ts)",
    ],
)
def test_arguments_stand_in_order_or_by_name(arguments: str) -> None:
    for call in (f"HOP({arguments})", f"TABLE(hop({arguments})) AS w"):
        found = clauses(f"SELECT count(*) FROM {call} GROUP BY window_start")
        assert found is not None and isinstance(found.window, SlidingWindow)
        window = found.window
        assert window.offset is not None
        assert (window.every.micros, window.size.micros, window.offset.micros) == (MINUTE, 10 * MINUTE, MINUTE // 2)


def test_what_a_call_reads() -> None:
    text = "SELECT * FROM SESSION(STREAM s PARTITION BY a, lower(b), DESCRIPTOR(ts), gap * INTERVAL 1 SECOND) AS w"
    (call,) = shape(text).calls
    assert call.span.of(text) == text[len("SELECT * FROM ") : -len(" AS w")]
    assert (call.relation.of(text), call.alias) == ("STREAM s", "w")
    assert [key.of(text) for key in call.partition] == ["a", "lower(b)"]
    assert isinstance(call.window, SessionWindow) and call.window.gap.of(text) == "gap * INTERVAL 1 SECOND"  # type: ignore[union-attr]


KEYED = "FROM SESSION(TABLE t AS q PARTITION BY k, DESCRIPTOR(ts), '1 minute')"
TUMBLED = "FROM TUMBLE(TABLE t, DESCRIPTOR(ts), '1 minute') AS w"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT count(*) {TUMBLED} GROUP BY w.window_end",
        f"SELECT window_start AS b, count(*) {TUMBLED} GROUP BY b",
        f"SELECT k, window_start, count(*) {TUMBLED} GROUP BY 1, 2",
        f"SELECT k, window_start, count(*) {TUMBLED} GROUP BY ALL",
        f"SELECT count(*) {TUMBLED} JOIN d ON w.k = d.k WHERE x > 1 GROUP BY window_start, d.city",
        f"SELECT k, count(*) {KEYED} GROUP BY q.k, window_start, window_end",
        f"SELECT k, window_start, count(*) {KEYED} GROUP BY ALL",
    ],
)
def test_calls_that_are_the_window_of_their_block(query: str) -> None:
    assert clauses(query) is not None


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * {TUMBLED}",
        f"SELECT k, count(*) {TUMBLED} GROUP BY k",
        f"SELECT count(*) {TUMBLED} GROUP BY date(window_start)",
        f"SELECT count(*) {TUMBLED} WHERE window_start > now() GROUP BY window_start",
        f"SELECT count(*) {TUMBLED} JOIN d ON w.window_start = d.day GROUP BY window_start",
        f"SELECT count(*) {TUMBLED} RIGHT JOIN d ON w.k = d.k GROUP BY window_start",
        f"SELECT count(*) {TUMBLED}, TUMBLE(TABLE u, DESCRIPTOR(ts), '1 minute') GROUP BY w.window_start",
        f"SELECT count(*) FROM (SELECT * {TUMBLED}) GROUP BY window_start",
        f"SELECT count(*) {KEYED} GROUP BY window_start",
        f"SELECT j, count(*) {KEYED} GROUP BY k, j, window_start",
    ],
)
def test_calls_that_stay_relations(query: str) -> None:
    assert clauses(query) is None and shape(query).calls


def test_grouping_functions_are_ours_beside_something_of_ours() -> None:
    grouped = "GROUP BY k, window(ts, '10 minutes', '1 minute', '30 seconds')"
    for query in (
        f"SELECT count(*) FROM STREAM t {grouped}",
        f"SELECT count(*) FROM t {grouped} TRIGGER EVERY 1 ROW",
        f"WITH c AS (SELECT * FROM STREAM t), d AS (SELECT * FROM c) SELECT count(*) FROM d {grouped}",
    ):
        found = next(b.clauses for b in shape(query).blocks if b.group_by)
        assert found is not None and isinstance(found.window, SlidingWindow), query
    fixed = clauses("SELECT window(ts, '1 hour', '60 minutes') AS w FROM STREAM t GROUP BY w")
    assert fixed is not None and isinstance(fixed.window, FixedWindow)
    session = clauses("SELECT count(*) FROM STREAM t GROUP BY session_window(ts, if(a, '1 minute', '2 minutes'))")
    assert session is not None and isinstance(session.window, SessionWindow)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT window.start, count(*) FROM t GROUP BY window(ts, '10 minutes')",
        "SELECT count(*) FROM t GROUP BY session_window(ts, '10 minutes')",
        "WITH c AS (SELECT * FROM t) SELECT count(*) FROM c GROUP BY window(ts, '10 minutes')",
        "SELECT tumble, hop(session), descriptor(window(a, b)) FROM tumble, hop AS session, session descriptor",
        "SELECT * FROM tumble(1, 2), hop(TABLE t), session('a'), tumble(TABLE t, DESCRIPTION(a))",
        "SELECT * FROM TABLE(tumble(TABLE t))",
        "SELECT * FROM a.tumble(TABLE t, DESCRIPTOR(ts), 1)",
    ],
)
def test_what_stays_sparks(text: str) -> None:
    assert isinstance(parse(SourceText(text)), SparkStatement)
