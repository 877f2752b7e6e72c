"""GENERATE, and statements about models and generators."""

from __future__ import annotations

from warehouse.catalog.entries import ModelEntry, quote_name
from warehouse.errors import SourceText, fail
from warehouse.language.fragments import quoted
from warehouse.language.parser import parse
from warehouse.language.statements import DescribeObject, DropObject, Generate, Name
from warehouse.planning import plans
from warehouse.planning.context import Context
from warehouse.planning.lowering.relations import Relations
from warehouse.planning.lowering.spark import checked_target, column_described
from warehouse.planning.models import generate
from warehouse.planning.models.arguments import advice
from warehouse.planning.queries.checks import distinct_names


def trained(context: Context, statement: Generate, relations: Relations) -> plans.Train:
    """Return the plan of GENERATE; refuses what is there already and shall not be replaced."""
    source = statement.source
    training = generate.bind(context.library(), statement, _input(context, statement, relations))
    table, model = statement.table, statement.model
    if model and (training.after or not training.makes_model):
        fail("WAREHOUSE_GENERATE_NO_MODEL", model.name.span, name=generate.calls_of(statement)[-1].name)
    if table:
        checked_target(context, "CREATE TABLE", table.name)
        if not table.or_replace and context.analyzer.table_columns(table.name) is not None:
            fail("WAREHOUSE_GENERATE_EXISTS", table.name.span, name=table.name.last, kind="table", word="TABLE")
    entry = context.catalog.models.get(*context.resolve(model.name)) if model else None
    if model and entry and not model.or_replace:
        fail("WAREHOUSE_GENERATE_EXISTS", model.name.span, name=entry.name, kind="model", word="MODEL")
    return plans.Train(
        source, statement, training,
        ".".join(quote_name(part) for part in table.name.parts) if table else None, bool(table and table.or_replace),
        context.resolve(model.name) if model else None, entry,
    )  # fmt: skip


def _input(context: Context, statement: Generate, relations: Relations) -> generate.Source:
    """Return the rows that GENERATE reads: a table, or a query with what is ours in it replaced."""
    source, read = statement.source, generate.source_of(statement)
    if isinstance(read, Name):
        if context.catalog.kind_of(*context.resolve(read)) == "stream":
            fail("WAREHOUSE_GENERATE_STREAM", read.span, query=f"(SELECT * FROM STREAM {read.span.of(source.text)})")
        query = "SELECT * FROM " + quoted(source.text, read.span)
    else:
        query = relations.writer(context, source, read)(read.span)
    columns = context.analyzer.columns(query)
    distinct_names((column.name, read.span) for column in columns)
    return generate.Source(query, columns, read.span)


def model_named(context: Context, name: Name) -> ModelEntry:
    """Return the model called ``name``; refuses with the nearest name when there is none."""
    entry = context.catalog.models.get(*context.resolve(name))
    if entry is None:
        fail("WAREHOUSE_MODEL_NOT_FOUND", name.span, name=name.written, similar=context.similar(name, "model"))
    return entry


def dropped(context: Context, statement: DropObject) -> plans.Plan:
    """Return the plan of DROP MODEL; refuses while a streaming table or a view asks the model."""
    if statement.if_exists and context.catalog.models.get(*context.resolve(statement.name)) is None:
        return plans.Nothing(statement.source, f"no model {statement.name.last}")
    entry = model_named(context, statement.name)
    for table in context.catalog.askers_of(entry.qualified):
        kind = "STREAMING TABLE"
        fail("WAREHOUSE_MODEL_IN_USE", statement.name.span, name=entry.name, kind=kind, reader=table.qualified)
    for view in context.catalog.views.all():
        query = getattr(parse(SourceText(view.text)), "query", None)
        calls = query.models if query else ()
        if any(context.catalog.models.get(*call.model.within(view.schema)) is entry for call in calls):
            fail("WAREHOUSE_MODEL_IN_USE", statement.name.span, name=entry.name, kind="VIEW", reader=view.qualified)
    return plans.DropModel(statement.source, entry)


def described(context: Context, statement: DescribeObject, name: Name) -> plans.Plan:
    """Return the plan of DESCRIBE MODEL or GENERATOR; a table of that name is described by Spark."""
    if of_spark := column_described(context, statement, name):
        return of_spark
    found = (
        context.catalog.models.get(*context.resolve(name))
        if statement.kind == "MODEL"
        else context.library().find(name.last, name.span)
    )
    if found is not None:
        return plans.Describe(statement.source, statement, found)
    if statement.kind == "MODEL":
        model_named(context, name)
    told = advice(name.last, context.library().names(), "SHOW GENERATORS lists what there is.")
    fail("WAREHOUSE_GENERATOR_NOT_FOUND", name.span, name=name.last, advice=told)
