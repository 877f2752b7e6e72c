# ruff: noqa: E501 - statements as users write them
"""What a user of GENERATE is told: a condition, a caret and a way out for each mistake, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.statements import rows_of
from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from warehouse.engine import Engine

SETUP = """
CREATE TABLE u AS SELECT CAST(id AS INT) AS age, DOUBLE(id % 3) AS income, if(id % 2 = 0, 'a', 'b') AS country,
  CAST(id % 2 AS INT) AS y, 1 AS one, nullif(id % 5, 3) AS hole, current_date() AS day, id / 7 AS part, 0 AS prediction
FROM range(20);
CREATE STREAM s USING rate;
GENERATE ML DecisionTreeClassifier((SELECT age, country, y FROM u), label => 'y') AS MODEL tree;
GENERATE ML FPGrowth((SELECT array(country) AS items FROM u), 0.5) AS MODEL baskets;
GENERATE ML HashingTF((SELECT array(country) AS words FROM u)) AS MODEL wide;
"""

CASES = {
    "no such algorithm": "GENERATE ML KMeens(u, 3)",
    "no such algorithm at all": "GENERATE ML Quux(u, 3)",
    "no such parameter": "GENERATE ML KMeans(u, clusters => 3)",
    "misspelt parameter": "GENERATE ML KMeans(u, 3, max_itr => 5)",
    "parameter of a wrong type": "GENERATE ML KMeans(u, 'three')",
    "parameter out of range": "GENERATE ML KMeans(u, 1)",
    "parameter not an option": "GENERATE ML KMeans(u, 3, init_mode => 'best')",
    "parameter twice": "GENERATE ML KMeans(u, 3, k => 4)",
    "too many values": "GENERATE ML KMeans(u, 3, 4)",
    "parameter missing": "GENERATE ML PCA(u, features => (age, income))",
    "value not constant": "GENERATE ML KMeans(u, age + 1)",
    "option unknown": "GENERATE ML KMeans(u, 3, nulls => 'ignore')",
    "no such table": "GENERATE ML KMeans(uu, 3)",
    "no such column in the query": "GENERATE ML KMeans((SELECT agee FROM u), 3)",
    "no such feature": "GENERATE ML KMeans(u, 3, features => (age, incom))",
    "feature of a wrong type": "GENERATE ML KMeans(u, 3, features => (age, day))",
    "no feature": "GENERATE ML KMeans((SELECT day FROM u), 3)",
    "string label": "GENERATE ML LogisticRegression(u, label => 'country')",
    "string label of an odd name": "GENERATE ML LogisticRegression((SELECT age, country AS `of é` FROM u), label => 'of é')",
    "no label": "GENERATE ML LogisticRegression(u)",
    "no such label": "GENERATE ML LogisticRegression(u, label => 'yy')",
    "label of no classes": "GENERATE ML LogisticRegression((SELECT age, part FROM u), label => 'part')",
    "one class only": "GENERATE ML LogisticRegression((SELECT age, one FROM u), label => 'one')",
    "zero rows": "GENERATE ML KMeans((SELECT age FROM u WHERE age > 100), 3)",
    "nulls": "GENERATE ML KMeans((SELECT age, hole FROM u), 3)",
    "label that is not filled in": "GENERATE ML LinearRegression((SELECT age, hole FROM u), label => 'hole', nulls => 'impute')",
    "items that are there twice": "GENERATE FPGrowth((SELECT array('a', 'a') AS items), 0.5)",
    "column to add is there": "GENERATE ML KMeans(u, 3, features => age)",
    "which column": "GENERATE ML Tokenizer((SELECT country, country AS other FROM u))",
    "stream": "GENERATE ML KMeans(STREAM s, 3)",
    "stream without STREAM": "GENERATE ML KMeans(s, 3)",
    "evaluator inside": "GENERATE ML KMeans(RegressionEvaluator(u, label => 'y'), 3)",
    "search of nothing": "GENERATE ML CrossValidator(u, folds => 3)",
    "search by an unknown metric": "GENERATE ML CrossValidator(LinearRegression((SELECT age, y FROM u), 'y'), reg_param => (0.1, 1.0), metric => 'rsme')",
    "wrapper of no classifier": "GENERATE ML OneVsRest(KMeans(u, 3))",
    "inner call unused": "GENERATE ML LogisticRegression(PCA(u, 2, features => (age, income)), y, features => age)",
    "model of an evaluator": "GENERATE ML RegressionEvaluator(u, label => 'y') AS MODEL m",
    "table is there": "GENERATE ML KMeans((SELECT age FROM u), 3) AS TABLE u",
    "model is there": "GENERATE ML KMeans((SELECT age FROM u), 3) AS MODEL tree",
    "no input": "GENERATE ML KMeans(k => 3)",
    "not closed": "GENERATE ML KMeans(u, 3",
    "no brackets": "GENERATE ML KMeans u",
    "AS nothing": "GENERATE ML KMeans(u, 3) AS clustered",
    "something behind": "GENERATE ML KMeans(u, 3) AS TABLE t WHERE age > 3",
    "no such model": "SELECT * FROM ML_PREDICT(TABLE u, MODEL three)",
    "no such version": "SELECT * FROM ML_PREDICT(TABLE u, MODEL tree VERSION 7)",
    "model missing": "SELECT * FROM ML_PREDICT(TABLE u)",
    "column missing at prediction": "SELECT * FROM ML_PREDICT((SELECT age FROM u), MODEL tree)",
    "another schema": "SELECT * FROM ML_PREDICT((SELECT age, one AS country FROM u), MODEL tree)",
    "prediction is there": "SELECT * FROM ML_PREDICT(TABLE u, MODEL tree)",
    "null at prediction": "SELECT * FROM ML_PREDICT((SELECT CAST(hole AS INT) AS age, country FROM u), MODEL tree)",
    "unseen string": "SELECT * FROM ML_PREDICT((SELECT age, 'c' AS country FROM u), MODEL tree)",
    "label missing at evaluation": "SELECT * FROM ML_EVALUATE((SELECT age, country FROM u), MODEL tree)",
    "no search": "SELECT * FROM ML_SCORES(MODEL tree)",
    "no such part": "SELECT * FROM ML_CONTENTS(MODEL baskets, rules)",
    "no parts": "SELECT * FROM ML_CONTENTS(MODEL tree, rules)",
    "part missing": "SELECT * FROM ML_CONTENTS(MODEL baskets)",
    "parts in a view": "CREATE VIEW v AS SELECT * FROM ML_CONTENTS(MODEL baskets, freq_itemsets)",
    "evaluation in a view": "CREATE VIEW v AS SELECT * FROM ML_EVALUATE(TABLE u, MODEL tree)",
    "wide vector in a streaming table": "CREATE STREAMING TABLE t AS SELECT value FROM ML_PREDICT((SELECT *, array('a') AS words FROM STREAM s), MODEL wide)",
    "search with one fold": "GENERATE ML CrossValidator(LinearRegression((SELECT age, y FROM u), 'y'), reg_param => (0.1, 1.0), folds => 1)",
    "schema of the table not there": "GENERATE ML KMeans((SELECT age FROM u), 3) AS TABLE nowhere.t",
    "schema of the model not there": "GENERATE ML KMeans((SELECT age FROM u), 3) AS MODEL nowhere.m",
    "marker without a value": "GENERATE ML KMeans((SELECT age FROM u WHERE age > :least), 3)",
    "evaluation of a stream": "CREATE STREAMING TABLE t AS SELECT * FROM ML_EVALUATE(STREAM s, MODEL tree)",
    "drop of what is not there": "DROP MODEL three",
    "description of what is not there": "DESCRIBE MODEL three",
    "generator that is not there": "DESCRIBE GENERATOR KMeens",
}


@pytest.fixture(scope="module")
def told(engine: Engine) -> dict[str, str]:
    list(engine.run(f"CREATE SCHEMA slips; USE slips; {SETUP}"))
    out = {}
    for name, text in CASES.items():
        try:
            list(engine.run(text))
            out[name] = "no error"
        except WarehouseError as error:
            out[name] = str(error)
    assert rows_of(engine, "SHOW MODELS LIKE 'm'") == []
    list(engine.run("USE default"))
    return out


def test_every_mistake(told: dict[str, str], golden: Callable[[str, str], None]) -> None:
    golden("errors.txt", "\n\n".join(f"# {name}\n{text}" for name, text in told.items()) + "\n")


@pytest.mark.parametrize("name", CASES)
def test_each_has_a_condition_and_a_place(told: dict[str, str], name: str) -> None:
    assert told[name].startswith("[") and "SQLSTATE: " in told[name]
    assert "Traceback" not in told[name] and "py4j" not in told[name] and "__w_" not in told[name]


@pytest.mark.parametrize("how", ["EXPLAIN ", ""])
def test_what_begins_as_a_query_and_writes_is_none(engine: Engine, schema: str, how: str) -> None:
    """Spark would run it as it is looked at."""
    rows_of(engine, "CREATE TABLE orders AS SELECT 1 AS x")
    with pytest.raises(WarehouseError) as refused:
        rows_of(engine, f"{how}GENERATE ML KMeans(WITH a AS (SELECT 1 AS x) INSERT INTO orders SELECT x FROM a, 3)")
    (told,) = refused.value.diagnostics
    assert told.condition == "WAREHOUSE_NOT_SUPPORTED" and told.span is not None
    assert rows_of(engine, "SELECT count(*) AS n FROM orders") == [{"n": 1}]
