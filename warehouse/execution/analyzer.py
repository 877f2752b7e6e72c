"""Spark's analyzer behind planning's questions: types and names, never rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import Column, quote_name
from warehouse.errors import SourceText, Span, WarehouseError, fail
from warehouse.execution.spark_errors import RAISED, translate
from warehouse.execution.streams_in_plans import StreamsInPlan
from warehouse.execution.switches import OF_CLIENTS, SWITCHES
from warehouse.execution.types import type_text
from warehouse.language.fragments import Fragment
from warehouse.language.statements import Name

_ASKS_THE_CLOCK = re.compile(r"\b(current_timestamp|current_date|current_time|localtimestamp|now)\(")
_QUOTED = re.compile(r"`[^`]*`|'(?:[^'\\]|\\.)*'")
"""Columns, which Spark may have named after a call, and texts."""

_MULTIPLIES = re.compile(r"^[ +:-]*(Generate|Join|LateralJoin|AsOfJoin) ", re.MULTILINE)

AGGREGATES = frozenset(
    [
        "any",
        "any_value",
        "approx_count_distinct",
        "approx_percentile",
        "approx_top_k",
        "approx_top_k_accumulate",
        "approx_top_k_combine",
        "array_agg",
        "avg",
        "bit_and",
        "bit_or",
        "bit_xor",
        "bitmap_and_agg",
        "bitmap_construct_agg",
        "bitmap_or_agg",
        "bool_and",
        "bool_or",
        "collect_list",
        "collect_set",
        "corr",
        "count",
        "count_if",
        "count_min_sketch",
        "covar_pop",
        "covar_samp",
        "every",
        "first",
        "first_value",
        "histogram_numeric",
        "hll_sketch_agg",
        "hll_union_agg",
        "kll_merge_agg_bigint",
        "kll_merge_agg_double",
        "kll_merge_agg_float",
        "kll_sketch_agg_bigint",
        "kll_sketch_agg_double",
        "kll_sketch_agg_float",
        "kurtosis",
        "last",
        "last_value",
        "listagg",
        "max",
        "max_by",
        "mean",
        "measure",
        "median",
        "min",
        "min_by",
        "mode",
        "percentile",
        "percentile_approx",
        "percentile_cont",
        "percentile_disc",
        "regr_avgx",
        "regr_avgy",
        "regr_count",
        "regr_intercept",
        "regr_r2",
        "regr_slope",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "skewness",
        "some",
        "std",
        "stddev",
        "stddev_pop",
        "stddev_samp",
        "string_agg",
        "sum",
        "theta_intersection_agg",
        "theta_sketch_agg",
        "theta_union_agg",
        "try_avg",
        "try_sum",
        "tuple_intersection_agg_double",
        "tuple_intersection_agg_integer",
        "tuple_sketch_agg_double",
        "tuple_sketch_agg_integer",
        "tuple_union_agg_double",
        "tuple_union_agg_integer",
        "var_pop",
        "var_samp",
        "variance",
    ]
)
"""The aggregate functions of Spark 4.2 (``FunctionRegistry.builtin``, group ``agg_funcs``)."""


_INSERT = re.compile(r"\binsert\b", re.IGNORECASE)


class SparkAnalyzer:
    """Implements ``planning.context.Analyzer`` on a session; ``parameters``: values of a statement's markers."""

    def __init__(self, spark: SparkSession, parameters: Mapping[str, Any] | None = None):
        self.spark, self.parameters = spark, dict(parameters or {})
        self.is_constant = lru_cache(maxsize=4096)(self._is_constant)

    def columns(self, query: Fragment) -> tuple[Column, ...]:
        """Return the output columns of ``query``; errors carry spans of the fragment's origin."""
        return tuple(Column(f.name, type_text(f.dataType)) for f in self._analyzed(query).schema.fields)

    def _analyzed(self, query: Fragment) -> DataFrame:
        try:
            self._refuse_insert(query)
            return self.spark.sql(query.text, args=self.parameters or None)
        except RAISED as error:
            told = translate(error, SourceText(query.text), query)
            raise WarehouseError(*told.diagnostics) from None

    def check_syntax(self, statement: Fragment, source: SourceText) -> None:
        """Let Spark parse a statement, which is not run.

        Raises:
            WarehouseError: it is no SQL; located in ``source``, the user's text.
        """
        try:
            self.spark._jsparkSession.sessionState().sqlParser().parsePlan(statement.text)
        except RAISED as error:
            raise translate(error, source, statement) from None

    def _refuse_insert(self, query: Fragment) -> None:
        """Refuse what begins as a query does and writes: Spark would run it as it looks at it."""
        found = _INSERT.search(query.text)
        if found and _inserts(self.spark._jsparkSession.sessionState().sqlParser().parsePlan(query.text)):
            fail(
                "WAREHOUSE_NOT_SUPPORTED", query.origin(*found.span()), what="INSERT in the place of a query",
                instead="a SELECT here, and the INSERT as a statement of its own",
            )  # fmt: skip

    def _is_constant(self, expression: str) -> bool:
        try:
            self.spark.sql(f"SELECT ({expression})")
        except RAISED:
            return False
        return True

    def is_deterministic(self, query: Fragment) -> bool:
        """Say whether a query repeats exactly: nothing random in it, and nothing that asks the clock."""
        plan = self._analyzed(query)._jdf.queryExecution().analyzed()
        bodies = getattr(self.spark._jvm.org.apache.spark.sql.catalyst.optimizer, "EliminateSQLFunctionNode$")
        return _plan_repeats(getattr(bodies, "MODULE$").apply(plan))  # the bodies of SQL functions in their places

    def unrepeatable(self, query: Fragment) -> Span | None:
        """Return the words for which a query is not deterministic; None where Spark does not know which ones they are.

        That is the innermost expression, whose place in the text Spark keeps.
        """
        plan = _innermost(self._analyzed(query)._jdf.queryExecution().analyzed(), _plan_repeats)
        found = _unrepeatable(plan.expressions(), _repeats)
        origin = found and _innermost(found, _repeats).origin()
        if not origin or origin.startIndex().isEmpty() or origin.stopIndex().isEmpty():
            return None
        return query.origin(origin.startIndex().get(), origin.stopIndex().get() + 1)

    def misuse(self, query: Fragment, mark: str) -> str | None:
        """Return the name of the first ``Misuse`` of the streams with a ``mark`` in a query."""
        found = StreamsInPlan(self._analyzed(query)._jdf.queryExecution().analyzed(), mark).misuse
        return found.name if found else None

    def delta_tables(self, query: Fragment) -> tuple[tuple[str, Path], ...]:
        """Return names and folders of the Delta tables that a query reads as they are when it runs."""
        return tuple(_delta_tables(self._analyzed(query)._jdf.queryExecution().analyzed()))

    def multiplies(self, query: Fragment) -> bool:
        """Say whether a query may make several rows of one: it generates rows, or joins."""
        plan = self._analyzed(query)._jdf.queryExecution().analyzed()
        return _MULTIPLIES.search(plan.toString()) is not None

    def table_columns(self, name: Name) -> tuple[Column, ...] | None:
        """Return the columns of a table or view, None when there is none."""
        try:
            found = self.spark.table(".".join(quote_name(p) for p in name.parts))
        except AnalysisException:
            return None
        return tuple(Column(f.name, type_text(f.dataType)) for f in found.schema.fields)

    def relation_kind(self, name: Name) -> str | None:
        """Return ``table`` or ``view``, None when there is neither; temporary views of the session do not count."""
        return relation_kind(self.spark, name.within(self.spark.catalog.currentDatabase()))

    def is_temporary_view(self, name: Name) -> bool:
        """Say whether a name is that of a temporary view, of the session or (``global_temp``) of the process."""
        return temporary_view(self.spark, name.parts) is not None

    def temporary_functions(self) -> frozenset[str]:
        """Return the names, in lower case, of the functions that the session has alone."""
        found = self.spark._jsparkSession.sessionState().catalog().listTemporaryFunctions()
        return frozenset(found.apply(i).funcName().lower() for i in range(found.size()))

    def table_properties(self, name: Name) -> dict[str, str] | None:
        """Return the properties of a table, None when there is none.

        From the catalog itself: SHOW TBLPROPERTIES hides a value in which Spark suspects a secret, such as a column
        named ``pageURL``.
        """
        view, manager = self.spark._jvm, self.spark._jsparkSession.sessionState().catalogManager()
        catalog = manager.catalog(name.parts[0]) if len(name.parts) > 2 else manager.currentCatalog()
        namespace = self.spark.sparkContext._gateway.new_array(view.java.lang.String, 1)
        namespace[0], last = name.within(self.spark.catalog.currentDatabase())
        try:
            found = catalog.loadTable(view.org.apache.spark.sql.connector.catalog.Identifier.of(namespace, last))
        except AnalysisException:
            return None
        return dict(found.properties())

    def aggregate_functions(self) -> frozenset[str]:
        """Return the names of the aggregate functions."""
        return AGGREGATES

    def switches(self) -> frozenset[str]:
        """Return the names of the warehouse's own settings."""
        return OF_CLIENTS.union(SWITCHES)


