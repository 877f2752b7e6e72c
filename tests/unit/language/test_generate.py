"""GENERATE and the functions that ask models: what is read of them, and where their words stay names."""

from __future__ import annotations

from typing import Any

import pytest

from warehouse.errors import SourceText, WarehouseError
from warehouse.language import parse
from warehouse.language.statements import (
    Generate,
    GeneratorCall,
    Name,
    QueryShape,
    QueryStatement,
    SparkStatement,
    Words,
)


def generated(text: str) -> Generate:
    statement = parse(SourceText(text))
    assert isinstance(statement, Generate)
    return statement


def test_the_papers_text() -> None:
    statement = generated("GENERATE KMeans(user_features, 10) AS TABLE user_features_clustered")
    assert statement.call.name == "KMeans" and statement.call.arguments[0].value == 10
    assert isinstance(statement.call.input, Name) and statement.call.input.parts == ("user_features",)
    assert statement.table and statement.table.name.last == "user_features_clustered" and statement.model is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        ("-3", -3),
        ("+1.5", 1.5),
        ("1e-3", 0.001),
        ("10L", 10),
        ("2D", 2.0),
        ("0.1BD", 0.1),
        ("'it''s'", "it's"),
        ("'a' 'b'", "ab"),
        ("TRUE", True),
        ("null", None),
        ("(0.01, 0.1, 1.0)", (0.01, 0.1, 1.0)),
        ("(('a', 'b'), ('c'))", (("a", "b"), "c")),
        ("ARRAY(1, 2)", (1, 2)),
        ("[1]", (1,)),
        ("(7)", 7),
    ],
)
def test_values(text: str, value: Any) -> None:
    (argument,) = generated(f"GENERATE f(t, x => {text})").call.arguments
    assert argument.name == "x" and argument.value == value and type(argument.value) is type(value)


@pytest.mark.parametrize("text", ["a", "`a b`", "1 + 1", ":k", "-Infinity", "double('1')", "(1 + 2)", "CAST(1 AS INT)"])
def test_words_are_left_to_be_understood(text: str) -> None:
    (argument,) = generated(f"GENERATE f(t, {text})").call.arguments
    assert isinstance(argument.value, Words)


@pytest.mark.parametrize(
    "read",
    [
        "(SELECT a, b FROM t WHERE c IN (1, 2))",
        "SELECT a FROM t",
        "TABLE (SELECT 1)",
        "(WITH c AS (SELECT 1) SELECT * FROM c)",
    ],
)
def test_queries_as_input(read: str) -> None:
    call = generated(f"GENERATE ML KMeans({read}, 3)").call
    assert isinstance(call.input, QueryShape) and call.arguments[0].value == 3


@pytest.mark.parametrize("read", ["t", "db.t", "`my table`", "TABLE t", "generate", "ml", "table"])
def test_tables_as_input(read: str) -> None:
    assert isinstance(generated(f"GENERATE KMeans({read}, 3)").call.input, Name)


def test_calls_as_input() -> None:
    call = generated("GENERATE ML LogisticRegression(PCA(StandardScaler(u), k => 5), label => 'y')").call
    inner = call.input
    assert isinstance(inner, GeneratorCall) and inner.name == "PCA" and inner.arguments[0].value == 5
    assert isinstance(inner.input, GeneratorCall) and isinstance(inner.input.input, Name)


@pytest.mark.parametrize(
    "tail",
    ["AS OR REPLACE MODEL m", "AS MODEL OR REPLACE m", "AS MODEL m OR REPLACE", "as table t as or replace model m;"],
)
def test_or_replace_stands_where_it_reads_well(tail: str) -> None:
    model = generated(f"GENERATE KMeans(t, 3) {tail}").model
    assert model and model.or_replace and model.name.last == "m"


def test_a_generator_called_ml() -> None:
    assert generated("GENERATE ml(t)").call.name == "ml" and generated("GENERATE ML ml(t)").call.name == "ml"


def test_functions_that_ask_models() -> None:
    statement = parse(
        SourceText(
            "SELECT * FROM ML_PREDICT(TABLE u, MODEL a.m VERSION 2) AS p JOIN ml_scores(MODEL m),"
            " (SELECT ml_predict FROM t)"
        )
    )
    assert isinstance(statement, QueryStatement)
    one, other = statement.query.models
    assert one.relation and one.relation.of(statement.source.text) == "u"
    assert (one.model.parts, one.version, one.aliased) == (("a", "m"), 2, True)
    assert (other.function, other.relation, other.aliased) == ("ml_scores", None, False)
    assert {r.name.last for r in statement.query.relations} == {"u", "t"}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ml_predict, model, generate FROM generators",
        "SELECT ml_predict(a, b) FROM t",
        "SELECT * FROM ml_predict",
        "DESCRIBE model",
        "DESC generator",
        "SHOW TABLES LIKE 'models'",
        "DROP TABLE model",
    ],
)
def test_the_words_stay_names(text: str) -> None:
    assert isinstance(parse(SourceText(text)), SparkStatement)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("GENERATE KMeans(t, 3) AS TABLE a AS TABLE b", "WAREHOUSE_CLAUSE_TWICE"),
        ("GENERATE KMeans(t,)", "WAREHOUSE_EXPECTED"),
        ("GENERATE KMeans()", "WAREHOUSE_EXPECTED"),
        ("GENERATE KMeans(t, x => )", "WAREHOUSE_EXPECTED"),
        ("GENERATE KMeans(t, (1,,2))", "WAREHOUSE_EXPECTED"),
        ("GENERATE KMeans(t", "WAREHOUSE_UNCLOSED"),
        ("GENERATE KMeans(STREAM s)", "WAREHOUSE_GENERATE_STREAM"),
        ("SHOW MODEL", "WAREHOUSE_MISSPELT"),
        ("SELECT * FROM ML_PREDICT(MODEL m)", "WAREHOUSE_EXPECTED"),
        ("SELECT * FROM ML_PREDICT(TABLE u, MODEL m VERSION last)", "WAREHOUSE_EXPECTED"),
        ("SELECT * FROM ML_EVALUATE(TABLE u, MODEL m, 3)", "WAREHOUSE_EXPECTED"),
    ],
)
def test_mistakes(text: str, condition: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        parse(SourceText(text))
    assert caught.value.condition == condition and "^" in str(caught.value)
