"""Heavy hitters: the commonest keys of a shuffle's largest partition, where that is far above the others.

All rows of a key are in one partition, so the counts are exact. They come from the shuffle's own output, which is on
disk yet: that one partition is read again, nothing else is.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.adaptive.observed import HeavyHitter, Shuffle

FAR = 4
"""A partition is far above the others when it is so many times the median."""
FLOOR = 64 * 1024
"""Partitions of fewer bytes than this hurt nobody."""
TOLD = 3
SHARE = 0.05
"""Of the commonest keys, those are told that have at least this share of all rows."""


def heavy_hitters(spark: SparkSession, stage: Any, shuffle: Shuffle) -> tuple[HeavyHitter, ...]:
    """Return the keys that make one partition of a shuffle by far the largest; none when no partition is.

    Args:
        spark: the session.
        stage: Java's ``ShuffleQueryStageExec``, which has run.
        shuffle: what is known of it.
    """
    if shuffle.largest < FLOOR or shuffle.largest < FAR * shuffle.median:
        return ()
    keys = _keys(stage)
    if not keys:
        return ()
    rows = _partition(spark, stage, shuffle.partitions.index(shuffle.largest))
    columns = [F.col(f"c{place}") for place, _ in keys]
    counted = rows.groupBy(*columns).count().orderBy(F.col("count").desc()).limit(TOLD).collect()
    return tuple(
        HeavyHitter(", ".join(f"{name} = {value}" for (_, name), value in zip(keys, row, strict=False)), row["count"])
        for row in counted
        if row["count"] >= SHARE * shuffle.rows
    )


def _keys(stage: Any) -> list[tuple[int, str]]:
    """Return place and name of the columns by which rows were distributed; nothing where it is by what is computed."""
    partitioning = stage.shuffle().outputPartitioning()
    if partitioning.getClass().getSimpleName() != "HashPartitioning":
        return []
    output = stage.shuffle().child().output()
    places = {output.apply(i).exprId().id(): (i, output.apply(i).name()) for i in range(output.size())}
    found = []
    expressions = partitioning.expressions()
    for number in range(expressions.size()):
        key = expressions.apply(number)
        if key.getClass().getSimpleName() != "AttributeReference" or key.exprId().id() not in places:
            return []
        found.append(places[key.exprId().id()])
    return found


def _partition(spark: SparkSession, stage: Any, number: int) -> DataFrame:
    """Return the rows of one partition of a shuffle; their columns are called c0, c1 and so on."""
    gateway, view = spark.sparkContext._gateway, spark._jvm
    specs = gateway.new_array(view.org.apache.spark.sql.execution.ShufflePartitionSpec, 1)
    specs[0] = view.org.apache.spark.sql.execution.CoalescedPartitionSpec(number, number + 1, view.scala.Option.empty())
    shuffle = stage.shuffle()
    schema = view.org.apache.spark.sql.catalyst.types.DataTypeUtils.fromAttributes(shuffle.child().output())
    frame = spark._jsparkSession.internalCreateDataFrame(shuffle.getShuffleRDD(specs), schema, False)
    made = DataFrame(frame, spark)
    return made.toDF(*(f"c{i}" for i in range(len(schema.fields()))))
