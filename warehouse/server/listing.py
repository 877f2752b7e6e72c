"""What there is, as JDBC's ``DatabaseMetaData`` lists it: schemas, tables, columns, functions.

Source: java.sql.DatabaseMetaData, for the order and the meaning of the columns. Patterns know ``%``, ``_`` and a
backslash before either; names are compared without case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.engine import Engine

CATALOG = "spark_catalog"
TABLE, VIEW, STREAMING_TABLE, STREAM = "TABLE", "VIEW", "STREAMING TABLE", "STREAM"
TYPES = (TABLE, VIEW, STREAMING_TABLE, STREAM)

_JDBC = {
    # java.sql.Types, size, digits, radix
    "boolean": (16, 1, None, None), "tinyint": (-6, 3, 0, 10), "smallint": (5, 5, 0, 10), "int": (4, 10, 0, 10),
    "bigint": (-5, 19, 0, 10), "float": (6, 7, 7, 10), "double": (8, 15, 15, 10), "decimal": (3, 10, 0, 10),
    "string": (12, None, None, None), "varchar": (12, None, None, None), "char": (1, None, None, None),
    "binary": (-2, None, None, None), "date": (91, 10, None, None), "timestamp": (93, 29, 6, None),
    "timestamp_ntz": (93, 29, 6, None), "void": (0, None, None, None), "array": (2003, None, None, None),
    "map": (2000, None, None, None), "struct": (2002, None, None, None),
}  # fmt: skip
_OTHER = (1111, None, None, None)

Row = list[Any]


class Listing:
    """The lists of one session."""

    def __init__(self, engine: Engine):
        """List what ``engine``'s session sees."""
        self._engine = engine

    def rows(self, kind: str, asked: Sequence[Any]) -> list[Row]:
        """Return the rows of ``catalogs``, ``schemas``, ``tables``, ``table_types``, ``columns`` or ``functions``."""
        match kind, asked:
            case "catalogs", _:
                return [[CATALOG]]
            case "table_types", _:
                return [[name] for name in sorted(TYPES)]
            case "schemas", [catalog, schema]:
                return [[name, CATALOG] for name in self._schemas(catalog, schema)]
            case "tables", [catalog, schema, table, types]:
                return list(self._tables(catalog, schema, table, types))
            case "columns", [catalog, schema, table, column]:
                return list(self._columns(catalog, schema, table, column))
            case "functions", [catalog, schema, function]:
                return list(self._functions(catalog, schema, function))
        raise AssertionError(kind)

    def _sql(self, text: str) -> list[Any]:
        return self._engine.spark.sql(text).collect()

    def _schemas(self, catalog: str | None, schema: str | None) -> list[str]:
        if not _is_ours(catalog):
            return []
        names = (row[0] for row in self._sql("SHOW SCHEMAS"))
        return sorted(n for n in names if _matches(schema, n) and n != self._engine.hidden_schema)

    def _named(
        self, catalog: str | None, schema: str | None, table: str | None
    ) -> Iterator[tuple[str | None, str, str]]:
        """Yield schema, name and type of what there is; a temporary view has no schema."""
        known, spark = self._engine.catalog, self._engine.spark._jsparkSession.sessionState().catalog()
        streaming = {(e.schema.lower(), e.name.lower()) for e in known.streaming_tables.all()}
        streams = [(e.schema.lower(), e.name) for e in known.streams.all()]
        for place in self._schemas(catalog, schema):
            views, lower = set(_names(spark.listViews(place, "*"), in_schema=True)), place.lower()
            found = [(name, STREAM) for its, name in streams if its == lower]
            for name in _names(spark.listTables(place, "*", False)):
                plain = VIEW if name in views else TABLE
                found.append((name, STREAMING_TABLE if (lower, name.lower()) in streaming else plain))
            yield from ((place, name, kind) for name, kind in sorted(found) if _matches(table, name))
        if schema in (None, "", "%"):
            temporary, ours = _names(spark.listLocalTempViews("*")), self._engine.hidden_prefix
            yield from ((None, n, VIEW) for n in sorted(temporary) if _matches(table, n) and not n.startswith(ours))

    def _tables(
        self, catalog: str | None, schema: str | None, table: str | None, types: Sequence[str] | None
    ) -> Iterator[Row]:
        wanted = {t.upper() for t in types or TYPES}
        if TABLE in wanted:
            wanted.add(STREAMING_TABLE)  # a tool that asks for tables means what can be read as one
        for place, name, kind in self._named(catalog, schema, table):
            if kind in wanted:
                yield [CATALOG, place, name, kind, self._comment(place, name, kind), *[None] * 5]

    def _comment(self, schema: str | None, name: str, kind: str) -> str:
        known = self._entry(schema, name, kind)
        return (known.comment if known else None) or ""

    def _entry(self, schema: str | None, name: str, kind: str) -> Any:
        catalog = self._engine.catalog
        if kind == STREAM and schema:
            return catalog.streams.get(schema, name)
        return catalog.streaming_tables.get(schema, name) if kind == STREAMING_TABLE and schema else None

    def _columns(self, catalog: str | None, schema: str | None, table: str | None, column: str | None) -> Iterator[Row]:
        for place, name, kind in self._named(catalog, schema, table):
            for number, (title, spelled, comment) in enumerate(self._fields(place, name, kind), 1):
                if _matches(column, title):
                    yield _column_row(place, name, number, title, spelled, comment)

    def _fields(self, schema: str | None, name: str, kind: str) -> list[tuple[str, str, str]]:
        known = self._entry(schema, name, kind)
        if known:
            return [(c.name, c.type, c.comment or "") for c in known.columns]
        from pyspark.errors import PySparkException

        try:
            qualified = ".".join(_quoted(part) for part in (schema, name) if part)
            frame = self._engine.spark.table(qualified)
        except PySparkException:  # its files are gone, or its view does not fit any more: the others are still listed
            return []
        fields = frame.schema.fields
        return [(f.name, f.dataType.simpleString(), (f.metadata or {}).get("comment", "")) for f in fields]

    def _functions(self, catalog: str | None, schema: str | None, function: str | None) -> Iterator[Row]:
        if not _is_ours(catalog):
            return
        for name in sorted({row[0] for row in self._sql("SHOW ALL FUNCTIONS")} | set(self._engine.table_functions)):
            *place, last = name.split(".")
            home = place[-1] if place else None
            if last.startswith(self._engine.hidden_prefix):
                continue
            if _matches(function, last) and (home is None or _matches(schema, home)):
                yield [CATALOG, home, last, "", 2 if last in self._engine.table_functions else 1, name]


