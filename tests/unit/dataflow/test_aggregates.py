"""Aggregates taken apart."""

from __future__ import annotations

import pytest

from warehouse.dataflow.aggregates.calls import Argument, Call
from warehouse.dataflow.aggregates.decomposition import decompose


def test_a_set_of_rows_that_can_be_taken_back_comes_sorted_too() -> None:
    call = Call("collect_set", (Argument("x0", "string"),), False, None, "array<string>")
    assert decompose((call,), retracted=True).holistic == ((0, "sort_array(collect_set(x0))"),)
    assert decompose((call,)).finals == ("sort_array(coalesce(p0, array()))",)


def call(function: str, kind: str = "double", *more: Argument, distinct: bool = False) -> Call:
    return Call(function, (Argument("x0", kind), *more), distinct, None, "double")


@pytest.mark.parametrize("retracted", [False, True])
def test_variances_of_a_column_share_what_they_keep(retracted: bool) -> None:
    alone = decompose((call("stddev"),), retracted)
    assert alone.rows is None and {p.since for p in alone.partials} <= {0, 9}
    assert len({p.type for p in alone.partials}) == 1
    every = [call(f) for f in ("std", "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop")]
    assert decompose(tuple(every), retracted).partials == alone.partials


def test_covariances_keep_partial_results_of_pairs() -> None:
    parts = decompose((call("covar_samp", "int", Argument("x1", "double")),))
    assert parts.rows is None and all("x0" in text and "x1" in text for text in parts.inputs)


def test_approx_count_distinct_keeps_registers_where_no_row_is_taken_back() -> None:
    counted = call("approx_count_distinct", "string", Argument("0.01BD", "decimal(2,2)", constant=True))
    for distinct in (False, True):
        parts = decompose((call("approx_count_distinct", "string", distinct=distinct),))
        assert [(p.type, p.since) for p in parts.partials] == [("array<int>", 9)]
    assert len(decompose((call("approx_count_distinct", "string"), counted)).partials) == 2  # of two sizes
    assert decompose((counted,), retracted=True).rows
    assert decompose((call("approx_count_distinct", "string collate UTF8_LCASE"),)).rows


def test_what_was_kept_as_rows_tells_since_when_it_is_not() -> None:
    assert [p.since for p in decompose((call("count", "string", distinct=True),)).partials] == [6]
    assert [p.since for p in decompose((call("sum"), call("median"))).partials] == [0] * 7
