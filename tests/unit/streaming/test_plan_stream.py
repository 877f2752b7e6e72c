# ruff: noqa: E501
"""CREATE, SHOW and DESCRIBE STREAM without Spark: mistakes with their words, patterns, descriptions."""

from dataclasses import replace

import pytest

from warehouse.catalog.entries import Column
from warehouse.errors import SourceText, WarehouseError
from warehouse.execution.types import type_text
from warehouse.language.parser import parse
from warehouse.planning.streams.streams import (
    column_names,
    column_place,
    description,
    duration,
    incompatible,
    matching,
    object_name,
    plan_stream,
)
from warehouse.streaming.sources.paths import literal_path
from warehouse.streaming.sources.sources import hidden_table


def statement(text):
    return parse(SourceText(text))


def wrong(text):
    """Return condition and words at fault of each mistake in ``text``."""
    with pytest.raises(WarehouseError) as error:
        plan_stream(statement(text), "default")
    return [(d.condition.removeprefix("WAREHOUSE_"), d.span.of(text)) for d in error.value.diagnostics]


def test_a_plan():
    plan = plan_stream(
        statement(
            "CREATE STREAM a.plays (p STRING, t TIMESTAMP) USING JSON OPTIONS (path 'x') WATERMARK t DELAY OF INTERVAL 1 MINUTE"
        ),
        "default",
    )
    assert (plan.schema, plan.name, plan.format, plan.recorded, plan.watermark_column) == (
        "a",
        "plays",
        "json",
        "json",
        "t",
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CREATE STREAM s USING kafka", [("KAFKA_OPTION_MISSING", "kafka"), ("KAFKA_OPTION_MISSING", "kafka")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.server 'h:1', subscribe 't')", [("STREAM_OPTION_UNKNOWN", "kafka.bootstrap.server")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribe 't', assign '[1]')", [("KAFKA_SUBSCRIPTIONS", "'[1]'"), ("STREAM_OPTION_VALUE", "'[1]'")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribe 't', failOnDateLoss 'no')", [("STREAM_OPTION_UNKNOWN", "failOnDateLoss")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribe 't', failOnDataLoss 'no')", [("STREAM_OPTION_VALUE", "'no'")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribePattern '(')", [("STREAM_OPTION_VALUE", "'('")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribe 't', startingOffsets 'erliest')", [("STREAM_OPTION_VALUE", "'erliest'")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribe 't', maxOffsetsPerTrigger '0')", [("STREAM_OPTION_VALUE", "'0'")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribe 't', kafka.auto.offset.reset 'x')", [("KAFKA_OPTION_OURS", "kafka.auto.offset.reset")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribe 't', value.format 'json')", [("STREAM_COLUMNS_UNKNOWN", "kafka")]),
        ("CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', subscribe 't', value.format 'avro')", [("KAFKA_OPTION_MISSING", "'avro'")]),
        ("CREATE STREAM s USING jsno OPTIONS (path 'x')", [("STREAM_FORMAT_UNKNOWN", "jsno")]),
        ("CREATE STREAM s USING json", [("STREAM_PATH_MISSING", "json")]),
        ("CREATE STREAM s USING json OPTIONS (path '')", [("STREAM_PATH_MISSING", "''")]),
        ("CREATE STREAM s USING csv OPTIONS (path 'x', haeder 'true')", [("STREAM_OPTION_UNKNOWN", "haeder")]),
        ("CREATE STREAM s USING csv OPTIONS (path 'x', maxFilesPerTrigger 'few')", [("STREAM_OPTION_VALUE", "'few'")]),
        ("CREATE STREAM s USING csv OPTIONS (path 'x', maxFilesPerTrigger '0')", [("STREAM_OPTION_VALUE", "'0'")]),
        ("CREATE STREAM s USING csv OPTIONS (path 'x', mode 'FAILFAST')", [("STREAM_OPTION_OURS", "mode")]),
        ("CREATE STREAM s USING json OPTIONS (path 'x', columnNameOfCorruptRecord 'c')", [("STREAM_OPTION_OURS", "columnNameOfCorruptRecord")]),
        ("CREATE STREAM s (a INT, `A` INT) USING json OPTIONS (path 'x')", [("STREAM_COLUMN_REPEATED", "`A`")]),
        ("CREATE STREAM s (__w_x INT, _corrupt_record STRING, _AT INT) USING json OPTIONS (path 'x')",
         [("STREAM_COLUMN_RESERVED", "__w_x"), ("STREAM_COLUMN_RESERVED", "_corrupt_record"), ("STREAM_COLUMN_RESERVED", "_AT")]),
        ("CREATE STREAM s (t TIMESTAMP) USING json OPTIONS (path 'x') WATERMARK t DELAY OF INTERVAL 1 MONTH", [("STREAM_DELAY", "INTERVAL 1 MONTH")]),
        ("CREATE STREAM s (t TIMESTAMP) USING json OPTIONS (path 'x') WATERMARK t DELAY OF '-1 minute'", [("STREAM_DELAY", "'-1 minute'")]),
        ("CREATE STREAM s USING json OPTIONS (path 'x') IDLE TIMEOUT INTERVAL 0 SECONDS", [("STREAM_IDLE_TIMEOUT", "INTERVAL 0 SECONDS")]),
        ("CREATE STREAM s USING replay OPTIONS (path 'x')", [("REPLAY_ARRIVAL_MISSING", "replay")]),
        ("CREATE STREAM s USING replay OPTIONS (path 'x', arrival 't', steps '1 minute')", [("STREAM_OPTION_UNKNOWN", "steps")]),
        ("CREATE STREAM s USING replay OPTIONS (path 'x', arrival 't', nonsense '1')", [("STREAM_OPTION_UNKNOWN", "nonsense")]),
        ("CREATE STREAM s USING replay OPTIONS (path 'x', arrival 't', format 'cvs')", [("REPLAY_FORMAT", "'cvs'")]),
        ("CREATE STREAM s USING replay OPTIONS (path 'x', arrival 't', step '1 month')", [("REPLAY_STEP", "'1 month'")]),
        ("CREATE STREAM s USING csv OPTIONS (path 'x', 'Path' = 'y')", [("STREAM_OPTION_REPEATED", "'Path'")]),
        ("CREATE STREAM s USING delta OPTIONS (path 'x', startingVersions = 3)", [("STREAM_OPTION_UNKNOWN", "startingVersions")]),
        ("CREATE STREAM other.a.s USING rate", [("NAME_TOO_LONG", "other.a.s")]),
        ("CREATE STREAM s (a INT, a INT) USING jsn", [("STREAM_COLUMN_REPEATED", "a"), ("STREAM_FORMAT_UNKNOWN", "jsn")]),
    ],
)  # fmt: skip
def test_mistakes_point_at_the_words(text, found):
    assert wrong(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "CREATE STREAM s USING json OPTIONS (path 'x', fs.s3a.access.key 'k', somethingElse '1')",
        "CREATE STREAM s USING org.example.Source OPTIONS (what 'ever')",
        "CREATE STREAM spark_catalog.default.s USING rate",
        "CREATE STREAM s USING replay OPTIONS (path 'x', arrival 't', format 'csv', header 'true', sep ';', step '1 hour')",
        "CREATE STREAM s (`a b` STRUCT<a:INT, a2:ARRAY<INT>>, c DECIMAL(10,2)) USING json OPTIONS (PATH 'x', mode 'permissive')",
        "CREATE STREAM s (t TIMESTAMP) USING json OPTIONS (path 'x') WATERMARK t DELAY OF INTERVAL 0 SECONDS",
    ],
)
def test_nothing_wrong(text):
    plan_stream(statement(text), "default")


