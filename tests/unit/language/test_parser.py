from __future__ import annotations

import pytest

from warehouse.errors import SourceText, Span, WarehouseError
from warehouse.language import parse
from warehouse.language.statements import (
    CreateStream,
    CreateStreamingTable,
    DescribeObject,
    DrainStreamingTable,
    DropObject,
    Explain,
    QueryStatement,
    RefreshStreamingTable,
    ShowObjects,
    SparkStatement,
    StartStreamingTable,
    Statement,
    StopStreamingTable,
)


def read(text: str) -> Statement:
    return parse(SourceText(text))


def test_create_stream() -> None:
    text = (
        "CREATE OR REPLACE STREAM db.plays (player STRING, at TIMESTAMP) USING json\n"
        "OPTIONS (path 'landing/plays', 'a.b' = \"c\", maxFilesPerTrigger = 5, header true)\n"
        "WATERMARK to_timestamp(at, 'x, y') DELAY OF INTERVAL 10 SECONDS IDLE TIMEOUT '1 minute'\n"
        "ON ERROR FAIL COMMENT 'it''s' TBLPROPERTIES ('k' = 'v')"
    )
    found = read(text)
    assert isinstance(found, CreateStream)
    assert (found.name.parts, found.or_replace, found.if_not_exists) == (("db", "plays"), True, False)
    assert found.columns is not None and found.columns.of(text) == "player STRING, at TIMESTAMP"
    assert found.format == found.format_span.of(text) == "json"
    assert found.options == (("path", "landing/plays"), ("a.b", "c"), ("maxFilesPerTrigger", "5"), ("header", "true"))
    assert [span.of(text) for _, span in found.option_spans] == ["'landing/plays'", '"c"', "5", "true"]
    assert found.watermark is not None and found.watermark.column.of(text) == "to_timestamp(at, 'x, y')"
    assert found.watermark.delay.micros == 10_000_000
    assert found.watermark.span.of(text).endswith("INTERVAL 10 SECONDS")
    assert found.idle_timeout is not None and found.idle_timeout.micros == 60_000_000
    assert (found.on_error_fail, found.comment, found.properties) == (True, "it's", (("k", "v"),))


def test_keys_and_values_in_quotes_need_no_sign_between_them() -> None:
    text = "CREATE STREAM s (a INT) USING json OPTIONS ('path' 'f1', \"a\" \"b\" 'c') TBLPROPERTIES ('k' 'v')"
    found = read(text)
    assert isinstance(found, CreateStream)
    assert (found.options, found.properties) == ((("path", "f1"), ("a", "bc")), (("k", "v"),))


def test_create_stream_in_short() -> None:
    found = read("CREATE STREAM IF NOT EXISTS `my stream` USING org.example.Source;")
    assert isinstance(found, CreateStream)
    assert (found.name.parts, found.if_not_exists, found.format) == (("my stream",), True, "org.example.Source")
    assert (found.columns, found.options, found.watermark, found.idle_timeout) == (None, (), None, None)
    assert not found.on_error_fail and found.comment is None


def test_create_streaming_table() -> None:
    text = "CREATE STREAMING TABLE IF NOT EXISTS a.t COMMENT 'c' TBLPROPERTIES ('x' = 'y') AS SELECT 1 FROM STREAM s"
    found = read(text)
    assert isinstance(found, CreateStreamingTable)
    assert (found.name.parts, found.or_replace, found.if_not_exists) == (("a", "t"), False, True)
    assert (found.comment, found.properties) == ("c", (("x", "y"),))
    assert found.query.span.of(text) == "SELECT 1 FROM STREAM s"


@pytest.mark.parametrize(
    ("text", "kind", "fields"),
    [
        ("REFRESH STREAMING TABLE a.t", RefreshStreamingTable, {"full": False}),
        ("REFRESH STREAMING TABLE a.t FULL", RefreshStreamingTable, {"full": True}),
        ("DRAIN STREAMING TABLE a.t", DrainStreamingTable, {}),
        ("STOP STREAMING TABLE a.t", StopStreamingTable, {}),
        ("START STREAMING TABLE a.t", StartStreamingTable, {"every": None}),
        ("DROP STREAM a.t", DropObject, {"kind": "STREAM", "if_exists": False}),
        ("DROP STREAMING TABLE IF EXISTS a.t", DropObject, {"kind": "STREAMING TABLE", "if_exists": True}),
        ("DESCRIBE STREAM a.t", DescribeObject, {"kind": "STREAM", "extended": False}),
        ("DESC EXTENDED STREAMING TABLE a.t", DescribeObject, {"kind": "STREAMING TABLE", "extended": True}),
    ],
)
def test_small_statements(text: str, kind: type, fields: dict[str, object]) -> None:
    found = read(text)
    assert type(found) is kind and found.name.parts == ("a", "t")
    assert {f: getattr(found, f) for f in fields} == fields


def test_start_every() -> None:
    found = read("START STREAMING TABLE t EVERY '5 seconds'")
    assert isinstance(found, StartStreamingTable) and found.every is not None and found.every.micros == 5_000_000


@pytest.mark.parametrize(
    ("text", "kind", "schema", "pattern"),
    [
        ("SHOW STREAMS", "STREAM", None, None),
        ("SHOW STREAMS LIKE 'p*'", "STREAM", None, "p*"),
        ("SHOW STREAMING TABLES IN db 'p'", "STREAMING TABLE", ("db",), "p"),
    ],
)
def test_show(text: str, kind: str, schema: tuple[str, ...] | None, pattern: str | None) -> None:
    found = read(text)
    assert isinstance(found, ShowObjects)
    assert (found.kind, found.schema.parts if found.schema else None, found.pattern) == (kind, schema, pattern)