def _column_row(schema: str | None, table: str, number: int, name: str, spelled: str, comment: str) -> Row:
    base = re.split(r"[(<]", spelled, maxsplit=1)[0].strip().lower()
    code, size, digits, radix = _JDBC.get(base, _OTHER)
    given = re.fullmatch(r"\w+\((\d+)(?:,\s*(\d+))?\)", spelled)
    if given:
        size = int(given[1])
        digits = int(given[2]) if given[2] else digits
    return [
        CATALOG, schema, table, name, code, _type_name(spelled), size, None, digits, radix, 1, comment, None, None,
        None, None, number, "YES", None, None, None, None, "NO",
    ]  # fmt: skip


def _type_name(spelled: str) -> str:
    """Return a type in upper case, and the names of fields in it as they are.

    Example:
        >>> _type_name("array<struct<aB:decimal(10,2),cD:map<string,int>>>")
        'ARRAY<STRUCT<aB:DECIMAL(10,2),cD:MAP<STRING,INT>>>'
    """
    return re.sub(r"[^<>,:]+(?=[<>,]|$)", lambda found: found[0].upper(), spelled)


def _is_ours(catalog: str | None) -> bool:
    return catalog is None or catalog == "" or _matches(catalog, CATALOG)


def _matches(pattern: str | None, name: str) -> bool:
    r"""Say whether a name matches a pattern of JDBC's; none at all, and an empty one, match all.

    Example:
        >>> [_matches(p, "a_b") for p in ("a%", "A\\_B", "a_", None, "_%_")]
        [True, True, False, True, True]
    """
    if not pattern or pattern == "*":  # Hive's clients say *, too
        return True
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    expression = "".join({"%": ".*", "_": "."}.get(p, re.escape(p[-1])) for p in parts)
    return re.fullmatch(expression, name, re.IGNORECASE | re.DOTALL) is not None


def _names(identifiers: Any, in_schema: bool = False) -> Iterator[str]:
    """Yield the names in a Scala list of ``TableIdentifier``; those in a schema alone, or temporary ones too."""
    found = (identifiers.apply(i) for i in range(identifiers.size()))
    return (its.table() for its in found if its.database().isDefined() or not in_schema)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def answer(statement: Any, engine: Engine) -> None:
    """Answer one question of the endpoint's: its kind is the statement's id, what was asked its text."""
    statement.done(json.dumps(Listing(engine).rows(statement.id(), json.loads(statement.text()))))
