"""A statement that is cancelled ends, whether its jobs run already, are being planned, or are yet to be asked for."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from warehouse.engine import Engine, WarehouseError
from warehouse.execution.cancelling import Cancelling

LONG = "SELECT count(*) FROM range(0, 40000000000, 1, 4000) WHERE hash(id) = 7"


@pytest.mark.parametrize("seconds", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("guest", [False, True], ids=["the engine", "a session"])
def test_a_statement_ends_soon(engine: Engine, seconds: float, guest: bool) -> None:
    engine = engine.on(engine.spark) if guest else engine
    raised: list[WarehouseError] = []
    begun = threading.Event()

    def run() -> None:
        results = engine.run(LONG)
        begun.set()
        try:
            for result in results:
                list(result.batches)
        except WarehouseError as error:
            raised.append(error)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    begun.wait(30)
    time.sleep(seconds)
    while running.is_alive():  # the statement itself may not have begun
        engine.cancel()
        running.join(5)
    assert [error.condition for error in raised] == ["WAREHOUSE_CANCELLED"]
    assert [list(r.batches) for r in engine.run("SELECT 1")]  # what was cancelled stays the only one


def test_what_is_cancelled_after_its_end_harms_nobody(engine: Engine) -> None:
    [result] = engine.run("SELECT 1 AS one")
    engine.cancel()
    [result] = engine.run("SELECT count(*) AS n FROM range(1000)")
    assert [row for batch in result.batches for row in batch.to_pylist()] == [{"n": 1000}]


def test_the_next_statement_is_not_cancelled_for_one_that_ends_meanwhile() -> None:
    """Jobs are cancelled by a tag that both have: who is about to do so, and is held up, holds up the next one."""
    late, begun = threading.Event(), threading.Event()
    met: list[bool] = []

    class Context:
        """Instead of Spark's."""

        def addJobTag(self, tag: str) -> None:  # noqa: N802
            pass

        removeJobTag = addJobTag  # noqa: N815

        def cancelJobsWithTag(self, tag: str) -> None:  # noqa: N802
            late.set()
            met.append(begun.wait(0.5))

    context: Any = Context()
    cancelling = Cancelling(context)
    with cancelling.statement():
        cancelling.cancel()
        assert late.wait(120)
    with cancelling.statement():
        begun.set()
    assert met and not any(met)
