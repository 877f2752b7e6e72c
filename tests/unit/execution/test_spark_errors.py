"""What Spark says without a condition, told with one of ours."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from warehouse.cli.codes import FAILED, TROUBLE
from warehouse.cli.console import Console
from warehouse.cli.script import failed
from warehouse.errors import SourceText
from warehouse.execution.spark_errors import condition_and_state, translate


def test_a_result_that_memory_does_not_hold_is_told_with_a_way_out() -> None:
    said = (
        "Job aborted due to stage failure: Total size of serialized results of 2 tasks (1030.0 MiB)"
        " is bigger than spark.driver.maxResultSize (1024.0 MiB)"
    )
    told = translate(Py4JError(said), SourceText("SELECT * FROM t")).render()
    assert "[WAREHOUSE_RESULT_TOO_LARGE]" in told and "(1024.0 MiB). SQLSTATE: 54000" in told
    assert "hint: Keep the rows with CREATE TABLE … AS, or take fewer with LIMIT" in told


def test_names_of_ours_are_not_suggested_and_the_users_own_stay() -> None:
    said = (
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `__w_clock`.`now` cannot be resolved."
        " Did you mean one of the following? [`__w_row`, `__w_q`.`k`, `v`]. SQLSTATE: 42703"
    )
    told = translate(Py4JError(said), SourceText("SELECT __w_clock.now FROM t")).render()
    assert "name `__w_clock`.`now` cannot" in told and "following? [`v`]" in told


@pytest.mark.parametrize(
    ("text", "caret"),
    [("SELECT sum(x) OVER w FROM t", True), ("SELECT sum(w) OVER w FROM t", False), ("SELECT 1", False)],
)
def test_a_name_in_a_message_is_pointed_at_where_the_user_wrote_it_once(text: str, caret: bool) -> None:
    said = "[MISSING_WINDOW_SPECIFICATION] Window specification is not defined in the WINDOW clause for w."
    told = translate(
        PySparkException(said, "MISSING_WINDOW_SPECIFICATION", {"windowName": "w", "docroot": "https://x"}),
        SourceText(text),
    ).render()
    assert ("OVER w" in told and "(line 1, pos 19)" in told) is caret and ("\n1 |" in told) is caret


def test_what_a_message_alone_tells_is_known_too() -> None:
    """As of a side of a join that could not be sent to all tasks: Py4J gives the JVM's own error."""
    said = (
        "An error occurred: java.util.concurrent.ExecutionException: [DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"
    )
    assert condition_and_state(Py4JError(said)) == ("DIVIDE_BY_ZERO", "22012")


READING = "Encountered error while reading file"


@pytest.mark.parametrize(
    ("said", "told", "code"),
    [
        (
            f"[FAILED_READ_FILE.NO_HINT] {READING} file:///data/x%20%C3%A4.json.gz. SQLSTATE: KD001",
            f"[FAILED_READ_FILE.NO_HINT] {READING} /data/x ä.json.gz. SQLSTATE: KD001\nhint: The file is damaged",
            FAILED,
        ),
        (
            f"[FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER] {READING} file:/d/x %41.orc. Could not read footer.",
            f"{READING} /d/x %41.orc. Could not read footer. SQLSTATE: HY000",
            FAILED,
        ),
        ("[STREAM_FAILED] Query [id = 1] terminated with exception: x SQLSTATE: XXKST", "x SQLSTATE: 55000", FAILED),
        ("[INTERNAL_ERROR] Oops. SQLSTATE: XX000", "Oops. SQLSTATE: XX000", TROUBLE),
        ("java.lang.IllegalStateException: Oops", "Oops SQLSTATE: XX000", TROUBLE),
    ],
)
def test_only_a_bug_is_told_as_one(said: str, told: str, code: int) -> None:
    error = translate(Py4JError(said), SourceText("SELECT 1"))
    assert told in error.render()
    assert failed(error, Console(quiet=True), debug=False) == code


def test_a_task_that_failed_tells_what_it_failed_of() -> None:
    failed_task, cause = (
        Py4JError("[TASK_WRITE_FAILED] Task failed. SQLSTATE: 58030"),
        Py4JError("Index 0 out of bounds"),
    )
    failed_task._cause = cause  # type: ignore[attr-defined]
    query = Py4JError("[STREAM_FAILED] Query terminated. SQLSTATE: XXKST")
    query._cause = failed_task  # type: ignore[attr-defined]
    for error in (failed_task, query):
        assert "Index 0 out of bounds SQLSTATE" in translate(error, SourceText("REFRESH STREAMING TABLE t")).render()
    assert "Task failed." in translate(Py4JError(str(failed_task)), SourceText("SELECT 1")).render()
