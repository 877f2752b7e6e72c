"""Every format on every type, exactly."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Callable, Iterator
from decimal import Decimal

import pyarrow as pa
import pytest

from warehouse.cli.formats import FORMATS
from warehouse.cli.formats.aligned import fit
from warehouse.cli.formats.cells import literals, texts

UTC = dt.UTC
INSTANTS = [dt.datetime(2013, 1, 1, 5, tzinfo=UTC), dt.datetime(2013, 7, 1, 5, 0, 0, 120_000, tzinfo=UTC), None]

EVERYTHING = pa.record_batch(
    {
        "bool": pa.array([True, False, None]),
        "int": pa.array([1, None, -3], pa.int64()),
        "double": pa.array([1.0, 1e10, float("nan")]),
        "float": pa.array([0.1, 1e-4, None], pa.float32()),
        "decimal": pa.array([Decimal("0E-10"), Decimal("12.3"), None], pa.decimal128(38, 10)),
        "string": pa.array(['a "q", b', "", "x\ny|\t\\"]),
        "日本": pa.array(["東京", "é", None]),
        "instant": pa.array(INSTANTS, pa.timestamp("us", "UTC")),
        "elsewhere": pa.array(INSTANTS, pa.timestamp("us", "America/New_York")),
        "wall": pa.array([dt.datetime(2013, 1, 1, 5, 0, 0, 1), None, None], pa.timestamp("us")),
        "date": pa.array([dt.date(2013, 1, 1), None, None]),
        "interval": pa.array([dt.timedelta(days=1, minutes=2, microseconds=5), None, None], pa.duration("us")),
        "calendar": pa.array([pa.MonthDayNano([14, 3, 1_500_000_000]), None, None]),
        "binary": pa.array([b"\x00\xff", None, b""]),
        "array": pa.array([["a", None], [], None]),
        "struct": pa.array(
            [{"a": 1, "at": INSTANTS[0]}, {"a": None, "at": None}, None],
            pa.struct({"a": pa.int64(), "at": pa.timestamp("us", "UTC")}),
        ),
        "map": pa.array([[("k", [1.5])], [], None], pa.map_(pa.string(), pa.list_(pa.float64()))),
        "void": pa.nulls(3),
    }
)


def write(name: str, *batches: pa.RecordBatch, schema: pa.Schema | None = None, width: int | None = None) -> str:
    out = io.BytesIO()
    FORMATS[name].write(schema or batches[0].schema, iter(batches), out, width)
    return out.getvalue().decode()


TEXT = [name for name in FORMATS if name != "arrow"]


@pytest.mark.parametrize("name", TEXT)
def test_every_type(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"everything.{name}", write(name, EVERYTHING))


@pytest.mark.parametrize("name", TEXT)
def test_batches_leave_no_seam(name: str) -> None:
    cut = [EVERYTHING.slice(0, 1), EVERYTHING.slice(1, 0), EVERYTHING.slice(1, 2)]
    assert write(name, *cut) == write(name, EVERYTHING)


def test_no_rows(golden: Callable[[str, str], None]) -> None:
    schema = pa.schema({"carrier": pa.string(), "n": pa.int64()})
    golden("no_rows.txt", "".join(f"== {name}\n{write(name, schema=schema)}" for name in TEXT))


def test_json_is_json() -> None:
    rows = json.loads(write("json", EVERYTHING))
    assert rows == [json.loads(line) for line in write("jsonl", EVERYTHING).splitlines()]
    assert rows[0]["instant"] == "2013-01-01T05:00:00Z"
    assert rows[1]["elsewhere"] == "2013-07-01T01:00:00.12-04:00"
    assert rows[2]["double"] == "NaN" and rows[2]["void"] is None and len(rows[2]) == EVERYTHING.num_columns


def test_json_keys_differ_where_columns_do_not() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["n", "n", "n_1"])
    assert write("jsonl", batch) == '{"n":1,"n_2":2,"n_1":3}\n'


def test_csv_tells_null_from_empty() -> None:
    assert write("csv", pa.record_batch({"a": ["", None], "b": [None, "x"]})) == 'a,b\n"",\n,x\n'


def test_tsv_keeps_one_line_per_row() -> None:
    assert write("tsv", pa.record_batch({"a": ["x\ty\nz\\", None]})) == "a\nx\\ty\\nz\\\\\n\\N\n"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.001, "0.001"),
        (9.99e-4, "9.99E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.125, "1.23456789125E8"),
        (-1.5e-7, "-1.5E-7"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (5e-324, "5.0E-324"),
    ],
)
def test_doubles_look_as_in_spark(number: float, text: str) -> None:
    assert texts(pa.array([number])).to_pylist() == [text]


def test_nested_nulls_and_slices() -> None:
    kind = pa.list_(pa.map_(pa.string(), pa.struct({"x": pa.int64()})))
    array = pa.array([[[("a", {"x": 1})], None], None, [], [[("b", None), ("c", {"x": None})]]], kind)
    expected = ['[{"a":{"x":1}},null]', "null", "[]", '[{"b":null,"c":{"x":null}}]']
    assert literals(array).to_pylist() == expected
    for start in range(4):
        assert literals(array.slice(start)).to_pylist() == expected[start:]
    assert texts(array).to_pylist() == [None if each == "null" else each for each in expected]


def test_arrow_streams_follow_one_another() -> None:
    out = io.BytesIO()
    for batch in (EVERYTHING, pa.record_batch({"n": [1]})):
        FORMATS["arrow"].write(batch.schema, iter([batch]), out, None)
    out.seek(0)
    assert pa.ipc.open_stream(out).read_all().num_columns == EVERYTHING.num_columns
    assert pa.ipc.open_stream(out).read_all().column("n").to_pylist() == [1]
    assert not out.read()


def test_a_table_fits_the_terminal(golden: Callable[[str, str], None]) -> None:
    golden(
        "terminal.txt", "".join(f"== {width}\n{write('table', EVERYTHING, width=width)}" for width in (250, 100, 40))
    )


@pytest.mark.parametrize("width", [1, 10, 40, 80, 120])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 30])
def test_fit_keeps_to_the_width(width: int, count: int) -> None:
    sizes, shown = fit([12] * count, [at % 2 == 0 for at in range(count)], width)
    assert len(sizes) == len(shown)
    assert sum(sizes) + 3 * len(sizes) + 1 <= width or len([at for at in shown if at is not None]) == 1


def test_a_wider_cell_below_the_sample_is_not_cut() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"s": ["x"] * 10_000})
        yield pa.record_batch({"s": ["a long one"]})

    out = io.BytesIO()
    FORMATS["table"].write(pa.schema({"s": pa.string()}), batches(), out, None)
    assert "│ a long one │" in out.getvalue().decode()


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "json"])
def test_rows_leave_before_the_next_batch_is_asked_for(name: str) -> None:
    out, seen = io.BytesIO(), []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(3):
            yield pa.record_batch({"n": [number]})
            seen.append(len(out.getvalue()))

    FORMATS[name].write(pa.schema({"n": pa.int64()}), batches(), out, None)
    assert seen == sorted(set(seen)) and seen[0] > 0
