# ruff: noqa: E501
"""Streams over files, tables and recordings: what is read, what is broken, and what CREATE STREAM refuses."""

import gzip
import os
import shutil
from datetime import datetime

import pytest

from tests.soak import soaked
from warehouse.errors import SourceText, WarehouseError
from warehouse.language.parser import parse
from warehouse.language.statements import CreateStream
from warehouse.planning.streams import streams
from warehouse.streaming.delta import bad_rows
from warehouse.streaming.sources import ddl, paths, replay, sources

JSON = '{"a":1,"s":"x","t":"2024-01-01T00:00:00Z"}\n'


# ---------------------------------------------------------------- reading


def test_json_as_a_stream_and_as_a_batch(house):
    house.write("in/1.json", JSON + '{"a":"no","s":"y"}\n\n{"s":{"k":1}}\nnonsense\n')
    house.run(
        "CREATE STREAM j (a INT, s STRING, t TIMESTAMP) USING json OPTIONS (path 'in') WATERMARK t DELAY OF INTERVAL 1 MINUTE"
    )
    moment = datetime(2024, 1, 1)
    assert house.batch("j") == [(1, "x", moment), (None, '{"k":1}', None)]
    read = house.arrived("j")
    assert {r[4] for r in read} == {
        (house.files / "in/1.json").as_uri().replace("file:///", "file:/").replace("%27", "'").replace("%C3%BC", "ü")
    }
    assert [r[:4] for r in read] == [
        (1, "x", moment, None),
        (None, "y", None, '{"a":"no","s":"y"}'),
        (None, '{"k":1}', None, None),
        (None, None, None, "nonsense"),
    ]
    house.write("in/2.json", '{"a":2}\n')
    assert house.arrived("j", "a") == [(2,)]
    assert house.batch("j", "sum(a), count(*)") == [(3, 3)]


def test_a_column_that_is_not_asked_for_still_decides_whether_a_record_is_broken(house):
    house.write("in/1.json", '{"a":1,"b":1}\n{"a":2,"b":"no"}\n{"a":3}\n')
    house.run("CREATE STREAM two (a INT, b INT) USING json OPTIONS (path 'in')")
    house.run("CREATE STREAM one (a INT) USING json OPTIONS (path 'in')")
    queries = {
        "count(*)": [(2,)],
        "a": [(1,), (3,)],
        "b": [(1,), (None,)],
        "1": [(1,), (1,)],
    }
    for what, expected in queries.items():
        assert house.batch("two", what) == expected
    for rest in ("WHERE a IS NOT NULL", "WHERE a > 0", "WHERE a IN (1, 2, 3)"):
        assert house.batch("two", "count(*)", rest) == [(2,)]
        plan = house.spark.sql(f"SELECT 1 FROM {sources.batch_relation(house.entry('two'))} {rest}")
        assert "a:int,b:int" in plan._jdf.queryExecution().executedPlan().toString()
    assert house.batch("two", "count(*)", "WHERE b IS NULL") == [(1,)]
    assert house.batch("one", "count(*)") == [(3,)]
    assert house.arrived("two", "count(*), count(__w_bad)") == [(3, 1)]


def test_files_of_the_week_before_last_are_read(house):
    house.write("in/1.json", JSON)
    house.run("CREATE STREAM s (a INT) USING json OPTIONS (path 'in')")
    assert house.arrived("s", "a") == [(1,)]
    os.utime(house.write("in/2.json", '{"a":2}\n'), (1e9, 1e9))
    assert house.arrived("s", "a") == [(2,)]


def test_folders_are_columns_also_when_they_come_later(house):
    (house.files / "in").mkdir()
    house.run("CREATE STREAM s (a INT, day DATE) USING json OPTIONS (path 'in')")
    assert house.batch("s") == []
    house.write("in/day=2024-01-01/1.json", '{"a":1}\n')
    assert house.batch("s", "a, CAST(day AS STRING)") == [(1, "2024-01-01")]
    assert house.arrived("s", "a,CAST(day AS STRING)") == [(1, "2024-01-01")]
    house.write("in/day=2024-01-02/1.json", '{"a":2}\n')
    assert house.batch("s", "a", "WHERE day = DATE'2024-01-02'") == [(2,)]
    house.spark.sql(
        f"CREATE OR REPLACE VIEW v_days AS SELECT count(*) AS n FROM {sources.batch_relation(house.entry('s'))}"
    )
    house.write("in/day=2024-01-03/1.json", '{"a":3}\n')
    assert house.spark.table("v_days").collect() == [(3,)]


