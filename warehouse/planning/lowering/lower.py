"""A statement to its plan, whichever kind it is."""

from __future__ import annotations

from warehouse.errors import WarehouseError
from warehouse.language.statements import (
    CreateStream,
    CreateStreamingTable,
    DescribeObject,
    DrainStreamingTable,
    DropObject,
    Explain,
    Generate,
    QueryStatement,
    RefreshStreamingTable,
    ShowObjects,
    SparkStatement,
    StartStreamingTable,
    Statement,
    StopStreamingTable,
)
from warehouse.planning import plans
from warehouse.planning.context import Context
from warehouse.planning.lengths import length
from warehouse.planning.lowering import learning, spark, tables
from warehouse.planning.lowering.explained import explained
from warehouse.planning.lowering.relations import Relations


def plan(context: Context, statement: Statement, relations: Relations) -> plans.Plan:
    """Return what ``statement`` comes to. Runs nothing.

    Raises:
        WarehouseError: located in the statement's source.
    """
    try:
        return _plan(context, statement, relations)
    except WarehouseError as error:
        raise error.located_in(statement.source) from None


def _plan(context: Context, statement: Statement, relations: Relations) -> plans.Plan:
    source = statement.source
    match statement:
        case SparkStatement():
            return spark.passed_through(context, statement)
        case QueryStatement():
            return spark.rewritten_query(context, statement, relations)
        case CreateStream():
            return plans.MakeStream(source, statement)
        case CreateStreamingTable():
            return tables.made(context, statement, relations)
        case RefreshStreamingTable(name=name, full=full):
            return plans.Refresh(source, name.span, tables.table_named(context, name), full=full)
        case DrainStreamingTable(name=name):
            return plans.Refresh(source, name.span, tables.table_named(context, name), drain=True)
        case StartStreamingTable(name=name, every=every):
            pause = length(source.text, every, "EVERY") if every else None
            return plans.Start(source, name.span, tables.table_named(context, name), pause)
        case StopStreamingTable(name=name):
            return plans.Stop(source, name.span, tables.table_named(context, name))
        case Generate():
            return learning.trained(context, statement, relations)
        case DropObject(kind="MODEL"):
            return learning.dropped(context, statement)
        case DropObject(kind="STREAM"):
            return plans.DropStreamPlan(source, statement)
        case DropObject(name=name, if_exists=if_exists):
            found = context.catalog.streaming_tables.get(*context.resolve(name))
            if found is None and if_exists:
                return plans.Nothing(source, f"no streaming table {name.last}")
            return plans.DropStreamingTable(source, name.span, tables.table_named(context, name))
        case ShowObjects():
            return plans.Show(source, statement)
        case DescribeObject(kind="STREAM", name=name):
            return tables.described_stream(context, statement, name)
        case DescribeObject(kind="MODEL" | "GENERATOR", name=name):
            return learning.described(context, statement, name)
        case DescribeObject(name=name):
            return plans.Describe(source, statement, tables.table_named(context, name))
        case Explain(mode=mode, statement=inner):
            try:
                planned = _plan(context, inner, relations)
            except WarehouseError as error:
                offset = len(source.text) - len(inner.source.text)
                raise error.shifted(offset).located_in(source) from None
            return explained(context, source, mode, inner, planned, relations)
    raise AssertionError(statement)
