"""Where a streaming table begins to read a stream whose options say that it is where the source ends by then.

Spark notes where a query stands with its first micro-batch, and until then asks the source anew. Each look of ours
begins a query, so ``startingVersion 'latest'`` would move on with Delta's table, and no row would ever be read. Kafka's
``startingOffsets 'latest'`` needs none of this: its first micro-batch is noted even where it is empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from warehouse.catalog.entries import StreamEntry
from warehouse.catalog.store import write_atomically
from warehouse.streaming.layout import quoted

_WAITS = "spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled"
"""With this a stream of Delta may begin at a version that is not there yet, whether it reads the change feed or not."""


def settled(session: SparkSession, entry: StreamEntry, note: Path, begun: Callable[[], bool]) -> StreamEntry:
    """Return a stream with the version at which a table begins to read it; ``entry`` itself where its options say.

    Args:
        session: the table's own, whose settings are changed.
        entry: the stream's.
        note: the file in which the table keeps what was settled when it first looked; written by that first look. A
            Delta table that was made anew since is read from its beginning.
        begun: says whether rows were read: from then on Spark's checkpoint knows where it stands, and in which table.
    """
    if entry.format != "delta" or entry.option("startingVersion") != "latest":
        return entry
    session.conf.set(_WAITS, "true")
    known = json.loads(note.read_text()) if note.exists() else {}
    if not (known and begun()):
        path = entry.option("path") or ""
        table = f"delta.{quoted(path)}"
        (detail,) = session.sql(f"DESCRIBE DETAIL {table}").collect()
        if known.get("table") != detail["id"]:  # none yet, or another one, in the same place or where the stream is now
            (newest,) = session.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()
            made_anew = known.get("path") == path
            version = 0 if made_anew else newest["version"] + 1
            known = {"path": path, "table": detail["id"], "version": version}
            write_atomically(note, json.dumps(known))
    options = ((k, str(known["version"]) if k.lower() == "startingversion" else v) for k, v in entry.options)
    return replace(entry, options=tuple(options))
