"""Who runs SQL in the benchmarks: us, PySpark as a newcomer has it, PySpark tuned, DuckDB. One at a time.

All offer the same few things (``System``). Spark and we live in a JVM: a process has one of them at a time, and
``Apart`` gives each a process of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pyarrow as pa

if TYPE_CHECKING:
    from warehouse.engine import Engine

HEAP = "8g"
"""The heap of both PySparks. The default of 1 GB fails at scale factor 1 of TPC-H, in the first large broadcast."""


class System(Protocol):
    """Somebody who runs SQL."""

    process: int

    def run(self, text: str) -> pa.Table:
        """Run one statement and return all its rows."""


class Warehouse:
    """This project's engine."""

    def __init__(self, engine: Engine):
        self.engine, self.spark, self.process = engine, engine.spark, process_of(engine.spark)

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, str] | None = None) -> Warehouse:
        """Return one on a folder, which may hold tables from an earlier run."""
        from warehouse.engine import Engine

        return cls(Engine.open(folder, settings or {}))

    def run(self, text: str) -> pa.Table:
        """Run statements; return the rows of the last one that has any."""
        table = pa.table({})
        for result in self.engine.run(text):
            batches = list(result.batches)
            if batches:
                table = pa.Table.from_batches(batches)
        return table

    @contextmanager
    def told(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Have these settings of Spark for a while: without one it has Spark's, and not what the engine began with."""
        before = {name: self.spark.conf.get(name, None) for name in settings}
        for name, value in settings.items():
            self.spark.conf.set(name, value)
        try:
            yield
        finally:
            for name, old in before.items():
                self.spark.conf.unset(name) if old is None else self.spark.conf.set(name, old)

    def close(self) -> None:
        self.engine.close()


class Newcomer:
    """PySpark as its quick start has it: ``SparkSession.builder.getOrCreate()``, and the heap that the data needs."""

    settings: ClassVar[Mapping[str, str]] = {}

    def __init__(self, views: Mapping[str, Path]):
        from pyspark.sql import SparkSession

        self.scratch = tempfile.TemporaryDirectory()
        builder = SparkSession.builder.config("spark.driver.memory", HEAP)
        shown = {"spark.ui.showConsoleProgress": "false", "spark.sql.warehouse.dir": self.scratch.name}
        for name, value in {**self.settings, **shown}.items():
            builder = builder.config(name, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.process = process_of(self.spark)
        for name, path in views.items():
            self.spark.read.parquet(str(path)).createOrReplaceTempView(name)

    def run(self, text: str) -> pa.Table:
        """Run a statement."""
        return self.spark.sql(text).toArrow()

    def close(self) -> None:
        self.spark.stop()
        self.scratch.cleanup()


class Tuned(Newcomer):
    """PySpark with what helps queries of this size on a small machine, by settings alone."""

    settings: ClassVar[Mapping[str, str]] = {
        "spark.sql.shuffle.partitions": str(len(os.sched_getaffinity(0))),
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
        "spark.ui.enabled": "false",
    }


class Duck:
    """DuckDB, with as many threads as there are cores, over views of Parquet files or tables of its own."""

    def __init__(self, views: Mapping[str, Path], own_tables: bool = False):
        import duckdb

        self.process = os.getpid()
        self.connection = duckdb.connect()
        self.connection.execute(f"SET threads = {len(os.sched_getaffinity(0))}")
        self.connection.execute("SET enable_progress_bar = false")
        kind = "TABLE" if own_tables else "VIEW"
        for name, path in views.items():
            self.connection.execute(f"CREATE {kind} {name} AS SELECT * FROM '{path}'")

    def run(self, text: str) -> pa.Table:
        """Run a statement."""
        return self.connection.execute(text).to_arrow_table()

    def close(self) -> None:
        self.connection.close()


@contextmanager
def opened(system: Any) -> Iterator[Any]:
    """Give a system back when done with."""
    try:
        yield system
    finally:
        system.close()


class Apart:
    """Work that goes on in a process of its own each time it is asked to: what a generator function yields."""

    def __init__(self, work: Callable[..., Iterator[Any]], *arguments: Any):
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._child = context.Process(target=_work, args=(there, work, arguments))
        self._child.start()
        there.close()

    def __next__(self) -> Any:
        """Return what it yields next.

        Raises:
            RuntimeError: it failed there, with what it said.
        """
        try:
            self._here.send(None)
            good, outcome = self._here.recv()
        except (EOFError, BrokenPipeError):
            self._child.join()
            good, outcome = False, f"its process ended with {self._child.exitcode}"
        if not good:
            raise RuntimeError(outcome)
        return outcome

    def close(self) -> None:
        """Let it end, and wait for that."""
        self._here.close()
        self._child.join()


def _work(pipe: Any, work: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]) -> None:
    steps = work(*arguments)
    try:
        while True:
            pipe.recv()
            pipe.send((True, next(steps)))
    except EOFError:
        steps.close()  # type: ignore[attr-defined]
    except Exception:
        pipe.send((False, traceback.format_exc()))


def process_of(spark: Any) -> int:
    """Return the id of the JVM."""
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())