def test_a_file_outside_of_the_folders_that_are_columns_is_refused_and_never_left_out(house):
    text = "CREATE STREAM s (a INT) USING json OPTIONS (path 'in'"
    house.write("in/1.json", '{"a":1}\n')
    house.write("in/day=1/_SUCCESS", "")
    house.run(f"{text})")
    assert house.arrived("s", "a") == house.batch("s") == [(1,)]
    house.write("in/day=1/2.json", '{"a":2}\n')
    house.write("in/3.json", '{"a":3}\n')
    read = (
        lambda: house.arrived("s", "a"),
        lambda: paths.check_path(house.spark, house.entry("s")),  # before a query and a replay
    )
    for way in read:
        with pytest.raises(WarehouseError) as error:
            way()
        assert error.value.condition == "WAREHOUSE_STREAM_FILE_OUTSIDE" and "/in/1.json of" in str(error.value)
    assert house.refusal(text.replace("CREATE", "CREATE OR REPLACE") + ")") == ("STREAM_FILE_OUTSIDE", "'in'")
    assert house.refusal(text.replace(" s ", " p ").replace("'in'", "'in/*'") + ")")[0] == "STREAM_FILE_OUTSIDE"
    house.run(text.replace(" s ", " r ").replace("'in'", "'in/*.json'") + ")")
    assert house.arrived("r", "a") == house.batch("r") == [(1,), (3,)]
    house.run(text.replace(" s ", " f ") + ", pathGlobFilter '2*')")
    assert house.arrived("f", "a") == house.batch("f") == [(2,)]
    house.run(text.replace("CREATE", "CREATE OR REPLACE") + ", recursiveFileLookup 'true')")
    assert house.arrived("s", "a") == [(2,), (3,)]
    assert house.batch("s") == [(1,), (2,), (3,)]


def test_patterns_and_single_files(house):
    for day in (1, 2):
        house.write(f"in/{day}/a.json", f'{{"a":{day}}}\n')
    house.run("CREATE STREAM g (a INT) USING json OPTIONS (path 'in/*/a*.json')")
    house.run("CREATE STREAM f (a INT) USING json OPTIONS (path 'in/1/a.json')")
    assert house.batch("g") == house.arrived("g", "a") == [(1,), (2,)]
    assert house.batch("f") == house.arrived("f", "a") == [(1,)]


def test_a_path_with_the_scheme_of_local_files(house):
    house.write("in put/1.json", '{"a":1}\n')
    place = f"{house.files}/in put".replace("'", "\\'")
    for number, scheme in enumerate(("file:", "file://", "FILE:")):
        house.run(f"CREATE STREAM s{number} (a INT) USING json OPTIONS (path '{scheme}{place}')")
        assert house.batch(f"s{number}") == [(1,)]
        assert house.entry(f"s{number}").option("path") == f"{house.files}/in put"


def test_names_that_look_like_patterns(house):
    for number in (1, 2, 3):
        house.write(f"d [x] {{y}} *?/{number}.json", f'{{"a":{number}}}\n')
    text = "CREATE STREAM s (a INT) USING json OPTIONS (path 'd [x] {y} *?'"
    assert house.refusal(f"{text})") == ("STREAM_FILE_NAME", "'d [x] {y} *?'")
    house.write("times/10:30.json", '{"a":1}\n')
    colon = house.refusal("CREATE STREAM s (a INT) USING json OPTIONS (path 'times')")
    assert colon == ("STREAM_FILE_COLON", "'times'")
    house.run(f"{text}, recursiveFileLookup 'true')")
    assert house.batch("s") == house.arrived("s", "a") == [(1,), (2,), (3,)]
    house.write("days[]/day=1/1.json", '{"a":1}\n')
    house.write("days[]/day=2/2.json", '{"a":2}\n')
    house.run("CREATE STREAM d (a INT, day INT) USING json OPTIONS (path 'days[]')")
    assert house.batch("d") == house.arrived("d", "a,day") == [(1, 1), (2, 2)]


def test_csv_with_a_header(house):
    house.write(
        "in/1.csv",
        'a,s,t\n1,x,2024-01-01 00:00:00\n2,y\n3,z,2024-01-01,more\nno,w,2024-01-01\n\n5,,\n 6,v,2024-01-01\n8,"open,2024-01-01\n9,"a,b",2024-01-02\n',
    )
    house.write("in/2.csv", "")
    house.write("in/3.csv", "a,s,t\n")
    house.run("CREATE STREAM c (a INT, s STRING, t TIMESTAMP) USING csv OPTIONS (path 'in', header 'true')")
    assert house.batch("c", "a, s") == [(1, "x"), (5, None), (9, "a,b")]
    assert house.batch("c", "count(*)") == [(3,)]
    broken = [r[0] for r in house.arrived("c", "__w_bad") if r[0]]
    assert broken == [" 6,v,2024-01-01", "2,y", "3,z,2024-01-01,more", '8,"open,2024-01-01', "no,w,2024-01-01"]
    house.write("in/4.csv", "s,a,t\nx,1,2024-01-01\n")
    with pytest.raises(Exception, match="FAILED_READ_FILE"):
        house.arrived("c")


