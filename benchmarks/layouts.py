"""Where the state of a streaming table could be kept: what one step's write and read cost in each of four layouts.

A state of so many windows, and steps that each change some of them: the changed windows are written, durably but for
the cache, and what a batch of as many other keys hits is read, the newest version of each. *Delta* appends to a Delta
table; *files* writes a folder of Parquet a step, named in a log of its own, and folds ten of them into a base; *files,
hot* reads those of the last ten steps from memory; *cache* keeps all of the state in Spark's cache and nothing on disk,
each step a new version of the whole.

Usage: ``python -m benchmarks layouts [--keys 100000,1000000] [--rows 1000,10000,100000] [--steps 12]``. Writes
``benchmarks/out/layouts.{md,json}``.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from benchmarks import arguments, report
from warehouse.engine import Engine
from warehouse.streaming.state.state import MOST_DELTAS
from warehouse.streaming.steps.runner import SETTINGS

WINDOW = (
    "id AS key", "0L AS ws", "3600000000L AS we", "id AS p0", "id * 2 AS p1", "CAST(id % 1000 AS INT) AS p2",
    "1L AS pn", "0 AS idx", "CAST(NULL AS INT) AS l_idx", "3600000000L AS due_wm", "CAST(NULL AS BIGINT) AS due_at",
)  # fmt: skip
"""The columns of a window of one key, three partial results and a trigger."""
WARM = 3


@dataclass
class Layout:
    """One layout. ``write`` stores changed windows as a step's; ``read`` returns a superset of what ``hits`` touch."""

    spark: SparkSession
    place: Path

    def begin(self, state: DataFrame) -> None:
        raise NotImplementedError

    def write(self, step: int, changed: DataFrame) -> None:
        raise NotImplementedError

    def read(self) -> DataFrame:
        raise NotImplementedError


class Delta(Layout):
    """Changes appended to a Delta table, which is put together like the files are."""

    def begin(self, state: DataFrame) -> None:
        state.write.format("delta").save(str(self.place))

    def write(self, step: int, changed: DataFrame) -> None:
        changed.write.format("delta").mode("append").save(str(self.place))
        if step % MOST_DELTAS == 0:
            self.spark.sql(f"OPTIMIZE delta.`{self.place}`").collect()

    def read(self) -> DataFrame:
        return self.spark.read.format("delta").load(str(self.place))


@dataclass
class Files(Layout):
    """A base and a folder of Parquet for each step since."""

    base: Path | None = None
    deltas: list[Path] = field(default_factory=list)
    schema: StructType | None = None

    def begin(self, state: DataFrame) -> None:
        self.base, self.schema = self.place / "base-0", state.schema
        state.sort("key").write.parquet(str(self.base))

    def write(self, step: int, changed: DataFrame) -> None:
        delta = self.place / f"delta-{step}"
        changed.write.parquet(str(delta))
        self.deltas.append(delta)
        if len(self.deltas) == MOST_DELTAS:
            folded = self.place / f"base-{step}"
            newest(self.read()).sort("key").write.parquet(str(folded))
            for folder in (self.base, *self.deltas):
                shutil.rmtree(str(folder))
            self.base, self.deltas = folded, []
        named = json.dumps([str(self.base), *map(str, self.deltas)])
        (self.place / f"{step}.json").write_text(named)

    def read(self) -> DataFrame:
        return self._of(self.base, *self.deltas)

    def _of(self, *folders: Path | None) -> DataFrame:
        return self.spark.read.schema(self.schema).parquet(*map(str, folders))


@dataclass
class Hot(Files):
    """The same, what the last steps wrote being read from memory."""

    frames: dict[Path, DataFrame] = field(default_factory=dict)

    def read(self) -> DataFrame:
        found = self._of(self.base)
        for gone in self.frames.keys() - set(self.deltas):
            self.frames.pop(gone).unpersist()
        for delta in self.deltas:
            if delta not in self.frames:
                self.frames[delta] = self._of(delta).persist(StorageLevel.MEMORY_ONLY)
            found = found.union(self.frames[delta])
        return found


