# ruff: noqa: E501 - statements as users write them
"""GENERATE end to end: the paper's statements, models and versions, streams, searches, generators of one's own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.statements import Rows, refused, rows_of
from warehouse.catalog.udfs import Udfs
from warehouse.engine import TrainingProgress
from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from warehouse.engine import Engine

PEOPLE = """
CREATE TABLE people AS
SELECT CAST(id AS INT) AS id, CAST(20 + id % 50 AS INT) AS age, element_at(array('US', 'DE', 'FR', 'UK'),
       CAST(1 + (id * 7) % 4 AS INT)) AS country, DOUBLE((id * 13) % 29) AS income, (id * id) % 7 > 3 AS paid
FROM range(0, 200, 1, 2)
"""


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    list(engine.run(f"CREATE SCHEMA people; USE people; {PEOPLE}"))
    yield lambda text: rows_of(engine, text)
    list(engine.run("USE default"))


@pytest.fixture(scope="module")
def paying(engine: Engine, rows: Rows) -> str:
    """Return the name of a model that tells who pays; it knows ages, incomes and countries."""
    rows("GENERATE ML DecisionTreeClassifier((SELECT age, income, country, paid FROM people), paid) AS MODEL paying")
    return "paying"


def test_the_papers_pair_of_statements(engine: Engine, rows: Rows) -> None:
    from pyspark.ml import Pipeline
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import StringIndexer, VectorAssembler

    rows("CREATE OR REPLACE TEMP VIEW user AS SELECT * FROM people")
    rows(
        "CREATE TABLE user_features AS SELECT age, country FROM user;"
        "GENERATE KMeans(user_features, 10) AS TABLE user_features_clustered"
    )
    table = engine.spark.table("user_features")
    pipeline = Pipeline(
        stages=[
            StringIndexer(inputCol="country", outputCol="i"),
            VectorAssembler(inputCols=["age", "i"], outputCol="features"),
            KMeans(k=10, seed=42),
        ]
    )
    wanted = pipeline.fit(table).transform(table).select("age", "country", "prediction").collect()
    got = rows("SELECT * FROM user_features_clustered")
    assert list(got[0]) == ["age", "country", "prediction"]
    assert sorted(map(tuple, (r.values() for r in got))) == sorted(map(tuple, wanted))


@pytest.mark.parametrize(
    ("said", "chosen", "by_hand"),
    [
        ("", ["age", "country", "income", "paid"], {}),
        (", features => (AGE, country), categorical_cols => 'age'", ["age", "country"], {"categoricalCols": ["age"]}),
    ],
)
def test_what_is_hashed_is_hashed_under_the_users_names(
    engine: Engine, rows: Rows, said: str, chosen: list[str], by_hand: dict[str, Any]
) -> None:
    from pyspark.ml.feature import FeatureHasher

    rows(
        "CREATE OR REPLACE TEMP VIEW hashable AS SELECT age, country, income, paid, DATE'2024-01-01' AS day FROM people"
    )
    hasher = FeatureHasher(inputCols=chosen, outputCol="o", numFeatures=50, **by_hand)
    wanted = [row.o.toArray().tolist() for row in hasher.transform(engine.spark.table("hashable")).collect()]
    rows(f"GENERATE ML FeatureHasher(hashable, num_features => 50{said}) AS OR REPLACE MODEL hashed")
    for asked in (
        f"GENERATE ML FeatureHasher(hashable, num_features => 50{said})",
        "SELECT feature_hasher FROM ML_PREDICT(TABLE hashable, MODEL hashed)",
    ):
        assert [row["feature_hasher"] for row in rows(asked)] == wanted


@pytest.mark.soak
def test_a_formula_may_speak_of_a_column_called_label(engine: Engine, rows: Rows) -> None:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import RFormula

    rows("CREATE OR REPLACE TEMP VIEW modelled AS SELECT age, country, INT(paid) AS label FROM people")
    table, formula = engine.spark.table("modelled"), RFormula(formula="label ~ age + country")
    wanted = formula.fit(table).transform(table).collect()
    got = rows("GENERATE ML RFormula(modelled, 'label ~ age + country')")
    assert list(got[0]) == ["age", "country", "label", "features"]
    assert [(r["label"], r["features"]) for r in got] == [(r.label, r.features.toArray().tolist()) for r in wanted]

    wanted = Pipeline(stages=[formula, LogisticRegression()]).fit(table).transform(table).collect()
    got = rows("GENERATE ML LogisticRegression(RFormula(modelled, 'label ~ age + country'))")
    assert [r["probability"] for r in got] == [r.probability.toArray().tolist() for r in wanted]


def test_what_a_formula_adds_can_be_called_otherwise(rows: Rows) -> None:
    rows("CREATE OR REPLACE TEMP VIEW modelled AS SELECT age, country, country AS label, paid AS features FROM people")
    said = refused(rows, "GENERATE ML RFormula(modelled, 'label ~ age', features => f)")
    assert said.condition == "WAREHOUSE_GENERATE_OUTPUT_TAKEN" and "label_col => 'rformula_label'" in said.render()
    (first, *_) = rows(
        "GENERATE ML RFormula(modelled, 'label ~ age', features_col => 'f', label_col => 'rformula_label')"
    )
    assert list(first) == ["age", "country", "label", "features", "f", "rformula_label"]
    (first, *_) = rows(
        "GENERATE ML KMeans(RFormula((SELECT age, country, id AS label FROM people), '~ age + country'), 2)"
    )
    assert list(first) == ["age", "country", "label", "prediction"]


@pytest.mark.soak
def test_clusters_are_judged_by_the_columns_that_are_named_and_not_by_themselves(engine: Engine, rows: Rows) -> None:
    from pyspark.ml.evaluation import ClusteringEvaluator
    from pyspark.ml.feature import VectorAssembler

    asked, clusters = "GENERATE ML ClusteringEvaluator(KMeans({0}, 3){1})", "(SELECT age, income FROM people)"
    assert refused(rows, asked.format(clusters, "")).condition == "WAREHOUSE_GENERATE_NO_FEATURES"
    rows(f"GENERATE KMeans({clusters}, 3) AS OR REPLACE TABLE clusters")
    table = VectorAssembler(inputCols=["age", "income"], outputCol="features").transform(engine.spark.table("clusters"))
    (judged,) = rows(asked.format(clusters, ", features => (age, income)"))
    assert judged["value"] == pytest.approx(ClusteringEvaluator().evaluate(table))


def test_predictions_of_a_stored_model_are_those_of_the_statement(engine: Engine, rows: Rows, paying: str) -> None:
    both = (
        "SELECT p.id, p.prediction AS one, q.prediction AS other, p.probability AS o, q.probability AS p"
        " FROM ML_PREDICT(TABLE people, MODEL paying) AS p JOIN made AS q ON p.id = q.id"
    )
    rows(
        "GENERATE ML DecisionTreeClassifier(people, paid, features => (age, income, country)) AS TABLE made;"
        "CREATE VIEW scored AS SELECT id, prediction FROM ML_PREDICT(TABLE people, MODEL paying)"
    )
    found = rows(both)
    assert len(found) == 200
    assert all(r["one"] == r["other"] and r["o"] == r["p"] for r in found)
    assert rows("SELECT sum(prediction) AS n FROM scored") == rows("SELECT sum(prediction) AS n FROM made")
    assert refused(rows, "DROP MODEL paying").condition == "WAREHOUSE_MODEL_IN_USE"
    models = engine.learning.models  # as another process would find it
    models.load.cache_clear()
    models._registered.clear()
    assert all(r["one"] == r["other"] and r["o"] == r["p"] for r in rows(both))
    rows(
        "WITH c AS (SELECT * FROM people WHERE age > 60) SELECT * FROM ML_PREDICT(TABLE c, MODEL paying) AS x JOIN c USING (id)"
    )


def test_what_is_shown_of_a_model(rows: Rows, paying: str) -> None:
    (shown,) = rows("SHOW MODELS LIKE 'pay*'")
    assert (shown["modelName"], shown["version"], shown["algorithm"]) == ("paying", "1", "DecisionTreeClassifier")
    described = {r["col_name"]: (r["data_type"], r["comment"]) for r in rows("DESCRIBE EXTENDED MODEL paying")}
    assert described["age"] == ("int", "") and described["probability"] == ("array<double>", "output")
    assert described["Label"][0] == "paid" and float(described["Metric accuracy"][0]) > 0.5
    assert described["Text"][0].startswith("GENERATE ML DecisionTreeClassifier(")
    assert any(r["col_name"] == "Label" for r in rows("DESC MODEL paying"))


@pytest.mark.soak
def test_metrics_are_those_of_mllibs_evaluators(engine: Engine, rows: Rows, paying: str) -> None:
    from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator

    found = {r["metric"]: r["value"] for r in rows("SELECT * FROM ML_EVALUATE(TABLE people, MODEL paying)")}
    rows("CREATE TABLE made_for_metrics AS SELECT * FROM ML_PREDICT(TABLE people, MODEL paying)")
    predicted = engine.spark.sql(
        "SELECT CAST(paid AS DOUBLE) AS label, probability[1] AS p, prediction FROM made_for_metrics"
    )
    area = BinaryClassificationEvaluator(rawPredictionCol="p").evaluate(predicted)
    assert found["areaUnderROC"] == pytest.approx(area)
    assert found["f1"] == pytest.approx(MulticlassClassificationEvaluator().evaluate(predicted))
    assert set(found) >= {"accuracy", "areaUnderPR", "weightedPrecision", "weightedRecall", "logLoss"}


def test_versions_are_kept(rows: Rows) -> None:
    tree = "GENERATE ML DecisionTreeRegressor(people, income, features => age, max_depth => {}) AS {}MODEL grown"
    rows(tree.format(1, ""))
    first = rows("SELECT sum(prediction * id) AS s FROM ML_PREDICT(TABLE people, MODEL grown)")
    assert refused(rows, tree.format(4, "")).condition == "WAREHOUSE_GENERATE_EXISTS"
    rows(tree.format(4, "OR REPLACE "))
    assert rows("SELECT sum(prediction * id) AS s FROM ML_PREDICT(TABLE people, MODEL grown)") != first
    assert rows("SELECT sum(prediction * id) AS s FROM ML_PREDICT(TABLE people, MODEL grown VERSION 1)") == first
    assert refused(rows, "SELECT * FROM ML_PREDICT(TABLE people, MODEL grown VERSION 3)").condition == (
        "WAREHOUSE_MODEL_VERSION_NOT_FOUND"
    )
    rows("DROP MODEL grown; DROP MODEL IF EXISTS grown")
    assert refused(rows, "DROP MODEL grown").condition == "WAREHOUSE_MODEL_NOT_FOUND"


def test_a_stream_is_predicted_as_a_table_is(rows: Rows, paying: str, tmp_path: Path) -> None:
    lines = [
        {
            "id": i,
            "age": 20 + i,
            "income": float(i),
            "country": "DE" if i != 7 else "XX",
            "at": f"2024-05-01T12:00:{i:02}Z",
        }
        for i in range(20)
    ]
    lines.append({"id": 20, "age": None, "income": 1.0, "country": "US", "at": "2024-05-01T12:00:30Z"})
    (tmp_path / "1.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows(
        "CREATE STREAM people_s (id INT, age INT, income DOUBLE, country STRING, at TIMESTAMP)"
        f" USING json OPTIONS (path '{tmp_path}') WATERMARK at DELAY OF INTERVAL 10 SECONDS;"
        "CREATE STREAMING TABLE told AS SELECT id, prediction, probability FROM ML_PREDICT(STREAM people_s, MODEL paying)"
    )
    good = "(SELECT * FROM STREAM people_s WHERE age IS NOT NULL AND country <> 'XX')"
    assert rows("SELECT * FROM told ORDER BY id") == rows(
        f"SELECT id, prediction, probability FROM ML_PREDICT({good}, MODEL paying) ORDER BY id"
    )
    kept = rows("SELECT _why, id FROM bad_rows('people_s') ORDER BY id")
    assert [(r["_why"], r["id"]) for r in kept] == [("WAREHOUSE_MODEL_UNSEEN", 7), ("WAREHOUSE_MODEL_INPUT_NULL", 20)]
    assert "STREAMING TABLE people.told asks model" in str(refused(rows, "DROP MODEL paying"))
    rows(
        "GENERATE ML DecisionTreeClassifier(people, paid, features => (age, income, country), max_depth => 1) AS OR REPLACE MODEL paying"
    )
    before = rows("SELECT * FROM told")
    (tmp_path / "2.json").write_text((tmp_path / "1.json").read_text().replace('"id": ', '"id": 5'))
    rows("REFRESH STREAMING TABLE told")
    changed = rows(
        "SELECT t.id FROM told AS t JOIN told AS u ON u.id = CAST('5' || t.id AS INT) AND u.probability <> t.probability"
    )
    assert len(rows("SELECT * FROM told")) > len(before) and not changed  # it stays with version 1


@pytest.mark.soak
def test_nulls_are_refused_skipped_or_imputed(rows: Rows) -> None:
    holes = "(SELECT id, age, nullif(income, 3) AS income, if(id % 11 = 0, NULL, country) AS country FROM people)"
    error = refused(rows, f"GENERATE KMeans({holes}, 2, features => (age, income, country))")
    assert error.condition == "WAREHOUSE_GENERATE_NULLS"
    assert "income in 6, country in 19" in str(error)
    rows(
        f"GENERATE KMeans({holes}, 2, features => (age, income, country), nulls => 'skip') AS MODEL skips AS TABLE skipped"
    )
    count = (
        "SELECT count(*) AS n, count(prediction) AS told, count_if(income IS NULL OR country IS NULL) AS holes FROM {}"
    )
    for place in ("skipped", f"ML_PREDICT({holes}, MODEL skips)"):
        (found,) = rows(count.format(place))
        assert found["n"] == 200 and found["told"] == 200 - found["holes"]
    rows(f"GENERATE KMeans({holes}, 2, features => (age, income, country), nulls => 'impute') AS MODEL imputes")
    (found,) = rows(count.format(f"ML_PREDICT({holes}, MODEL imputes)"))
    assert found["told"] == 200


@pytest.mark.parametrize("spelled", ["input_cols => ('a'), output_cols => ('f')", "inputCol => 'a', outputCol => 'f'"])
def test_one_column_may_be_named_as_one_or_as_a_list(rows: Rows, spelled: str) -> None:
    read = "SELECT DOUBLE(a) AS a FROM VALUES (1), (NULL), (3) AS t(a)"
    assert rows(f"GENERATE Imputer(({read}), {spelled})") == [
        {"a": 1.0, "f": 1.0}, {"a": None, "f": 2.0}, {"a": 3.0, "f": 3.0},
    ]  # fmt: skip


@pytest.mark.soak
def test_a_search_leaves_its_scores(rows: Rows) -> None:
    rows(
        "GENERATE ML TrainValidationSplit(LinearRegression((SELECT age, income FROM people), income),"
        " reg_param => (0.0, 50.0), train_ratio => 0.7, metric => 'mae') AS MODEL best"
    )
    found = rows("SELECT * FROM ML_SCORES(MODEL best) ORDER BY reg_param")
    assert [r["reg_param"] for r in found] == [0.0, 50.0] and {r["metric"] for r in found} == {"mae"}
    (best,) = [r for r in found if r["best"]]
    assert best["score"] == min(r["score"] for r in found)
    assert len(rows("SELECT * FROM ML_PREDICT(TABLE people, MODEL best)")) == 200


@pytest.mark.soak
def test_a_function_of_ones_own(engine: Engine, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = Path(__file__).parents[2] / "udfs"
    (tmp_path / "session_features.py").write_text((examples / "session_features.py").read_text())
    (tmp_path / "lies.py").write_text(
        "from warehouse.ml.custom import generator\n"
        "@generator(returns='a INT')\ndef lies(frame, n: int):\n    '''Lie.'''\n    return frame\n"
    )
    (tmp_path / "raises.py").write_text(
        "from warehouse.ml.custom import generator\n"
        "@generator(returns='*')\ndef raises(frame):\n    '''Raise.'''\n    return 1 / 0\n"
    )
    for name, returned in {"nothing": "None", "ends": "exit()"}.items():
        (tmp_path / f"{name}.py").write_text(
            "from sys import exit\nfrom warehouse.ml.custom import generator\n"
            f"@generator(returns='*')\ndef {name}(frame):\n    return {returned}\n"
        )
    (tmp_path / "odd.py").write_text(
        "from warehouse.ml.custom import generator\n@generator(returns=42)\ndef odd(frame):\n    return frame\n"
    )
    (tmp_path / "ddl.py").write_text(
        "from warehouse.ml.custom import generator\n@generator(returns='a NOPE((')\ndef ddl(frame):\n    return frame\n"
    )
    udfs = Udfs(tmp_path)
    monkeypatch.setattr(engine._shared, "udfs", udfs)
    monkeypatch.setattr(engine.learning, "udfs", udfs)
    rows(
        "CREATE TABLE clicks AS SELECT CAST(id % 5 AS STRING) AS player,"
        " TIMESTAMP'2024-05-01' + make_dt_interval(0, 0, CAST(id * (1 + id % 5) AS INT), 0) AS at FROM range(100)"
    )
    found = rows("GENERATE session_features(clicks, 'player', 'at', gap_minutes => 12)")
    assert list(found[0]) == ["key", "started", "minutes", "events", "pace"]
    sessions = rows(
        "SELECT player, window_start, count(*) AS n FROM clicks GROUP BY player WINDOW SESSIONS (at, GAP INTERVAL 12 MINUTES)"
    )
    assert sorted((r["key"], r["started"], r["events"]) for r in found) == sorted(
        (r["player"], r["window_start"], r["n"]) for r in sessions
    )
    clustered = rows(
        "GENERATE ML KMeans(session_features(clicks, 'player', 'at', 12.0), 2, features => (minutes, pace))"
    )
    assert len(clustered) == len(found) and "prediction" in clustered[0]
    shown = {r["generator"]: r for r in rows("SHOW GENERATORS")}
    assert shown["session_features"]["family"] == "udfs" and len(shown) > 60
    described = {r["parameter"]: r for r in rows("DESCRIBE GENERATOR session_features")}
    assert (
        described["gap_minutes"]["default"] == "30.0"
        and "Events without a time" in described["Description"]["description"]
    )
    assert refused(rows, "GENERATE lies(clicks, 3)").condition == "WAREHOUSE_GENERATOR_SCHEMA"
    assert refused(rows, "GENERATE lies(clicks)").condition == "WAREHOUSE_GENERATOR_PARAMETER_MISSING"
    assert refused(rows, "GENERATE lies(clicks, 'x')").condition == "WAREHOUSE_GENERATOR_PARAMETER_TYPE"
    assert "ZeroDivisionError" in str(refused(rows, "GENERATE raises(clicks)"))
    assert "returned a value of type NoneType, not a DataFrame" in str(refused(rows, "GENERATE nothing(clicks)"))
    assert refused(rows, "GENERATE ends(clicks)").condition == "WAREHOUSE_GENERATOR_FAILED"
    assert "returns is a value of type int" in str(refused(rows, "GENERATE odd(clicks)"))
    undeclared = refused(rows, "GENERATE ddl(clicks)")
    assert (
        undeclared.condition == "WAREHOUSE_UDF_BROKEN" and "ddl.py" in str(undeclared) and "a NOPE((" in str(undeclared)
    )
    assert refused(rows, "GENERATE lies(clicks, 1) AS MODEL m").condition == "WAREHOUSE_GENERATE_NO_MODEL"


def test_every_class_is_documented(rows: Rows) -> None:
    """Each algorithm that reflection finds can be described: its columns are told apart without running it."""
    for shown in rows("SHOW GENERATORS"):
        described = {r["parameter"]: r for r in rows(f"DESCRIBE GENERATOR {shown['generator']}")}
        assert described["Description"]["description"], shown


@pytest.mark.soak
def test_the_input_is_read_once(engine: Engine, rows: Rows) -> None:
    """A UDF counts how often rows of the source are read: once each, however often MLlib passes over them."""
    counter = engine.spark.sparkContext.accumulator(0)

    def counted(value: int) -> int:
        counter.add(1)
        return value

    engine.spark.udf.register("counted", counted, "int")
    rows(
        "GENERATE ML LogisticRegression((SELECT counted(age) AS age, income, paid FROM people), paid, max_iter => 8) AS MODEL once"
    )
    assert counter.value == 200
    told = rows("EXPLAIN GENERATE ML LogisticRegression(people, paid)")[0]["plan"]
    assert "read once" in told and told.count("FileScan") == 1 and "OneHotEncoder (country)" in told


def test_failure_leaves_nothing(engine: Engine, rows: Rows) -> None:
    late = "(SELECT age, to_date(if(id > 150, raise_error('boom'), '2024-01-01')) AS d FROM people)"
    for text in (
        f"GENERATE KMeans({late}, 2) AS TABLE broken AS MODEL broken_model",
        "GENERATE KMeans((SELECT if(age > 60, raise_error('boom'), age) AS a FROM people), 2) AS TABLE broken",
    ):
        assert refused(rows, text).condition == "USER_RAISED_EXCEPTION"
    assert rows("SHOW TABLES LIKE 'broken'") == [] and rows("SHOW MODELS LIKE 'broken*'") == []
    assert not list((engine.folder / "models").glob("broken*"))
    assert (
        rows("GENERATE KMeans(people, 2, features => age) AS TABLE broken; SELECT count(*) AS n FROM broken")[0]["n"]
        == 200
    )


@pytest.mark.soak
def test_what_was_made_is_taken_back(engine: Engine, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is written when the table fails, and the table has not begun when the model cannot be made known."""
    late = "(SELECT age, if(id > 150, raise_error('boom'), id) AS id FROM people)"
    kept = rows("SHOW MODELS LIKE 'paying'")
    with monkeypatch.context() as patch:
        patch.setattr(engine.learning.models, "write", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            rows("GENERATE KMeans(people, 2, features => age) AS TABLE half AS MODEL half")
    with monkeypatch.context() as patch:
        patch.setattr(engine.catalog.models, "put", lambda entry: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            rows("GENERATE KMeans(people, 2, features => age) AS TABLE half AS MODEL half")
    assert rows("SHOW TABLES LIKE 'half'") == [] and rows("SHOW MODELS LIKE 'half'") == []
    rows("GENERATE KMeans(people, 2, features => age) AS MODEL half")
    assert refused(
        rows, f"GENERATE ML Normalizer({late}, features => age) AS OR REPLACE MODEL half AS TABLE half"
    ).condition == ("USER_RAISED_EXCEPTION")
    (shown,) = rows("SHOW MODELS LIKE 'half'")
    assert (shown["version"], shown["algorithm"]) == ("1", "KMeans") and rows("SHOW TABLES LIKE 'half'") == []
    assert len(list((engine.folder / "models").glob("half*/*"))) == 1 and rows("SHOW MODELS LIKE 'paying'") == kept


@pytest.mark.soak
def test_two_sessions_make_two_versions(engine: Engine, rows: Rows) -> None:
    text = "GENERATE KMeans(people.people, 2, features => age) AS OR REPLACE MODEL people.shared"
    sessions = [engine.on(engine.spark.newSession(), None) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        told = [found[0].message for found in pool.map(lambda one: list(one.run(text)), sessions)]
    assert sorted(m.split(",")[0] for m in told if m) == [f"model people.shared version {n} created" for n in (1, 2)]
    assert len(list((engine.folder / "models").glob("shared*/*"))) == 2
    assert len(rows("SELECT * FROM ML_PREDICT(TABLE people, MODEL shared VERSION 1)")) == 200


@pytest.mark.soak
def test_values_of_markers_may_stand_anywhere(engine: Engine, rows: Rows) -> None:
    def ran(text: str) -> list[dict[str, Any]]:
        (result,) = engine.run(text, parameters={"least": 40, "k": 3, "from": "people"})
        return [row for batch in result.batches for row in batch.to_pylist()]

    wanted = rows("SELECT count(*) AS n FROM people WHERE age > 40")[0]["n"]
    made = ran("GENERATE ML KMeans((SELECT age, income FROM IDENTIFIER(:from) WHERE age > :least), k => :k)")
    assert len(made) == wanted and len({r["prediction"] for r in made}) == 3
    (told,) = ran("EXPLAIN GENERATE ML KMeans((SELECT age FROM people WHERE age > :least), :k)")
    assert "KMeans (k => 3)" in told["plan"] and "40" in told["plan"]
    rows("GENERATE ML LinearRegression(people, income, features => age) AS MODEL earned")
    assert len(ran("SELECT * FROM ML_PREDICT((SELECT age FROM people WHERE age > :least), MODEL earned)")) == wanted
    assert len(ran("SELECT * FROM ML_EVALUATE((SELECT * FROM people WHERE age > :least), MODEL earned)")) == 5
    (count,) = ran("SELECT count(*) AS n FROM people WHERE age > :least WINDOW GLOBAL")
    assert count == {"n": wanted}
    with pytest.raises(WarehouseError) as caught:  # a view is read when nobody gives values
        ran("CREATE VIEW kept AS SELECT * FROM ML_PREDICT((SELECT age FROM people WHERE age > :least), MODEL earned)")
    assert caught.value.condition == "UNBOUND_SQL_PARAMETER"


def test_a_training_is_watched_and_cancelled(engine: Engine, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[TrainingProgress] = []
    running = threading.Event()

    def report(progress: Any) -> None:
        seen.append(progress)
        running.set()
        if "GBTClassifier" in progress.stage:
            engine.cancel()

    monkeypatch.setattr(engine, "_actions", replace(engine._actions, on_progress=report))
    error = refused(rows, "GENERATE ML GBTClassifier(people, paid, max_iter => 400) AS MODEL slow")
    assert error.condition == "WAREHOUSE_CANCELLED"
    assert running.is_set() and seen[-1].passes >= 1 and ".scala:" in seen[-1].work
    assert rows("SHOW MODELS LIKE 'slow'") == []
