"""Aggregates taken apart."""

from __future__ import annotations

from warehouse.dataflow.aggregates import Argument, Call, decompose


def test_a_set_of_rows_that_can_be_taken_back_comes_sorted_too() -> None:
    call = Call("collect_set", (Argument("x0", "string"),), False, None, "array<string>")
    assert decompose((call,), retracted=True).kept == ((0, "sort_array(collect_set(x0))"),)
    assert decompose((call,)).finals == ("sort_array(coalesce(p0, array()))",)