def test_column_names_are_found_between_types_comments_and_quotes():
    text = (
        "CREATE STREAM s (a INT COMMENT 'x, y', -- b INT,\n `c,d` STRUCT<e: INT, f: MAP<STRING, ARRAY<INT>>>, g DECIMAL(3, 1))"
        " USING json OPTIONS (path 'x')"
    )
    assert [(n, s.of(text)) for n, s in column_names(statement(text))] == [("a", "a"), ("c,d", "`c,d`"), ("g", "g")]


def test_sparks_place_in_the_column_list():
    text = "CREATE STREAM s (a INT,\n  b STRNG) USING json OPTIONS (path 'x')"
    found = statement(text)
    assert column_place(found, 2, 4).of(text) == "STRNG"
    assert column_place(found, 2, 9).of(text) == "STRNG"
    assert column_place(found, 1, 5).of(text) == ","


def test_names():
    name = statement("CREATE STREAM a.b USING rate").name
    assert object_name(name, "default") == ("a", "b")


def test_show_patterns_are_sparks():
    names = ["plays", "Players", "scores", "a.b"]
    assert matching(names, None) == set(names)
    assert matching(names, "play*") == {"plays", "Players"}
    assert matching(names, "PLAYS|scores") == {"plays", "scores"}
    assert matching(names, "play") == set()
    assert matching(names, " a.b ") == {"a.b"}
    assert matching(names, "[|plays") == {"plays"}
    assert matching(names, "%") == set()


