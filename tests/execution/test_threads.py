"""A session that a thread of its own begins is like any other."""

from __future__ import annotations

import threading
from pathlib import Path

from warehouse.engine import Engine


def test_new_files_are_seen_whichever_thread_came_first(engine: Engine, tmp_path: Path) -> None:
    spark = engine.spark.newSession()
    session = engine.on(spark)

    def count() -> list[int]:
        found: list[int] = []

        def run() -> None:
            for result in session.run(f"SELECT count(*) AS n FROM {table}"):
                found.extend(row["n"] for batch in result.batches for row in batch.to_pylist())

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return found

    table = "range(3)"
    assert count() == [3]
    table = "arriving_files"
    (tmp_path / "1.json").write_text('{"k": 1}\n')
    spark.sql(f"CREATE TABLE {table} (k INT) USING json OPTIONS (path '{tmp_path}')")
    try:
        assert count() == [1]
        (tmp_path / "2.json").write_text('{"k": 2}\n')
        assert count() == [2]
    finally:
        spark.sql(f"DROP TABLE {table}")