def test_parquet_orc_and_text(house):
    spark = house.spark
    spark.sql("SELECT 1 AS a, timestamp'2024-01-01' AS t").write.parquet(str(house.files / "p"))
    spark.sql("SELECT 1 AS a").write.orc(str(house.files / "o"))
    house.write("x/1.txt", "one\ntwo\n")
    house.run("CREATE STREAM p USING parquet OPTIONS (path 'p') WATERMARK t DELAY OF INTERVAL 0 SECONDS")
    house.run("CREATE STREAM o (a INT, b STRING) USING orc OPTIONS (path 'o')")
    house.run("CREATE STREAM x USING text OPTIONS (path 'x')")
    assert house.batch("p", "a") == [(1,)]
    assert house.arrived("p", "a,__w_bad,__w_position IS NOT NULL") == [(1, None, True)]
    assert house.batch("o") == house.arrived("o", "a,b") == [(1, None)]
    assert house.batch("x") == house.arrived("x", "value") == [("one",), ("two",)]


def test_delta(house):
    path = str(house.files / "d")
    house.spark.sql("SELECT 1 AS a, 'x' AS s").write.format("delta").save(path)
    house.run("CREATE STREAM d USING delta OPTIONS (path 'd')")
    house.run("CREATE STREAM d1 (s STRING) USING delta OPTIONS (path 'd')")
    assert [c.name for c in house.entry("d").columns] == ["a", "s"]
    house.spark.sql("SELECT 2 AS a, 'y' AS s").write.format("delta").mode("append").save(path)
    assert house.batch("d") == house.arrived("d", "a,s") == [(1, "x"), (2, "y")]
    assert house.batch("d1") == house.arrived("d1", "s") == [("x",), ("y",)]
    assert house.refusal("CREATE STREAM e (s INT) USING delta OPTIONS (path 'd')") == ("STREAM_COLUMNS_DIFFER", "s")
    assert house.refusal("CREATE STREAM e USING delta OPTIONS (path '.')") == ("STREAM_NOT_DELTA", "'.'")
    house.spark.sql("CREATE OR REPLACE TABLE plain AS SELECT 7 AS a")
    assert sources.table_frame(house.spark, "plain").columns == ["a", "__w_bad", "__w_position"]


def test_a_delta_table_from_a_version_on_and_its_change_feed(house):
    path = str(house.files / "d")
    properties = "TBLPROPERTIES ('delta.enableChangeDataFeed'='true')"
    house.spark.sql(f"CREATE TABLE delta.`{path}` {properties} AS SELECT 1 AS a")
    house.spark.sql(f"UPDATE delta.`{path}` SET a = 2")
    feed = "USING delta OPTIONS (path 'd', readChangeFeed 'true'"
    columns = "a, _change_type, _commit_version"
    for name, begin in (("v", "startingVersion '1'"), ("m", "startingTimestamp '2020-01-01'")):
        house.run(f"CREATE STREAM {name} {feed}, {begin})")
        changed = [(1, "insert", 0)] * (name == "m") + [(1, "update_preimage", 1), (2, "update_postimage", 1)]
        assert house.batch(name, columns) == house.arrived(name, columns.replace(" ", "")) == changed
    for number, (begin, option) in enumerate((
        ("USING delta OPTIONS (path 'd', startingVersion '0')", "startingVersion"),
        ("USING delta OPTIONS (path 'd', startingTimestamp '2020-01-01')", "startingTimestamp"),
        ("USING delta OPTIONS (path 'd', excludeRegex 'x')", "excludeRegex"),
    )):  # fmt: skip
        house.run(f"CREATE STREAM n{number} {begin}")
        with pytest.raises(WarehouseError, match=f"has the option {option},") as error:
            sources.batch_relation(house.entry(f"n{number}"))
        assert error.value.condition == "WAREHOUSE_STREAM_OPTION_NO_BATCH"