def relation_kind(spark: SparkSession, parts: Sequence[str]) -> str | None:
    """Return ``table`` or ``view``, None where Spark's catalog has neither of the name that ``parts`` spell."""
    try:
        found = spark.catalog.getTable(".".join(map(quote_name, parts)))
    except AnalysisException:
        return None
    return "view" if found.tableType == "VIEW" else "table"


def temporary_view(spark: SparkSession, parts: Sequence[str]) -> Any:
    """Return what Spark keeps of a temporary view, None where there is none; a global one is ``global_temp.name``."""
    catalog = spark._jsparkSession.sessionState().catalog()
    match parts:
        case [name]:
            found = catalog.getRawTempView(name)
        case [schema, name] if schema.lower() == "global_temp":
            found = catalog.getRawGlobalTempView(name)
        case _:
            return None
    return found.get().tableMeta() if found.isDefined() else None


def _delta_tables(plan: Any) -> Iterator[tuple[str, Path]]:
    """Yield name and folder of each Delta table below a plan; of a fixed version there is nothing to say."""
    for parts in (plan.children(), plan.subqueries()):
        for i in range(parts.size()):
            yield from _delta_tables(parts.apply(i))
    if plan.nodeName() == "LogicalRelation" and hasattr(plan.relation(), "location"):
        files = plan.relation().location()
        if files.getClass().getSimpleName() == "TahoeLogFileIndex" and not files.isTimeTravelQuery():
            path = Path(files.path().toUri().getPath())
            named = plan.catalogTable()
            yield (named.get().identifier().unquotedString() if named.isDefined() else str(path)), path