def test_durations():
    assert [duration(m) for m in (0, 1, 1_000_000, 86_400_000_000, 93_784_000_005)] == [
        "0 seconds",
        "0.000001 seconds",
        "1 second",
        "1 day",
        "1 day 2 hours 3 minutes 4.000005 seconds",
    ]


def test_what_readers_can_live_with(entry):
    old = replace(entry(), format="json")
    assert incompatible(old, old) is None
    assert incompatible(old, replace(old, format="csv", columns=(*old.columns, Column("new", "int")))) is None
    assert incompatible(old, replace(old, columns=tuple(reversed(old.columns)))) is None
    assert incompatible(old, replace(old, format="rate")) == "its source changes from json to rate"
    assert incompatible(old, replace(old, columns=old.columns[:1])) == "column arrived is gone"
    python, spark = (replace(old, format="kafka", options=(("reader", name),)) for name in ("python", "spark"))
    assert incompatible(python, spark) == "its reader changes from python to spark"
    changed = (Column("PLAYER", "int"), old.columns[1])
    assert incompatible(old, replace(old, columns=changed)) == "column player changes from string to int"


def test_description(entry):
    stream = replace(entry(path="/data/x", arrival="arrived"), watermark_column="arrived", watermark_delay=10_000_000)
    assert description(stream, False) == [("player", "string", None), ("arrived", "timestamp", None)]
    facts = {row[0]: row[1] for row in description(stream, True)[2:]}
    assert facts["Path"] == "/data/x"
    assert facts["Options"] == "[arrival=arrived]"
    assert facts["Watermark"] == "arrived DELAY OF 10 seconds"
    assert facts["Idle timeout"] == "none"
    assert facts["On error"] == "QUARANTINE"
    assert "Comment" not in facts


def test_hidden_tables_have_names_of_their_own():
    pairs = [
        ("default", "plays"),
        ("a", "b__c"),
        ("a__b", "c"),
        ("a", "_b"),
        ("a_", "b"),
        ("ü", "x"),
        ("ö", "x"),
        ("a", "b.c"),
        ("a.b", "c"),
        ("a", "x" * 200),
    ]
    names = [hidden_table(*pair) for pair in pairs]
    assert len(set(names)) == len(pairs)
    assert names[0] == "warehouse_streams.default__plays"
    assert all(n.replace("_", "").replace(".", "").isascii() and len(n) < 125 for n in names)
    assert hidden_table("Default", "PLAYS") == names[0]


def test_literal_paths():
    assert literal_path("/a b/c'd#%") == "/a b/c'd#%"
    assert literal_path(r"/a\b{c}") == r"/a\\b\{c\}"


def test_types_as_text():
    from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType, StructField, StructType, VarcharType

    inner = StructType([StructField(f"c {i}", IntegerType()) for i in range(30)])
    kind = MapType(StringType(), ArrayType(inner))
    assert type_text(kind).startswith("map<string,array<struct<`c 0`:int,`c 1`:int") and "more" not in type_text(kind)
    assert type_text(VarcharType(3)) == "string"
