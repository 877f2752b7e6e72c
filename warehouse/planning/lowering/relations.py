"""What stands for streams and our table functions in a batch run, and what writes a statement's query with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.catalog.store import Catalog
from warehouse.errors import SourceText
from warehouse.language.statements import QueryShape
from warehouse.language.tokens import tokenize
from warehouse.planning.context import Context
from warehouse.planning.queries.render import FunctionRelation, StreamRelation, Writer
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.words.text import Text


@dataclass(frozen=True)
class Relations:
    """What stands for streams and our table functions in a batch run, as SQL text; ``bound`` tells their queries.

    Attributes:
        bound: the query of a streaming table that exists, in a catalog.
    """

    stream: StreamRelation
    function: Callable[[Context], FunctionRelation]
    bound: Callable[[Catalog, StreamingTableEntry], StreamingQuery]

    def writer(self, context: Context, source: SourceText, query: QueryShape) -> Writer:
        """Return what writes spans of the statement ``source``, whose query is ``query``, for a batch run."""
        text = Text(source.text, tuple(tokenize(source.text) or ()), query)
        return Writer(context, text, self.stream, self.function(context))