@pytest.mark.parametrize("feed", ["", soaked(", readChangeFeed 'true'")])
def test_from_the_latest_version_on_is_from_when_a_table_first_looked(rows, tmp_path, feed):
    path = tmp_path / "d"

    def insert(value):
        rows(f"INSERT INTO delta.`{path}` VALUES ({value})")

    def told(*tables):
        rows("; ".join(f"REFRESH STREAMING TABLE {table}" for table in tables))
        return [[row["a"] for row in rows(f"SELECT a FROM {table} ORDER BY a")] for table in tables]

    rows(f"CREATE TABLE delta.`{path}` TBLPROPERTIES ('delta.enableChangeDataFeed'='true') AS SELECT 1 AS a")
    rows(f"CREATE STREAM k USING delta OPTIONS (path '{path}', startingVersion 'latest'{feed})")
    insert(2)
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k; REFRESH STREAMING TABLE t")
    rows(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('x' = 'y')")
    rows("CREATE STREAMING TABLE u AS SELECT a FROM STREAM k WHERE a > 2; REFRESH STREAMING TABLE u")
    # as a restart has it, everything that is known of the table is made anew
    rows("CREATE OR REPLACE STREAMING TABLE t AS SELECT a, a + 1 AS b FROM STREAM k")
    insert(3)
    assert told("t", "u") == [[3], [3]]
    insert(4)
    assert told("t", "u") == told("t", "u") == [[3, 4], [3, 4]]
    rows("REFRESH STREAMING TABLE t FULL")
    assert told("t") == [[]]
    insert(5)
    assert told("t", "u") == [[5], [3, 4, 5]]


def test_where_a_table_began_is_of_one_delta_table(rows, tmp_path):
    d, e = tmp_path / "d", tmp_path / "e"
    rows(f"CREATE TABLE delta.`{d}` AS SELECT 1 AS a; INSERT INTO delta.`{d}` VALUES (2)")
    rows(f"CREATE TABLE delta.`{e}` AS SELECT 3 AS a")
    stream = "STREAM k USING delta OPTIONS (path '{}', startingVersion 'latest')"
    rows(f"CREATE {stream.format(d)}; CREATE STREAMING TABLE t AS SELECT a FROM STREAM k")
    rows(f"CREATE OR REPLACE {stream.format(e)}; REFRESH STREAMING TABLE t")
    rows(f"INSERT INTO delta.`{e}` VALUES (4); REFRESH STREAMING TABLE t")
    assert rows("SELECT a FROM t") == [{"a": 4}]


def test_a_delta_table_that_was_made_anew_is_read_from_its_beginning(rows, tmp_path):
    path = tmp_path / "d"
    rows(f"CREATE TABLE delta.`{path}` AS SELECT 1 AS a; INSERT INTO delta.`{path}` VALUES (2)")
    rows(f"CREATE STREAM k USING delta OPTIONS (path '{path}', startingVersion 'latest')")
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k")
    shutil.rmtree(path)
    rows(f"CREATE TABLE delta.`{path}` AS SELECT 3 AS a; REFRESH STREAMING TABLE t")
    assert rows("SELECT a FROM t") == [{"a": 3}]


def test_rate(house):
    house.run("CREATE STREAM r USING rate OPTIONS (rowsPerSecond '5') WATERMARK timestamp DELAY OF INTERVAL 1 SECOND")
    assert [(c.name, c.type) for c in house.entry("r").columns] == [("timestamp", "timestamp"), ("value", "bigint")]
    assert sources.streaming_frame(house.spark, house.entry("r")).columns == [
        "timestamp",
        "value",
        "__w_bad",
        "__w_position",
    ]
    with pytest.raises(WarehouseError) as error:
        sources.batch_relation(house.entry("r"))
    assert error.value.condition == "WAREHOUSE_STREAM_NO_BATCH"


def test_inferred_columns(house):
    house.write("in/1.json", '{"a":1,"n":{"b c":[1.5]}}\nbroken\n')
    house.run("CREATE STREAM s USING json OPTIONS (path 'in')")
    assert [(c.name, c.type) for c in house.entry("s").columns] == [
        ("a", "bigint"),
        ("n", "struct<`b c`:array<double>>"),
    ]
    assert house.entry("s").inferred
    assert house.batch("s", "a, n.`b c`[0]") == [(1, 1.5)]


def test_odd_names_and_types(house):
    house.write("in/1.json", '{"a b":1,"x`y":"v","m":{"k":1},"d":1.25,"select":true}\n')
    house.run(
        "CREATE STREAM `we ird.ü` (`a b` INT, `x``y` VARCHAR(9) COMMENT 'it''s', m MAP<STRING, INT>, d DECIMAL(5, 2), `select` BOOLEAN) USING json OPTIONS (path 'in')"
    )
    assert house.batch("we ird.ü", "`a b`, `x``y`, m['k'], CAST(d AS STRING), `select`") == [(1, "v", 1, "1.25", True)]
    assert [tuple(r) for r in house.run("DESCRIBE STREAM `we ird.ü`").rows][1] == ("x`y", "string", "it's")
    house.write("in/2.json", "x\n")
    assert shown(house, "we ird.ü") == []
    set_aside(house, "we ird.ü", house.reader("we ird.ü"))
    assert [r[5] for r in shown(house, "we ird.ü")] == ["x"]


def test_files_that_are_no_text_or_cut_off(house):
    house.write("in/1.json", b'{"a":1,"s":"caf\xe9"}\n{"a":2,"s":"ok"}\n')
    house.run("CREATE STREAM s (a INT, s STRING) USING json OPTIONS (path 'in')")
    assert house.batch("s", "a") == [(2,)]
    whole = gzip.compress(b'{"a":3}\n' * 1000)
    house.write("in/2.json.gz", whole[:-12])
    with pytest.raises(Exception, match=r"FAILED_READ_FILE(?s:.*)2\.json\.gz"):
        house.arrived("s")


def test_on_error_fail(house):
    house.write("in/1.json", '{"a":1}\n')
    house.run("CREATE STREAM s (a INT) USING json OPTIONS (path 'in') ON ERROR FAIL")
    assert house.batch("s") == [(1,)]
    entry = house.entry("s")
    sources.refuse_bad(entry, sources.batch_frame(house.spark, entry, "json"))
    house.write("in/2.json", "broken\n")
    with pytest.raises(Exception, match=r"WAREHOUSE_BAD_RECORD(?s:.*)2\.json: broken"):
        house.batch("s", "count(*)")
    with pytest.raises(WarehouseError, match=r"2\.json: broken"):
        sources.refuse_bad(entry, sources.batch_frame(house.spark, entry, "json"))


# ---------------------------------------------------------------- CREATE, DROP, SHOW, DESCRIBE


def test_what_create_refuses_points_at_the_words(house):
    house.write("landing/plays/1.json", JSON)
    house.spark.sql("CREATE OR REPLACE TABLE taken_t AS SELECT 1 AS a")
    house.spark.sql("CREATE OR REPLACE VIEW taken_v AS SELECT 1 AS a")
    columns, place = "(a INT, t TIMESTAMP)", "OPTIONS (path 'landing/plays')"
    cases = {
        f"CREATE STREAM s {columns} USING avros.Nothing {place}": ("STREAM_FORMAT_UNKNOWN", "avros.Nothing"),
        f"CREATE STREAM s {columns} USING zzz": ("STREAM_FORMAT_UNKNOWN", "zzz"),
        f"CREATE STREAM s {columns} USING json OPTIONS (path 'landing/palys')": (
            "STREAM_PATH_NOT_FOUND",
            "'landing/palys'",
        ),
        f"CREATE STREAM s {columns} USING json OPTIONS (path 'nothing/*.json')": (
            "STREAM_PATH_NOT_FOUND",
            "'nothing/*.json'",
        ),
        f"CREATE STREAM s {columns} USING json OPTIONS (path 'file:/nowhere/in')": (
            "STREAM_PATH_NOT_FOUND",
            "'file:/nowhere/in'",
        ),
        f"CREATE STREAM s (a INT,\n b STRNG) USING json {place}": ("STREAM_COLUMNS", "STRNG"),
        f"CREATE STREAM s (a INT, b ARRAY<INT) USING json {place}": ("STREAM_COLUMNS", "<"),
        f"CREATE STREAM s (a INT NOT NULL) USING json {place}": ("STREAM_COLUMN_CONSTRAINT", "a"),
        f"CREATE STREAM s {columns} USING json {place} WATERMARK tt DELAY OF INTERVAL 1 SECOND": (
            "STREAM_WATERMARK_COLUMN",
            "tt",
        ),
        f"CREATE STREAM s {columns} USING json {place} WATERMARK a DELAY OF INTERVAL 1 SECOND": (
            "STREAM_WATERMARK_TYPE",
            "a",
        ),
        f"CREATE STREAM taken_t {columns} USING json {place}": ("NAME_TAKEN", "taken_t"),
        f"CREATE STREAM taken_v {columns} USING json {place}": ("NAME_TAKEN", "taken_v"),
        f"CREATE STREAM nowhere.s {columns} USING json {place}": ("SCHEMA_NOT_FOUND", "nowhere.s"),
        "CREATE STREAM s (timestamp DATE) USING rate": ("STREAM_COLUMNS_DIFFER", "timestamp"),
        f"CREATE STREAM s {columns} USING jdbc OPTIONS (url 'jdbc:x')": ("STREAM_NOT_STREAMABLE", "jdbc"),
        f"CREATE STREAM s {columns} USING replay OPTIONS (path 'landing/plays', arrival 'a')": (
            "REPLAY_ARRIVAL",
            "'a'",
        ),
        f"CREATE STREAM s {columns} USING replay OPTIONS (path 'landing/plays', arrival 'b')": (
            "REPLAY_ARRIVAL",
            "'b'",
        ),
        f"CREATE STREAM s {columns} USING replay OPTIONS (path 'landing/plays', arrival 't', watermark 'w.csv')": (
            "REPLAY_WATERMARK",
            "'w.csv'",
        ),
    }
    assert {text: house.refusal(text) for text in cases} == cases
    marked = "CREATE STREAM s (t STRING) USING json OPTIONS (path 'in') WATERMARK"
    named = house.refusal(f"{marked} to_timestamp(t) AS ts DELAY OF INTERVAL 0 SECONDS")
    assert named == ("WATERMARK_NAME", "WATERMARK to_timestamp(t) AS ts DELAY OF INTERVAL 0 SECONDS")
    (house.files / "empty").mkdir()
    assert house.refusal("CREATE STREAM s USING json OPTIONS (path 'empty')") == ("STREAM_COLUMNS_UNKNOWN", "s")
    house.write("lines/1.csv", "a,s\n1,x\n")
    for source, reason in (("parquet", "1.csv. Could not read footer"), ("json", "No record in it is JSON")):
        with pytest.raises(WarehouseError, match=f"STREAM_COLUMNS_UNKNOWN.*{reason}"):
            house.run(f"CREATE STREAM s USING {source} OPTIONS (path 'lines')")
    assert house.catalog.streams.all() == ()
    assert not (house.catalog.home / "streams").exists()
    with pytest.raises(WarehouseError, match=r"did you mean .*/landing/plays"):
        house.run(f"CREATE STREAM s {columns} USING json OPTIONS (path 'landing/play')")


def test_a_csv_whose_header_was_not_announced_or_differs(house):
    house.write("in/1.csv", "a,s\n1,x\n")
    assert house.refusal("CREATE STREAM s (a INT, s STRING) USING csv OPTIONS (path 'in')") == ("STREAM_HEADER", "csv")
    assert house.refusal("CREATE STREAM s (s STRING, a INT) USING csv OPTIONS (path 'in', header 'true')") == (
        "STREAM_HEADER",
        "'true'",
    )
    house.run("CREATE STREAM s (a STRING, s STRING) USING csv OPTIONS (path 'in', header 'false')")
    assert house.batch("s") == [("1", "x"), ("a", "s")]
    house.write("empty/1.csv", "")
    assert "created" in house.run("CREATE STREAM e (a INT) USING csv OPTIONS (path 'empty', header 'true')")


def test_names_that_exist(house):
    house.write("in/1.json", JSON)
    house.run("CREATE STREAM s (a INT) USING json OPTIONS (path 'in')")
    assert house.refusal("CREATE STREAM S (a INT) USING json OPTIONS (path 'in')") == ("STREAM_EXISTS", "S")
    assert "exists" in house.run("CREATE STREAM IF NOT EXISTS s (b INT) USING json OPTIONS (path 'nowhere')")
    assert [c.name for c in house.entry("s").columns] == ["a"]
    declared = {"(b INT) USING json OPTIONS (path 'in')": True, "(A int)  USING json OPTIONS (path 'in')": False}
    for text, told in declared.items():
        statement = parse(SourceText(f"CREATE STREAM IF NOT EXISTS s {text}"))
        assert isinstance(statement, CreateStream) and bool(ddl.unheeded(statement, house)) is told
    assert "replaced" in house.run("CREATE OR REPLACE STREAM s (s STRING) USING json OPTIONS (path 'in')")
    assert house.batch("s") == [("x",)]


def test_a_stream_that_is_read(house):
    house.write("in/1.json", JSON)
    house.run("CREATE STREAM s (a INT) USING json OPTIONS (path 'in')")
    house.reader("s")
    assert house.refusal("DROP STREAM s") == ("STREAM_IN_USE", "s")
    other = "CREATE OR REPLACE STREAM s (a STRING) USING json OPTIONS (path 'in')"
    assert house.refusal(other) == ("STREAM_REPLACE", "s")
    with pytest.raises(WarehouseError, match="STREAM_REPLACE"):  # so EXPLAIN and a dry run say it too
        ddl.draft_stream(parse(SourceText(other)), house)
    house.run("CREATE OR REPLACE STREAM s (a INT, s STRING) USING json OPTIONS (path 'in')")
    assert house.batch("s") == [(1, "x")]
    house.catalog.streaming_tables.drop("default", "t")
    house.run("DROP STREAM s")
    assert house.refusal("DROP STREAM s") == ("STREAM_NOT_FOUND", "s")
    assert "no such stream" in house.run("DROP STREAM IF EXISTS s")
    assert not house.spark.catalog.tableExists("warehouse_streams.default__s")
    assert not (house.catalog.home / "streams" / "default.s").exists()
    assert (house.files / "in" / "1.json").exists()


def test_show_and_describe(house):
    house.write("in/1.json", JSON)
    for name in ("Plays", "scores"):
        house.run(
            f"CREATE STREAM {name} (a INT COMMENT 'points', t TIMESTAMP) USING json OPTIONS (path 'in') WATERMARK t DELAY OF '10 seconds' IDLE TIMEOUT '1 minute'"
        )
    assert house.run("SHOW STREAMS").rows == [("default", "Plays", "json"), ("default", "scores", "json")]
    assert house.run("SHOW STREAMS LIKE 'p*'").rows == [("default", "Plays", "json")]
    assert house.refusal("SHOW STREAMS IN nowhere") == ("SCHEMA_NOT_FOUND", "nowhere")
    assert house.run("DESCRIBE STREAM plays").rows == [("a", "int", "points"), ("t", "timestamp", None)]
    facts = {row[0]: row[1] for row in house.run("DESCRIBE EXTENDED STREAM plays").rows}
    assert facts["Path"] == str(house.files / "in")
    assert facts["Watermark"] == "t DELAY OF 10 seconds" and facts["Idle timeout"] == "1 minute"
    assert house.refusal("DESCRIBE STREAM play") == ("STREAM_NOT_FOUND", "play")
    with pytest.raises(WarehouseError, match="did you mean Plays"):
        house.run("DESCRIBE STREAM play")


def test_what_a_crash_left_missing_is_mended(house):
    house.write("in/1.json", JSON)
    house.run("CREATE STREAM s (a INT) USING json OPTIONS (path 'in')")
    sources.drop_relation(house.spark, house.entry("s"))
    sources.ensure_relation(house.spark, house.entry("s"))
    assert house.batch("s") == [(1,)]


def test_the_options_we_know_are_sparks(house):
    known = house.spark._jvm.org.apache.spark.sql.catalyst
    for source, options in (("csv", known.csv.CSVOptions), ("json", known.json.JSONOptions)):
        theirs = {
            str(o).lower()
            for o in house.spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(options.getAllOptions())
        }
        writing = {"pretty", "sortkeys", "ignorenullfields", "writenonasciicharacterascodepoint"}
        ours = {"columnnameofcorruptrecord", "singlevariantcolumn"}
        assert theirs - writing - ours == {o.lower() for o in streams._READER_OPTIONS[source]}


# ---------------------------------------------------------------- replay


def recorded(house, lines, options=""):
    house.write("rec.csv", "\n".join(["player,score,arrived", *lines]) + "\n")
    house.run(
        "CREATE STREAM rec (player STRING, score INT, arrived TIMESTAMP) USING replay "
        f"OPTIONS (path 'rec.csv', header 'true', arrival 'arrived'{options})"
    )
    return replay.open_recording(house.spark, house.entry("rec"))


def played(recording):
    clock, out = None, []
    while (at := recording.schedule.next(clock)) is not None:
        frames = replay.Recordings((recording,)).rows(clock, at)
        rows = frames and frames[0].drop("__w_position", "__w_why", "arrived").collect()
        out.append((at, rows and sorted([tuple(r) for r in rows], key=str)))
        clock = at
    recording.close()
    return out


def test_a_replay_hands_out_rows_by_arrival(house):
    recording = recorded(house, ["b,2,1970-01-01 00:00:02", "a,1,1970-01-01 00:00:01", "c,3,1970-01-01 00:00:02"])
    assert played(recording) == [
        (1_000_000, [("a", 1, None, 1_000_000)]),
        (2_000_000, [("b", 2, None, 2_000_000), ("c", 3, None, 2_000_000)]),
    ]
    assert house.batch("rec", "sum(score)") == [(6,)]


def test_broken_rows_of_a_recording_are_handed_out_once(house):
    recording = recorded(
        house, ["b,no,1970-01-01 00:00:02", "a,1,1970-01-01 00:00:01", "c,3,", "nonsense"], ", watermark 'none'"
    )
    assert played(recording) == [
        (
            1_000_000,
            [
                ("a", 1, None, 1_000_000),
                ("c", 3, '{"player":"c","score":3}', 1_000_000),
                ("nonsense", None, "nonsense", 1_000_000),
            ],
        ),
        (2_000_000, [("b", None, "b,no,1970-01-01 00:00:02", 2_000_000)]),
    ]


def test_a_row_that_never_arrives_counts_nowhere(house):
    recorded(house, ["a,1,1970-01-01 00:00:01", "c,3,"], ", watermark 'none'").close()
    assert house.batch("rec", "count(*), sum(score)") == [(1, 1)]


def test_a_recording_without_any_arrival(house):
    assert played(recorded(house, ["c,3,"])) == [(0, [("c", 3, '{"player":"c","score":3}', 0)])]
    house.run("DROP STREAM rec")
    assert played(recorded(house, [])) == []


def test_micro_batches_and_a_recorded_watermark(house):
    house.write(
        "w.csv", "processing_time,watermark\n1970-01-01 00:00:30,1970-01-01 00:00:10\n1970-01-01 00:05:00,end\n"
    )
    recording = recorded(
        house,
        ["a,1,1970-01-01 00:00:01", "b,2,1970-01-01 00:01:00", "c,3,1970-01-01 00:01:01"],
        ", step INTERVAL '0:01' HOUR TO MINUTE, watermark 'w.csv'",
    )
    steps = played(recording)
    assert [(at // 60_000_000, len(rows) if rows is not None else None) for at, rows in steps] == [
        (1, 2),
        (2, 1),
        (5, None),
    ]
    assert [recording.schedule.watermark(at) for at, _ in steps] == [10_000_000, 10_000_000, 2**60]


def test_rows_added_behind_the_clock_are_not_lost_silently(house):
    recording = recorded(house, ["a,1,1970-01-01 00:00:01", "b,2,1970-01-01 00:00:03"])
    replay.Recordings((recording,)).check_overdue(3_000_000, 2)
    recording.close()
    house.write(
        "rec.csv",
        "player,score,arrived\na,1,1970-01-01 00:00:01\nb,2,1970-01-01 00:00:03\nc,3,1970-01-01 00:00:02\nd,4,1970-01-01 00:00:09\n",
    )
    again = replay.open_recording(house.spark, house.entry("rec"))
    assert again.schedule.next(3_000_000) == 9_000_000
    with pytest.raises(WarehouseError, match="1 rows were added"):
        replay.Recordings((again,)).check_overdue(3_000_000, 2)
    again.close()


def test_a_replay_of_a_delta_table(house):
    path = str(house.files / "d")
    house.spark.sql("SELECT 'a' AS player, timestamp_micros(5) AS arrived").write.format("delta").save(path)
    house.run("CREATE STREAM rec USING replay OPTIONS (path 'd', arrival 'ARRIVED')")
    assert house.entry("rec").option("format") == "delta"
    assert played(replay.open_recording(house.spark, house.entry("rec"))) == [(5, [("a", None, 5)])]
    assert house.batch("rec", "player") == [("a",)]


# ---------------------------------------------------------------- bad rows


def shown(house, name):
    entry = house.entry(name)
    text = bad_rows.relation(house.catalog.home, entry.schema, entry.name, entry.columns)
    return sorted((tuple(r) for r in house.spark.sql(f"SELECT * FROM {text}").collect()), key=str)


def set_aside(house, name, reader, step=1):
    entry = house.entry(name)
    rows = sources.batch_frame(house.spark, entry, "json").where("__w_bad IS NOT NULL")
    source, at = (entry.schema, entry.name, entry.columns), f"timestamp_seconds({step})"
    bad_rows.append(house.spark, house.catalog.home, source, reader, (0, step), rows, at)


def test_bad_rows_once_per_step_and_record(house):
    house.write("in/1.json", 'x\nx\n{"a":"no"}\n{"a":1}\n')
    house.run("CREATE STREAM s (a INT) USING json OPTIONS (path 'in')")
    assert shown(house, "s") == []
    entry, home = house.entry("s"), house.catalog.home
    rows = sources.batch_frame(house.spark, entry, "json").where("__w_bad IS NOT NULL")
    first, second = house.reader("s", "t1"), house.reader("s", "t2")
    for reader, clock in ((first, 1), (first, 1), (second, 2)):
        bad_rows.append(
            house.spark,
            home,
            (entry.schema, entry.name, entry.columns),
            reader,
            (0, 1),
            rows,
            f"timestamp_seconds({clock})",
        )
    found = shown(house, "s")
    moment = datetime(1970, 1, 1, 0, 0, 1)
    assert sorted(r[1] for r in found) == ["x", "x", '{"a":"no"}']
    assert {(r[0], r[2], r[3], r[5]) for r in found} == {(None, "NOT_PARSED", moment, "default.t1")}
    untimed = (
        sources.batch_frame(house.spark, entry, "json")
        .where("a = 1")
        .selectExpr("*", f"'{bad_rows.TIME_IS_NULL}' AS {bad_rows.WHY}")
    )
    for reader in (first, second):
        bad_rows.append(
            house.spark,
            home,
            (entry.schema, entry.name, entry.columns),
            reader,
            (0, 2),
            untimed,
            "timestamp_seconds(3)",
        )
    assert [(r[0], r[2], r[5]) for r in shown(house, "s") if r[0]] == [
        (1, "TIME_IS_NULL", "default.t1"),
        (1, "TIME_IS_NULL", "default.t2"),
    ]
    bad_rows.forget_reader(house.spark, home, first.id)
    assert {r[5] for r in shown(house, "s")} == {"default.t2"} and len(shown(house, "s")) == 4


@pytest.mark.soak
def test_a_reader_is_forgotten_by_the_streams_that_it_read(house):
    house.write("in/1.json", "x\n")
    for name in ("s", "t", "none"):
        house.run(f"CREATE STREAM {name} (a INT) USING json OPTIONS (path 'in')")
    first, second = house.reader("s", "one"), house.reader("s", "two")
    for name, reader in (("s", first), ("t", first), ("t", second)):
        set_aside(house, name, reader)
    kept = bad_rows.table_path(house.catalog.home, "default", "t")
    assert not bad_rows.exists(house.catalog.home, "default", "none")
    bad_rows.forget_reader(house.spark, house.catalog.home, "another-1")
    assert not (kept / "_delta_log" / f"{3:020}.json").exists()
    bad_rows.forget_reader(house.spark, house.catalog.home, first.id)
    assert [shown(house, name) == [] for name in ("s", "t", "none")] == [True, False, True]
    assert [r[5] for r in shown(house, "t")] == ["default.two"]


@pytest.mark.soak
def test_bad_rows_of_a_stream_that_gained_a_column(house):
    house.write("in/1.json", "x\n")
    house.run("CREATE STREAM s (a INT) USING json OPTIONS (path 'in')")
    reader = house.reader("s")
    set_aside(house, "s", reader)
    house.run("CREATE OR REPLACE STREAM s (`b ;` STRING, a INT) USING json OPTIONS (path 'in')")
    assert [(r[0], r[1], r[2]) for r in shown(house, "s")] == [(None, None, "x")]
    house.write("in/1.json", "y\n")
    set_aside(house, "s", reader, step=2)
    assert [(r[0], r[1], r[2]) for r in shown(house, "s")] == [(None, None, "x"), (None, None, "y")]
    assert bad_rows.relation(house.catalog.home, "default", "none", house.entry("s").columns).startswith(
        "(SELECT CAST(NULL AS string) AS `b ;`"
    )
