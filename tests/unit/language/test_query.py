"""The shape of queries: what is found, and where it stands."""

from __future__ import annotations

from warehouse.errors import SourceText, Span
from warehouse.language import parse
from warehouse.language.statements import QueryShape


def shape(text: str) -> QueryShape:
    found = getattr(parse(SourceText(text)), "query", None)
    assert found is not None
    return found


def words(text: str, span: Span | None) -> str | None:
    return span.of(text) if span else None


def test_a_block_and_its_parts() -> None:
    text = (
        "SELECT /*+ COALESCE(1) */ DISTINCT a AS x, sum(b) FILTER (WHERE c > 1) total, t.*, d "
        "FROM t JOIN u ON t.k = u.k WHERE a > 1 AND b IN (1, 2) GROUP BY a, date_trunc('day', ts) HAVING sum(b) > 1 "
        "WINDOW FIXED (ts, SIZE INTERVAL 1 DAY) ORDER BY a LIMIT 5"
    )
    (block,) = shape(text).blocks
    assert words(text, block.span) == text[: text.index(" ORDER BY")]
    assert words(text, block.select) == "SELECT /*+ COALESCE(1) */ DISTINCT"
    assert words(text, block.distinct) == "DISTINCT"
    assert [(words(text, i.expression), i.alias, i.star) for i in block.items] == [
        ("a", "x", False),
        ("sum(b) FILTER (WHERE c > 1)", "total", False),
        ("t.*", None, True),
        ("d", None, False),
    ]
    assert [words(text, i.span) for i in block.items][1] == "sum(b) FILTER (WHERE c > 1) total"
    assert words(text, block.relation) == "t JOIN u ON t.k = u.k"
    assert words(text, block.where) == "a > 1 AND b IN (1, 2)"
    assert [words(text, g) for g in block.group_by] == ["a", "date_trunc('day', ts)"]
    assert words(text, block.having) == "sum(b) > 1"
    assert block.clauses is not None
    assert words(text, block.clauses.span) == "WINDOW FIXED (ts, SIZE INTERVAL 1 DAY)"
    assert words(text, block.tail) == "ORDER BY a LIMIT 5"
    assert (block.grouping_sets, block.set_operator) == (None, None)


def test_quoted_aliases() -> None:
    text = "SELECT a AS `window`, b `from`, `c`, d.`e`, f AS `g` FROM t WINDOW GLOBAL"
    (block,) = shape(text).blocks
    assert [(i.expression.of(text), i.alias) for i in block.items] == [
        ("a", "window"), ("b", "from"), ("`c`", None), ("d.`e`", None), ("f", "g"),
    ]  # fmt: skip


def test_aliases_and_what_only_looks_like_one() -> None:
    text = (
        "SELECT a IS NULL, b IS NOT NULL n, INTERVAL 1 DAY, INTERVAL 1 DAY i, x::int, y::int z, "
        "CASE WHEN a THEN b END, CASE a WHEN 1 THEN 2 END c, "
        "first(q) IGNORE NULLS, 1 `one two`, -d, e.f, g COLLATE UTF8_BINARY, *, "
        "* EXCEPT (h), count(*), 2 * 3, j:k, (SELECT 1) s, date '2020-01-01' FROM t"
    )
    (block, _) = shape(text).blocks
    found = [(i.alias, i.star) for i in block.items]
    aliases = [
        None,
        "n",
        None,
        "i",
        None,
        "z",
        None,
        "c",
        None,
        "one two",
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        "s",
        None,
    ]
    assert [a for a, _ in found] == aliases
    assert [words(text, i.span) for i in block.items if i.star] == ["*", "* EXCEPT (h)"]


def test_grouping_sets() -> None:
    for group in (
        "ROLLUP (a)",
        "a, CUBE (b)",
        "GROUPING SETS ((a), ())",
        "a, b WITH ROLLUP",
        "a GROUPING SETS ((a))",
        "ALL",
    ):
        text = f"SELECT 1 FROM t GROUP BY {group} HAVING x"
        (block,) = shape(text).blocks
        assert words(text, block.grouping_sets) == group and block.group_by == () and words(text, block.having) == "x"


def test_streams() -> None:
    text = (
        "SELECT * FROM STREAM a.s WATERMARK ts + INTERVAL 1 DAY DELAY OF INTERVAL 5 SECONDS AS `x y` "
        "JOIN STREAM(r) q ON true, STREAM panes('db.t') WATERMARK w DELAY OF '1 day', "
        "STREAM u WITH ('k' = 'v') IDENTIFIED BY n, plain p"
    )
    found = shape(text)
    assert [(s.name.parts, s.panes, s.alias, s.options and words(text, s.options)) for s in found.streams] == [
        (("a", "s"), False, "`x y`", None),
        (("r",), False, "q", None),
        (("db", "t"), True, None, None),
        (("u",), False, None, "WITH ('k' = 'v')"),
    ]
    first = found.streams[0]
    assert first.watermark is not None and words(text, first.watermark.column) == "ts + INTERVAL 1 DAY"
    assert words(text, first.span) == text[14 : text.index(" JOIN")]
    assert [words(text, s.span) for s in found.streams][1:3] == [
        "STREAM(r) q",
        "STREAM panes('db.t') WATERMARK w DELAY OF '1 day'",
    ]
    assert [(r.name.parts, r.alias) for r in found.relations] == [(("plain",), "p")]
    assert not found.functions


