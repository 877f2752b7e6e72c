# ruff: noqa: E501 - statements as users write them
"""What a model holds as tables is asked by ML_CONTENTS; what ALS needs of a stream is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.statements import Rows, rows_in
from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from warehouse.engine import Engine

BASKETS = """
CREATE TABLE baskets AS
SELECT id, CASE id % 3 WHEN 0 THEN array('beer', 'bread') WHEN 1 THEN array('beer', 'milk')
                       ELSE array('beer', 'bread', 'milk') END AS items FROM range(30)
"""


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    for rows in rows_in(engine, "contents"):
        rows(BASKETS)
        yield rows


def test_itemsets_and_rules_are_those_of_the_model_by_hand(engine: Engine, rows: Rows) -> None:
    from pyspark.ml.fpm import FPGrowth

    def views() -> set[str]:
        return {table.name for table in engine.spark.catalog.listTables() if table.name.startswith("__w_contents")}

    before = views()
    rows("GENERATE ML FPGrowth(baskets, 0.2, items => items, min_confidence => 0.6) AS MODEL bought")
    model = FPGrowth(minSupport=0.2, minConfidence=0.6).fit(engine.spark.table("contents.baskets"))
    found = rows("SELECT array_sort(items) AS items, freq FROM ML_CONTENTS(MODEL bought, freq_itemsets)")
    wanted = {(tuple(sorted(r["items"])), r.freq) for r in model.freqItemsets.collect()}
    assert wanted and {(tuple(r["items"]), r["freq"]) for r in found} == wanted
    rules = rows("SELECT x.* FROM ML_CONTENTS(MODEL bought VERSION 1, 'associationRules') AS x")
    written = [r.asDict() for r in model.associationRules.collect()]
    assert len(rules) == len(written) > 0

    def key(rule: dict[str, object]) -> str:
        return str((sorted(rule["antecedent"]), rule["consequent"], rule["confidence"], rule["lift"], rule["support"]))  # type: ignore[call-overload]

    assert sorted(map(key, rules)) == sorted(map(key, written))
    told = {r["col_name"]: r["data_type"] for r in rows("DESCRIBE MODEL bought")}
    assert told["Contents"] == "association_rules, freq_itemsets"
    rows("CREATE TABLE kept AS SELECT * FROM ML_CONTENTS(MODEL bought, association_rules)")
    assert rows("SELECT count(*) AS n FROM kept") == [{"n": len(rules)}]
    assert len(views() - before) == 2, "one for each part, however often it is asked for"


@pytest.mark.soak
def test_factors_over_a_stream_are_refused_with_a_way_out(rows: Rows, tmp_path: Path) -> None:
    rows(
        "CREATE TABLE stars AS SELECT CAST(id % 7 AS INT) AS user, CAST(id % 11 AS INT) AS item, FLOAT(id % 5) AS rating FROM range(100);"
        "GENERATE ML ALS(stars, 2, max_iter => 1) AS MODEL liked"
    )
    (factor, *_) = rows("SELECT * FROM ML_CONTENTS(MODEL liked, user_factors)")
    assert len(factor["features"]) == 2
    (tmp_path / "1.json").write_text('{"user": 1, "item": 2}\n')
    rows(f"CREATE STREAM seen (user INT, item INT) USING json OPTIONS (path '{tmp_path}')")
    for text, condition in (
        (
            "CREATE STREAMING TABLE t AS SELECT user, prediction FROM ML_PREDICT(STREAM seen, MODEL liked)",
            "WAREHOUSE_MODEL_NOT_ROW_WISE",
        ),
        ("CREATE VIEW v AS SELECT * FROM ML_PREDICT(TABLE stars, MODEL liked)", "WAREHOUSE_MODEL_IN_VIEW"),
    ):
        with pytest.raises(WarehouseError) as caught:
            rows(text)
        assert caught.value.condition == condition and "hint: " in str(caught.value)
    (row,) = rows("SELECT prediction FROM ML_PREDICT((SELECT * FROM STREAM seen), MODEL liked)")
    assert row["prediction"] is not None
