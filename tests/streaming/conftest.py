"""One engine, and statements about streams run on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.statements import Rows, rows_of
from warehouse.catalog.entries import StreamEntry, StreamingTableEntry, new_id
from warehouse.catalog.store import Catalog
from warehouse.engine import Engine
from warehouse.errors import SourceText, WarehouseError
from warehouse.language.parser import parse
from warehouse.language.statements import CreateStream, DescribeObject, DropObject, ShowObjects
from warehouse.streaming.sources import ddl, sources


@dataclass(frozen=True)
class House:
    """A warehouse with a current schema, and a folder for the files of its streams."""

    spark: SparkSession
    catalog: Catalog
    files: Path
    schema: str = "default"

    def run(self, text: str) -> Any:
        """Run a statement about streams; its mistakes point into ``text``."""
        source = SourceText(text)
        statement = parse(source)
        acts: dict[type, Callable[..., Any]] = {
            CreateStream: ddl.create_stream,
            DropObject: ddl.drop_stream,
            ShowObjects: ddl.show_streams,
            DescribeObject: ddl.describe_stream,
        }
        try:
            return acts[type(statement)](statement, self)
        except WarehouseError as error:
            raise error.located_in(source) from error

    def refusal(self, text: str) -> tuple[str, str]:
        """Return condition and words at fault of a statement that must fail."""
        with pytest.raises(WarehouseError) as error:
            self.run(text)
        found = error.value.diagnostics[0]
        assert found.span is not None, str(error.value)
        return found.condition.removeprefix("WAREHOUSE_"), found.span.of(text)

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.files / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def entry(self, name: str) -> StreamEntry:
        entry = self.catalog.streams.get(self.schema, name)
        assert entry is not None
        return entry

    def batch(self, name: str, what: str = "*", rest: str = "") -> list[tuple[Any, ...]]:
        """Query all that has arrived in a stream."""
        text = f"SELECT {what} FROM {sources.batch_relation(self.entry(name))} {rest}"
        return sorted((tuple(r) for r in self.spark.sql(text).collect()), key=str)

    def arrived(self, name: str, columns: str = "*") -> list[tuple[Any, ...]]:
        """Read what a stream has that was not read before by this method."""
        out: list[tuple[Any, ...]] = []

        def take(rows: DataFrame, _: int) -> None:
            out.extend(tuple(r) for r in rows.selectExpr(*columns.split(",")).collect())

        frame = sources.streaming_frame(self.spark, self.entry(name))
        checkpoint = str(self.files / ".checkpoints" / name)
        writer = frame.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return sorted(out, key=str)

    def reader(self, stream: str, name: str = "t") -> StreamingTableEntry:
        entry = StreamingTableEntry(
            "default", name, new_id(name), "CREATE", None, (), (), (self.entry(stream).qualified,),
            False, "ACCUMULATING", False, (), "2024-01-01",
        )  # fmt: skip
        self.catalog.streaming_tables.put(entry)
        return entry


@pytest.fixture(scope="session")
def spark(engine: Engine) -> SparkSession:
    """Return the session of the one engine."""
    return engine.spark


@pytest.fixture
def rows(engine: Engine, schema: str) -> Rows:
    """Return ``rows(statements)``, in a schema of the test's own."""
    return partial(rows_of, engine)


@pytest.fixture
def house(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """Return an empty catalog on the one engine, with the current folder at its files."""
    files = tmp_path / "it's 100% #1 ü"
    files.mkdir()
    monkeypatch.chdir(files)
    house = House(spark, Catalog.open(tmp_path / "home"), files)
    yield house
    for entry in house.catalog.streams.all():
        sources.drop_relation(spark, entry)