def _inserts(plan: Any) -> bool:
    """Say whether a plan, as it was parsed, or one below it writes."""
    children = plan.children()
    return plan.nodeName() == "InsertIntoStatement" or any(_inserts(children.apply(i)) for i in range(children.size()))


def _plan_repeats(plan: Any) -> bool:
    """Say whether a plan gives the same rows again."""
    if not plan.deterministic() or _unrepeatable(plan.expressions(), _repeats) is not None:
        return False
    return all(_unrepeatable(parts, _plan_repeats) is None for parts in (plan.children(), plan.subqueries()))


def _repeats(expression: Any) -> bool:
    """Say whether an expression gives the same again; its SQL is whole, where Spark cuts what it prints."""
    return bool(expression.deterministic()) and not _ASKS_THE_CLOCK.search(_QUOTED.sub("", expression.sql()))


def _unrepeatable(parts: Any, repeats: Callable[[Any], bool]) -> Any:
    """Return the first of some plans or expressions that does not repeat, or None."""
    return next((part for i in range(parts.size()) if not repeats(part := parts.apply(i))), None)


def _innermost(whole: Any, repeats: Callable[[Any], bool]) -> Any:
    """Return the part of a plan or an expression without which it would repeat, of those of its own kind."""
    while (inner := _unrepeatable(whole.children(), repeats)) is not None:
        whole = inner
    return whole
