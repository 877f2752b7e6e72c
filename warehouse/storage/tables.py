"""The tables whose rows are laid out: distributed, verified, put into memory again, asked about."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import quote_name
from warehouse.errors import fail
from warehouse.execution import java_sources
from warehouse.language.statements import Name, TableFunction
from warehouse.planning.context import Context
from warehouse.planning.distribution import PROPERTY, LayoutChange, read
from warehouse.storage.panes import Panes, strangers
from warehouse.storage.records import Records, Verified

SOURCES = Path(__file__).parent / "java"
_IN_TASKS = "warehouse/storage/tasks"
"""The package whose classes run in tasks."""


def compile_ahead(gateway: Any) -> None:
    """Compile what the first query would wait for, then the rest for later engines."""
    for name in (
        "Layouts",
        "Scans",
        "PartitionedScan",
        "MemoryScans",
        "MemoryScan",
        "CurrentSizes",
        "LoadedTables",
        "Subqueries",
        "SizesInMemory",
        "SizedInMemory",
        "FewFiles",
        "FromTheLog",
        "Listed",
        "Said",
        "Topmost",
        "Pruning",
        "Facts",
        "Names",
        "WholeSums",
        "Careful",
        "PiecesOfLike",
    ):
        java_sources.load(gateway, SOURCES, f"warehouse.storage.{name}")
    java_sources.keep(gateway, SOURCES)


class TableLayouts:
    """Distribution, statistics and memory of the tables of one warehouse, for all its sessions.

    Attributes:
        functions: the table functions that ask about them.
        panes: the same for the folders of streaming tables.
    """

    functions = ("partition_stats", "cache_stats")

    def __init__(self, spark: SparkSession, folder: Path):
        self._records, self._guard = Records(folder), threading.RLock()
        gateway = spark.sparkContext._gateway
        self._java = java_sources.load(gateway, SOURCES, "warehouse.storage.Layouts").newInstance()
        self.panes = Panes(self._java)
        self._begun = self._gathers = False
        self.install(spark._jsparkSession)
        for path, found in self._records.verified.items():
            self._remember(path, found)

    def install(self, session: Any) -> None:
        """Let a Java session, and those that share its extensions, read distributed tables as what they are."""
        self._java.install(session)

    def begin(self, spark: SparkSession) -> None:
        """Do what waits for the first statement: tables that belong into memory are put there when they are next read.

        Tasks get the classes that gather statistics once these are compiled, which in the first engine of all takes a
        while; until then Delta gathers the same.
        """
        with self._guard:
            if not self._gathers and java_sources.ship(spark, SOURCES, _IN_TASKS):
                self._java.gather()
                self._gathers = True
            if self._begun:
                return
            self._begun = True
            for name in sorted(self._records.cached):
                if _is_kept_in_memory(spark, name):
                    spark.sql(f"CACHE LAZY TABLE {name}")
                else:
                    self._records.cached.discard(name)

    # ---------------------------------------------------------------- after a statement

    @contextmanager
    def writing(self, spark: SparkSession, change: LayoutChange | None, schema: str) -> Iterator[list[str]]:
        """Let a statement write a distributed table without a shuffle where that pays, and pack what is for memory.

        Args:
            spark: the session that runs it.
            change: what it asks for.
            schema: where its names are looked up.

        Yields:
            a list, which gets the names of the files that were written without a shuffle when the statement has run.
        """
        placed: list[str] = []
        distribution = change.distribution if change else None
        remembers = change is not None and self._remembers(spark, change, schema)
        if not self._gathers or not (distribution or remembers):
            yield placed
            return
        keys, partitions = (list(distribution.keys), distribution.partitions) if distribution else ([], 0)
        writing = self._java.writing(remembers, keys, partitions)
        try:
            yield placed
        finally:
            placed.extend(writing.end())

    def _remembers(self, spark: SparkSession, change: LayoutChange, schema: str) -> bool:
        """Say whether what a statement writes belongs into memory; a table of that name may have been dropped."""
        if change.cache is not None:
            return change.cache
        return self._is_in_memory(spark, _qualified(change.table, schema))

    def _is_in_memory(self, spark: SparkSession, name: str) -> bool:
        """Say whether a table is in memory because it belongs there."""
        if name not in self._records.cached:
            return False
        try:
            return spark.catalog.isCached(name)
        except AnalysisException:
            return False

    def apply(self, spark: SparkSession, change: LayoutChange, schema: str, placed: Iterable[str] = ()) -> list[str]:
        """Do what a statement that has run asks for its table; return what there is to warn of.

        Args:
            spark: the session that ran it.
            change: what it asks for.
            schema: where its names are looked up.
            placed: names of files whose rows are known to be in their partitions.
        """
        name = ".".join(quote_name(part) for part in change.table.parts)
        path = _path(spark, change.table, schema)
        if path is None:
            return []
        with self._guard:
            warnings = []
            if change.distribution:
                warnings = self._verified(spark, path, name, change.afresh, set(placed))
            cache, qualified = change.cache, _qualified(change.table, schema)
            if change.former and _qualified(change.former, schema) in self._records.cached:
                self._records.cached.discard(_qualified(change.former, schema))
                cache = True
            if cache is not None:
                self._cache(spark, qualified, cache)
            elif self._is_in_memory(spark, qualified):
                # Delta had Spark plan it anew before its rows were looked at, and another writer may have crossed that
                spark.sql(f"UNCACHE TABLE IF EXISTS {qualified}")
                spark.sql(f"CACHE LAZY TABLE {qualified}")
            self._records.save()
        return warnings

    @contextmanager
    def reshaped(self, spark: SparkSession, table: Name | None, schema: str) -> Iterator[None]:
        """Let a statement change what a table's columns are: it leaves memory before, and is read into it again.

        Where the table is in memory Spark would compute that anew after the change, by the plan from before it.
        """
        name = _qualified(table, schema) if table else None
        if name is None or name not in self._records.cached:
            yield
            return
        spark.sql(f"UNCACHE TABLE IF EXISTS {name}")
        try:
            yield
        finally:
            with suppress(AnalysisException):  # it was renamed: what follows its statement keeps it
                spark.sql(f"CACHE LAZY TABLE {name}")

    def _cache(self, spark: SparkSession, name: str, wanted: bool) -> None:
        spark.sql(f"UNCACHE TABLE IF EXISTS {name}")
        self._records.cached.discard(name)
        if wanted:
            spark.sql(f"CACHE TABLE {name}")
            self._records.cached.add(name)

    def _verified(self, spark: SparkSession, path: str, name: str, afresh: bool, placed: set[str]) -> list[str]:
        """Look whether the rows of new files are where their keys say; what was looked at before counts.

        How the table is distributed it says itself: a statement may have been about another one, as CREATE TABLE IF NOT
        EXISTS is, and may have given keys other types.
        """
        look = self._java.look(spark._jsparkSession, path)
        distribution = read(look.property(PROPERTY))
        if distribution is None:
            return []
        types, known = tuple(look.types(list(distribution.keys))), self._records.verified
        its = [found for found in (known.get(path), *known.values()) if found and found.id == look.id()]
        before = its[0] if its else None  # of a table that was renamed, under its former path
        there = set(look.files())
        counts = before is not None and before.is_of(distribution, types) and not afresh
        good, bad = (set(before.good), set(before.bad) & there) if before and counts else (set(), set())
        odd = strangers(look, spark, there - good - bad - placed, distribution)
        found = Verified(
            look.id(), look.version(), distribution.keys, distribution.partitions,
            tuple(sorted(there - bad - odd)), tuple(sorted(bad | odd)), types,
        )  # fmt: skip
        self._records.verified[path] = found
        self._remember(path, found)
        if found.holds or (before and before.keys == distribution.keys and not before.holds):
            return []
        return [
            f"warning: {name} is no longer distributed by {', '.join(distribution.keys)}: rows were written that are"
            f" not in their partition, so joins on it are shuffled again\n"
            f"hint: INSERT OVERWRITE {name} SELECT * FROM {name} distributes all of it anew"
        ]

    def _remember(self, path: str, found: Verified) -> None:
        self._java.remember(path, found.id, found.version, found.holds, list(found.keys), found.partitions)

    # ---------------------------------------------------------------- what is in it

    def relation(self, spark: SparkSession, context: Context, call: TableFunction, panes: Path | None) -> str:
        """Return what stands for ``partition_stats`` and ``cache_stats`` of a table.

        Args:
            spark: the session that asks.
            context: where the name is looked up.
            call: the function and the table.
            panes: where the rows of a streaming table are; None for other tables.

        Raises:
            WarehouseError: there is no such table, or it is none of Delta's.
        """
        schema, name = context.resolve(call.argument)
        view = f"__w_{call.function}_{schema}_{name}"
        if call.function == "cache_stats":
            self._cached(spark, call, view)
            return f"(SELECT * FROM {quote_name(view)})"
        path = str(panes) if panes else _path(spark, call.argument, context.schema)
        if path is None:
            _read(spark, call, f"`{schema}`.`{name}`")
        if path is None or not (Path(path) / "_delta_log").is_dir():
            fail("WAREHOUSE_STATS_FORMAT", call.argument.span, name=name)
        holds = self._java.holds(spark._jsparkSession, path)
        self._java.statistics(spark._jsparkSession, path, view, holds)
        return f"(SELECT * FROM {quote_name(view)})"

    def _cached(self, spark: SparkSession, call: TableFunction, view: str) -> None:
        table = _read(spark, call, ".".join(map(quote_name, call.argument.parts)))
        self._java.cached(spark._jsparkSession, table._jdf, view)


def _read(spark: SparkSession, call: TableFunction, shown: str) -> DataFrame:
    """Return the table or view that a function is asked about.

    Raises:
        WarehouseError: there is none, which is told with the name ``shown``.
    """
    try:
        return spark.table(".".join(map(quote_name, call.argument.parts)))
    except AnalysisException:
        fail("TABLE_OR_VIEW_NOT_FOUND", call.argument.span, relationName=shown)


def _is_kept_in_memory(spark: SparkSession, name: str) -> bool:
    """Say whether there is a table of a name that was in memory once, and it is to be there still."""
    try:
        (found,) = spark.sql(f"SHOW TBLPROPERTIES {name} ('cache')").collect()
    except AnalysisException:  # dropped, or its schema
        return False
    return str(found.value).lower() == "true"


def _qualified(table: Name, schema: str) -> str:
    """Return a table's name with its schema, as SQL text, the same however it is written."""
    return ".".join(quote_name(part).lower() for part in table.within(schema))


def _path(spark: SparkSession, table: Name, schema: str) -> str | None:
    """Return the folder of a table; None when there is none."""
    jvm: Any = spark._jvm
    schema, last = table.within(schema)
    try:
        identifier = jvm.org.apache.spark.sql.catalyst.TableIdentifier(last, jvm.scala.Option.apply(schema))
        location = spark._jsparkSession.sessionState().catalog().getTableMetadata(identifier).location()
    except (AnalysisException, Py4JError):
        return None
    return unquote(urlparse(location.toString()).path).rstrip("/")
