"""Sessions as features: ``GENERATE ML KMeans(session_features(clicks, 'player', 'at'), 5)``.

A session is a run of events of one key with less than ``gap_minutes`` between them, as in ``WINDOW SESSIONS``.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from warehouse.ml.custom import generator


@generator(returns="key STRING, started TIMESTAMP, minutes DOUBLE, events BIGINT, pace DOUBLE")
def session_features(events: DataFrame, key: str, at: str, gap_minutes: float = 30.0) -> DataFrame:
    """Return one row per session: its key and start, how long it was, how many events it had, and how many a minute.

    ``key`` and ``at`` name the columns that say whose an event is and when it happened. Events without a time are
    left out.
    """
    ordered = Window.partitionBy("key").orderBy("at")
    rows = events.select(F.col(key).cast("string").alias("key"), F.col(at).cast("timestamp").alias("at"))
    apart = F.col("at") - F.make_dt_interval(mins=F.lit(gap_minutes).cast("int"))
    new = F.coalesce((F.lag("at").over(ordered) <= apart).cast("int"), F.lit(1))
    numbered = rows.where("at IS NOT NULL").withColumn("new", new).withColumn("session", F.sum("new").over(ordered))
    minutes = (F.unix_micros(F.max("at")) - F.unix_micros(F.min("at"))) / 60e6
    return (
        numbered.groupBy("key", "session")
        .agg(F.min("at").alias("started"), minutes.alias("minutes"), F.count("*").alias("events"))
        .select("key", "started", "minutes", "events", (F.col("events") / (F.col("minutes") + 1)).alias("pace"))
    )