@pytest.mark.parametrize(
    ("text", "verb", "target"),
    [
        ("SELECT 1", "SELECT", None),
        ("(SELECT 1)", "SELECT", None),
        ("FROM t", "SELECT", None),
        ("VALUES (1)", "SELECT", None),
        ("WITH a AS (SELECT 1) SELECT * FROM a", "SELECT", None),
        ("WITH a AS (SELECT 1) INSERT INTO b.c SELECT * FROM a", "INSERT", "b.c"),
        ("FROM a INSERT OVERWRITE TABLE b SELECT x", "INSERT", "b"),
        ("INSERT INTO b (x) VALUES (1)", "INSERT", "b"),
        ("INSERT OVERWRITE DIRECTORY '/x' USING parquet SELECT 1", "INSERT", None),
        ("MERGE INTO b USING c ON b.x = c.x WHEN MATCHED THEN DELETE", "MERGE", "b"),
        ("DELETE FROM b WHERE x = 1", "DELETE", "b"),
        ("UPDATE b SET x = 1", "UPDATE", "b"),
        ("TRUNCATE TABLE b", "TRUNCATE TABLE", "b"),
        ("DROP TABLE IF EXISTS a.b PURGE", "DROP TABLE", "a.b"),
        ("DROP VIEW b", "DROP VIEW", "b"),
        ("ALTER TABLE b RENAME TO c", "ALTER TABLE", "b"),
        ("ALTER VIEW b AS SELECT 1", "ALTER VIEW", "b"),
        ("CREATE OR REPLACE TABLE b USING delta AS SELECT 1", "CREATE TABLE", "b"),
        ("CREATE EXTERNAL TABLE IF NOT EXISTS b (x INT)", "CREATE TABLE", "b"),
        ("CREATE OR REPLACE GLOBAL TEMPORARY VIEW b AS SELECT 1", "CREATE VIEW", "b"),
        ("CREATE FUNCTION f() RETURNS INT RETURN 1", "CREATE FUNCTION", None),
        ("CREATE SCHEMA s", "CREATE SCHEMA", None),
        ("DESCRIBE TABLE EXTENDED b", "DESCRIBE TABLE", "b"),
        ("DESC b", "DESCRIBE", "b"),
        ("DESCRIBE QUERY SELECT 1", "DESCRIBE", None),
        ("CACHE LAZY TABLE b AS SELECT 1", "CACHE", "b"),
        ("ANALYZE TABLE b COMPUTE STATISTICS", "ANALYZE TABLE", "b"),
        ("OPTIMIZE b", "OPTIMIZE", "b"),
        ("COMMENT ON TABLE b IS 'x'", "COMMENT", "b"),
        ("COMMENT ON SCHEMA b IS 'x'", "COMMENT", None),
        ("SHOW TABLES", "SHOW", None),
        ("SET x = 1", "SET", None),
        ("BEGIN SELECT * FROM STREAM s; END", "BEGIN", None),
        ("EXPLAIN SELECT 1", "EXPLAIN", None),
        ("-- nothing", "", None),
        ("SELECT 'open", "", None),
    ],
)
def test_verbs_and_targets_of_spark_statements(text: str, verb: str, target: str | None) -> None:
    found = read(text)
    assert isinstance(found, SparkStatement)
    assert (found.verb, ".".join(found.target.parts) if found.target else None) == (verb, target)


@pytest.mark.parametrize(
    ("text", "verb", "target"),
    [
        ("SELECT * FROM STREAM s", "SELECT", None),
        ("INSERT INTO t SELECT * FROM STREAM s", "INSERT", "t"),
        ("CREATE VIEW v AS SELECT count(*) FROM t WINDOW GLOBAL", "CREATE VIEW", "v"),
        ("CREATE TABLE c AS SELECT * FROM panes('t')", "CREATE TABLE", "c"),
        ("DELETE FROM d WHERE x IN (SELECT x FROM late_rows('t'))", "DELETE", "d"),
    ],
)
def test_verbs_and_targets_of_our_queries(text: str, verb: str, target: str | None) -> None:
    found = read(text)
    assert isinstance(found, QueryStatement)
    assert (found.verb, found.target.last if found.target else None) == (verb, target)


def test_explain_holds_a_statement_with_its_own_text() -> None:
    found = parse(SourceText("EXPLAIN\nREWRITE\n DROP STREAM s", "f.sql", 10))
    assert isinstance(found, Explain) and found.mode == "REWRITE"
    assert found.statement.source == SourceText("DROP STREAM s", "f.sql", 12)
    plain = read("EXPLAIN REWRITE SELECT 1")
    assert isinstance(plain, Explain) and isinstance(plain.statement, SparkStatement)
    spark = read("EXPLAIN FORMATTED SELECT * FROM t")
    assert isinstance(spark, SparkStatement) and spark.query is not None
    assert spark.query.relations[0].span == Span(32, 33)


def test_errors_point_into_the_file() -> None:
    with pytest.raises(WarehouseError) as caught:
        parse(SourceText("EXPLAIN DROP STREAM", "f.sql", 3))
    assert "(f.sql, line 3, pos 19)" in str(caught.value)
    assert caught.value.source is not None and caught.value.source.name == "f.sql"