def test_a_plain_relation_may_have_a_watermark() -> None:
    text = "SELECT count(*) FROM t WATERMARK ts DELAY OF INTERVAL 1 DAY AS x WINDOW GLOBAL"
    (relation,) = shape(text).relations
    assert relation.watermark is not None and relation.alias == "x"
    assert words(text, relation.span) == "t WATERMARK ts DELAY OF INTERVAL 1 DAY AS x"


def test_table_functions() -> None:
    text = "SELECT * FROM panes('t') p, Late_Rows(\"a.b\") JOIN range(3) ON p.x = late_rows('c')"
    found = shape(text)
    assert [(f.function, f.argument.parts, words(text, f.span)) for f in found.functions] == [
        ("panes", ("t",), "panes('t')"),
        ("late_rows", ("a", "b"), 'Late_Rows("a.b")'),
    ]
    assert words(text, found.functions[0].argument.span) == "'t'"


def test_a_past_step() -> None:
    text = "SELECT * FROM db.t AS OF STEP 3, panes('t') AS OF STEP 2 p, t AS of JOIN late_rows('t')"
    found = shape(text).functions
    assert [(f.function, f.span.of(text), f.step, f.aliased) for f in found] == [
        ("table", "db.t AS OF STEP 3", 3, False),
        ("panes", "panes('t') AS OF STEP 2", 2, True),
        ("late_rows", "late_rows('t')", None, True),
    ]


def test_ctes_have_a_scope() -> None:
    text = "WITH a AS (SELECT 1), b(x) AS (WITH c AS (SELECT 2) SELECT * FROM c) SELECT * FROM a, b, panes('t')"
    found = shape(text)
    assert [(c.name, words(text, c.query)) for c in found.ctes] == [
        ("a", "SELECT 1"),
        ("b", "WITH c AS (SELECT 2) SELECT * FROM c"),
        ("c", "SELECT 2"),
    ]
    assert words(text, found.ctes[2].scope) == "WITH c AS (SELECT 2) SELECT * FROM c"
    assert words(text, found.ctes[0].scope) == text
    assert [r.name.last for r in found.relations] == ["c", "a", "b"]


def test_a_cte_stands_for_its_name_behind_it() -> None:
    def meant(text: str) -> list[bool]:
        found = shape(text)
        return [found.cte_of(relation) is not None for relation in found.relations]

    listed = "WITH a AS (SELECT * FROM t), t AS (SELECT * FROM a), b AS (SELECT * FROM t) SELECT * FROM t, x.t"
    assert meant(listed) == [False, True, True, True, False]
    assert meant("WITH t AS (SELECT * FROM t) SELECT * FROM t") == [False, True]
    assert meant("WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t") == [True, True]


def test_blocks_at_any_depth() -> None:
    text = (
        "SELECT (SELECT max(x) FROM a WINDOW GLOBAL) m FROM (SELECT y FROM b TRIGGER NEVER) q "
        "WHERE EXISTS (SELECT 1 FROM c) AND z IN (SELECT z FROM d)"
    )
    found = shape(text)
    assert [words(text, b.relation) for b in found.blocks] == [
        "(SELECT y FROM b TRIGGER NEVER) q",
        "a",
        "b",
        "c",
        "d",
    ]
    assert [b.clauses is not None for b in found.blocks] == [False, True, True, False, False]
    assert found.blocks[0].span == Span(0, len(text))


def test_set_operators_and_tails() -> None:
    text = "SELECT a FROM STREAM s UNION ALL (SELECT b FROM t LIMIT 1) EXCEPT SELECT c FROM u ORDER BY 1"
    one, two, three = shape(text).blocks
    assert [words(text, b.set_operator) for b in (one, two, three)] == ["UNION ALL", "UNION ALL", "EXCEPT"]
    assert [words(text, b.tail) for b in (one, two, three)] == [None, "LIMIT 1", "ORDER BY 1"]


def test_from_first() -> None:
    text = "FROM STREAM s SELECT k, count(*) GROUP BY k WINDOW GLOBAL ORDER BY k"
    (block,) = shape(text).blocks
    assert words(text, block.span) == text[: text.index(" ORDER")]
    assert words(text, block.select) == "SELECT" and words(text, block.relation) == "STREAM s"
    assert block.clauses is not None and words(text, block.tail) == "ORDER BY k"


def test_named_windows_stand_beside_ours() -> None:
    for tail in ("WINDOW w AS (ORDER BY a) WINDOW GLOBAL", "WINDOW GLOBAL WINDOW w AS (ORDER BY a)"):
        (block,) = shape(f"SELECT sum(a) OVER w FROM t {tail}").blocks
        assert block.clauses is not None and block.clauses.window is not None


def test_dependencies_of_spark_statements() -> None:
    found = shape("SELECT * FROM a, b.c x LEFT JOIN (d CROSS JOIN e) ON true WHERE f IN (TABLE g) -- FROM h")
    assert [r.name.parts for r in found.relations] == [("a",), ("b", "c"), ("d",), ("e",), ("g",)]
    assert not found.ours
