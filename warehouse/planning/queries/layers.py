"""Plain SELECTs around the windowed block of a streaming table: bound from the inside out."""

from __future__ import annotations

from warehouse.catalog.entries import Column, quote_name
from warehouse.dataflow.query import Layer, Output
from warehouse.errors import fail
from warehouse.language.fragments import Fragment, of, rewritten
from warehouse.language.statements import QueryBlock
from warehouse.planning.context import Context
from warehouse.planning.queries import checks
from warehouse.planning.queries.render import FunctionRelation, Writer
from warehouse.planning.streams.sources import typed_empty
from warehouse.planning.words import scan
from warehouse.planning.words.text import Text


def bind_layers(
    context: Context, text: Text, inner: QueryBlock, function: FunctionRelation, outputs: tuple[Output, ...]
) -> tuple[Layer, ...]:
    """Return the SELECTs around the windowed block ``inner``, whose columns are ``outputs``.

    Raises:
        WarehouseError: one of them is more than expressions and a condition over the block inside it.
    """
    analysis = Writer(context, text, lambda s: typed_empty(s.columns), function)
    layers: list[Layer] = []
    inside = inner
    for block in around(text, inner):
        alias = _only_subquery(text, block, inside)
        columns = context.analyzer.columns(analysis(block.span))
        listed = analysis(block.items[0].span.to(block.items[-1].span))
        where = " WHERE " + analysis(block.where) if block.where else of("")
        relation = typed_empty(tuple(Column(o.name, o.type) for o in outputs))
        checks.check_deterministic(context, "SELECT " + listed + f" FROM {relation} AS {alias}" + where, block.select)
        expressions = _expressions(text, block, outputs, alias)
        outputs = tuple(Output(c.name, c.type, sql) for c, sql in zip(columns, expressions, strict=True))
        layers.append(Layer(alias, outputs, block.where.of(text.text) if block.where else None))
        inside = block
    return tuple(layers)


def around(text: Text, inner: QueryBlock) -> list[QueryBlock]:
    """Return the blocks that have ``inner`` in their FROM, from the inside out."""
    found = [b for b in text.shape.blocks if b is not inner and b.relation and b.relation.covers(inner.span)]
    return sorted(found, key=lambda b: b.span.end - b.span.start)


def _only_subquery(text: Text, block: QueryBlock, inside: QueryBlock) -> str:
    """Return the alias of the one subquery in the block's FROM; refuse anything beside it."""
    assert block.relation is not None
    tokens = text.words(block.relation)
    close = scan.closing(tokens, 0)
    rest = [t for t in tokens[close + 1 :] if t.upper != "AS"]
    written_out = [t for t in tokens[1:close] if any(s.covers(t.span) for s in text.without)]
    listing = ("WITH", ",") if written_out else ()
    body = [
        t for t in tokens[1:close] if not inside.span.covers(t.span) and t not in written_out and t.upper not in listing
    ]
    if tokens[0].upper != "(" or body or len(rest) > 1 or (rest and not rest[0].is_name):
        fail(
            "WAREHOUSE_NOT_BUILT_YET", block.relation, what="a join with a windowed block in a streaming table",
            example="a join before the aggregation, or a second streaming table that joins",
        )  # fmt: skip
    return rest[0].span.of(text.text) if rest else "__w_inside"


def _expressions(text: Text, block: QueryBlock, inside: tuple[Output, ...], alias: str) -> list[str]:
    """Return what the items are over the block inside; the alias of an earlier one stands for its expression."""
    out: list[str] = []
    columns, aliases = {o.name.lower() for o in inside}, dict[str, Fragment]()
    for item in block.items:
        if item.star:
            written = item.expression.of(text.text).strip()
            if written not in ("*", f"{alias}.*"):
                fail(
                    "WAREHOUSE_NOT_BUILT_YET", item.span, what=f"{written} around a windowed block",
                    example="the columns by name",
                )  # fmt: skip
            out += [quote_name(o.name) for o in inside]
        else:
            used = scan.operands(text.words(item.expression), aliases)
            meant = rewritten(text.text, item.expression, [(s, "(" + aliases[name] + ")") for name, s in used])
            out.append(meant.text)
            name = (item.alias or "").strip("`").lower()
            if name and name not in columns:
                aliases.setdefault(name, meant)
    return out
