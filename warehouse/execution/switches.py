"""The warehouse's own switches, known to Spark, which lists them (``SET -v``) and takes nothing but booleans."""

from __future__ import annotations

from typing import Any

SWITCHES = {
    "warehouse.aggregation.once": "Whether an aggregation runs in one task where its rows are all there already.",
    "warehouse.distribution": "Whether DISTRIBUTE BY holds: of what is written, and of what is read and joined.",
    "warehouse.gathering": "Whether one tally counts what Delta's statistics of a column are.",
    "warehouse.join.byNumber": "Whether a join in place keeps rows in the order of their keys where these are numbers.",
    "warehouse.join.fused": "Whether a join in place reads and looks up rows in one piece of generated code.",
    "warehouse.join.keyFilter": "Whether a join in place asks a filter of the hashed keys before it looks a row up.",
    "warehouse.join.unsorted": "Whether tables that are distributed alike are joined by hashing instead of by sorting.",
    "warehouse.join.largerSideHashed": "Whether a join's larger side is hashed in partitions where that pays.",
    "warehouse.join.smallSideFirst": "Whether a shuffled join's likely small side runs first, alone.",
    "warehouse.like.pieces": "Whether LIKE asks for the pieces of its pattern first.",
    "warehouse.packing": "Whether memory is filled a column at a time, from the vectors that files are read into.",
    "warehouse.pruning": "Whether partitions are chosen on the driver, by the statistics of their files.",
    "warehouse.spreading": "Whether DISTRIBUTE BY is written without a shuffle, by tasks with many files, if it pays.",
    "warehouse.statistics": "Whether plans go by what the statistics of files say of ranges and sizes.",
    "warehouse.unpacking": "Whether columns in memory are read as vectors, each unpacked when it is asked for.",
}
"""What is on unless it is set to false, and what for."""

OF_CLIENTS = frozenset(["warehouse.listing.hive", "warehouse.rows.arrow"])
"""What the endpoint asks of its sessions, off unless a client sets it: how tables are listed, how rows are sent."""


def install(view: Any) -> None:
    """Declare the switches in a JVM; in one that knows them already, do nothing.

    Source: https://spark.apache.org/docs/latest/sql-ref-syntax-aux-conf-mgmt-set.html
    """
    conf = getattr(getattr(view.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    for name, meaning in SWITCHES.items():
        if not conf.containsConfigKey(name):
            conf.buildConf(name).doc(meaning).booleanConf().createWithDefault(True)