class Cache(Layout):
    """All of the state in memory."""

    state: DataFrame

    def begin(self, state: DataFrame) -> None:
        self.state = self._stored(state)

    def write(self, step: int, changed: DataFrame) -> None:
        before = self.state
        self.state = self._stored(before.join(changed, "key", "left_anti").unionByName(changed))
        before.unpersist()

    def read(self) -> DataFrame:
        return self.state

    def _stored(self, rows: DataFrame) -> DataFrame:
        stored = rows.persist(StorageLevel.MEMORY_ONLY)
        stored.count()
        return stored


LAYOUTS: dict[str, type[Layout]] = {"Delta": Delta, "files": Files, "files, hot": Hot, "cache": Cache}


@dataclass(frozen=True)
class Run:
    """The counted steps of a layout: seconds that each write and each read took."""

    layout: str
    keys: int
    rows: int
    writes: tuple[float, ...]
    reads: tuple[float, ...]


def newest(rows: DataFrame) -> DataFrame:
    """Return of each window the newest version."""
    latest = rows.selectExpr("*", "max(step) OVER (PARTITION BY key, ws) AS newest")
    return latest.where("step = newest").drop("newest")


def one(spark: SparkSession, place: Path, name: str, keys: int, rows: int, steps: int) -> Run:
    """Run the steps of one layout."""
    layout, writes, reads = LAYOUTS[name](spark, place), list[float](), list[float]()
    layout.begin(spark.range(keys).selectExpr(*WINDOW, "0L AS step"))
    for step in range(1, steps + WARM + 1):
        keyed = f"pmod(xxhash64(id, {{}}), {keys}L) AS id"
        changed = spark.range(0, rows, 1, 1).selectExpr(keyed.format(step)).distinct()
        begun = time.perf_counter()
        layout.write(step, changed.selectExpr(*WINDOW, f"{step}L AS step"))
        written = time.perf_counter()
        hits = spark.range(0, rows, 1, 1).selectExpr(keyed.format(-step)).selectExpr("id AS key").distinct()
        found = newest(layout.read().join(F.broadcast(hits), "key", "left_semi")).agg(F.count("*"), F.sum("p0"))
        assert found.collect()[0][0]
        if step > WARM:
            writes.append(written - begun)
            reads.append(time.perf_counter() - written)
    spark.catalog.clearCache()
    return Run(name, keys, rows, tuple(writes), tuple(reads))


def main(argv: list[str] | None = None) -> int:
    """Run everything, print the table and write it down."""
    parser = arguments.parser("layouts", __doc__)
    parser.add_argument("--keys", default="100000,1000000", help="windows in the state")
    parser.add_argument("--rows", default="1000,10000,100000", help="windows that a step changes, and as many it reads")
    parser.add_argument("--steps", type=int, default=12, help=f"counted steps, after {WARM}")
    chosen = parser.parse_args(argv)
    runs = []
    with tempfile.TemporaryDirectory() as scratch, Engine.open(Path(scratch, "warehouse")) as engine:
        spark = engine.spark.newSession()
        for key, value in SETTINGS.items():
            spark.conf.set(key, value)
        for keys in map(int, chosen.keys.split(",")):
            for rows in map(int, chosen.rows.split(",")):
                for name in LAYOUTS:
                    runs.append(one(spark, Path(scratch, f"state{len(runs)}"), name, keys, rows, chosen.steps))
    report.keep("layouts", told(runs), runs)
    return 0


def told(runs: list[Run]) -> str:
    """Return the table: the median of a write and of a read, and their sum."""
    lines = []
    for run in runs:
        both = [write + read for write, read in zip(run.writes, run.reads, strict=True)]
        figures = [f"{statistics.median(seconds):.2f}" for seconds in (run.writes, run.reads, both)]
        lines.append([f"{run.keys:,}", f"{run.rows:,}", run.layout, *figures])
    return report.table(["windows", "rows a step", "layout", "write, s", "read, s", "both, s"], lines)
