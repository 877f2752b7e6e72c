"""CREATE OR REPLACE of a streaming table that exists: what becomes of its state and panes, before anything is done.

Three verdicts. *Continue*: the state and the panes stay, what they lack is computed from what was kept; each row
counts as if the new query had been there from the start, and panes emitted before the change stay as they were.
*Rebuild from source*: what would be needed was not kept, so a table is made beside the old one and takes its place.
*Refused*: someone else reads the table, and would lose what he reads.

Whatever is not known to be sound is a rebuild: two texts that may mean the same but are not equal after
``canonical`` differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from warehouse.catalog.entries import Column, StreamEntry, StreamingTableEntry, needs_mapping
from warehouse.dataflow.aggregates.calls import Call
from warehouse.dataflow.aggregates.forms import BLIND_TO_DUPLICATES
from warehouse.dataflow.carry import Carry
from warehouse.dataflow.slots import slots_type
from warehouse.language.statements import Mode
from warehouse.planning.distribution import read
from warehouse.planning.lengths import duration
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.replacing.canonical import Canonical, canonical, rows_of
from warehouse.planning.replacing.continued import reordered
from warehouse.planning.streams.sources import SourceKind, StreamSource
from warehouse.planning.streams.streams import SPARK_CATALOG
from warehouse.planning.windows.firing import trigger_text


class Outcome(Enum):
    """What a replacement comes to."""

    CONTINUE = "continue"
    REBUILD = "rebuild from source"
    REFUSED = "refused"


@dataclass(frozen=True)
class Version:
    """A streaming table's entry with its query as ``continued.as_kept`` gives it."""

    entry: StreamingTableEntry
    query: StreamingQuery


@dataclass(frozen=True)
class Verdict:
    """What becomes of the table, and why.

    Attributes:
        changes: what differs, a line each; of a rebuild, what could not be continued comes first.
        reread: per source of a rebuild, what is read again.
        entry: of a table that continues, the entry that takes the old one's place but for what only the moment of the
            change tells (``revision``, ``closed``).
        query: its query, keys in the order of the state.
        carry: how its state is made; None for a table without state.
    """

    outcome: Outcome
    changes: tuple[str, ...] = ()
    reread: tuple[str, ...] = ()
    entry: StreamingTableEntry | None = None
    query: StreamingQuery | None = None
    carry: Carry | None = None

    def lines(self) -> Iterator[str]:
        """Yield the verdict as EXPLAIN prints it."""
        yield "== Verdict =="
        match self.outcome:
            case Outcome.CONTINUE:
                yield "continue: the state and the panes stay" + ("" if self.changes else "; nothing changes")
            case Outcome.REBUILD:
                yield "rebuild from source: a new table is filled and then takes the old one's place"
            case Outcome.REFUSED:
                yield "refused: the table stays as it is"
        yield from (f"  {change}" for change in self.changes)
        yield from (f"  reads again: {source}" for source in self.reread)


def judge(old: Version, new: Version) -> Verdict:
    """Return what becomes of the table ``old`` when ``new`` takes its place, as far as it is alone."""
    if (old.query.windowed is None) != (new.query.windowed is None):
        kind = "has no windows" if new.query.windowed is None else "has windows"
        return _rebuild(new.query, [f"the new query {kind}, and the old one {'has' if 'no' in kind else 'has none'}"])
    if old.entry.definitions != old.query.definitions:
        return _rebuild(
            new.query, ["a window or a trigger of your own, with which it was made, is defined differently"]
        )
    if old.entry.current.lower() != new.entry.current.lower():
        where = f"in schema {new.entry.current}, and were in {old.entry.current}"
        return _rebuild(new.query, [f"names that say no schema are looked up {where}"])
    if reasons := list(_other_sources(old.query, new.query, new.entry.current)):
        return _rebuild(new.query, reasons)
    if reasons := list(_other_columns(old, new)):
        return _rebuild(new.query, reasons)
    if new.query.windowed is None:
        return _judge_stateless(old, new)
    return _judge_windowed(old, new)


def rebuild(query: StreamingQuery, reason: str) -> Verdict:
    """Return the verdict that a table is built anew."""
    return _rebuild(query, [reason])


def _rebuild(query: StreamingQuery, reasons: list[str], changes: list[str] | None = None) -> Verdict:
    return Verdict(
        Outcome.REBUILD, (*reasons, *(changes or ())), tuple(dict.fromkeys(_read_again(s) for s in query.sources))
    )


def _read_again(source: StreamSource) -> str:
    """Return what a table that starts anew reads of a source."""
    entry = source.entry
    match source.kind:
        case SourceKind.CHANGES | SourceKind.PANES:
            what = "panes" if source.kind is SourceKind.PANES else "changes"
            return f"the {what} of {source.name} from its first step on"
        case SourceKind.DELTA:
            return f"table {source.name}, the rows that it holds now"
    assert isinstance(entry, StreamEntry)
    path = entry.option("path")
    if entry.format == "replay":
        return f"stream {source.name}, the recording {path} from its beginning"
    if entry.format == "delta" and (begin := entry.option("startingVersion") or entry.option("startingTimestamp")):
        return f"stream {source.name}, the Delta table {path} from its starting point ({begin}) on"
    if path is not None:
        return f"stream {source.name}, the {entry.format} files that are in {path} now; files removed since are missed"
    if entry.format == "kafka":
        return f"stream {source.name}, Kafka from its startingOffsets ({entry.option('startingOffsets')}) on"
    return f"stream {source.name} ({entry.format}): it cannot be read again, the table starts with what comes"


# ------------------------------------------------------------------ what has to be the same


def _other_sources(old: StreamingQuery, new: StreamingQuery, schema: str) -> Iterator[str]:
    """Yield what is different about where rows come from, as far as it cannot be continued.

    Names without a schema are looked up in ``schema``.
    """
    names = [[(_whole_name(s, schema), s.kind) for s in query.sources] for query in (old, new)]
    if names[0] != names[1]:
        listed = [", ".join(s.name for s in query.sources) for query in (old, new)]
        yield f"it reads {listed[1]}, and read {listed[0]}: rows of the one say nothing of the other's"
        return
    for was, now in zip(old.sources, new.sources, strict=True):
        if was.has_watermark != now.has_watermark:
            yield f"{now.name} has {'a' if now.has_watermark else 'no'} watermark now: it moves, or stops, for good"
        if was.retracts != now.retracts:
            yield f"rows of {now.name} can {'now' if now.retracts else 'no longer'} be taken back"


def _whole_name(source: StreamSource, schema: str) -> tuple[str, ...]:
    """Return what a source is called, lower case; a table with its catalog and schema, written or not."""
    if source.kind is not SourceKind.DELTA:
        return (source.name.lower(),)
    parts = source.reference.name.parts
    whole = (SPARK_CATALOG, schema)[: 3 - len(parts)] + parts
    return tuple(part.lower() for part in whole)


def _other_columns(old: Version, new: Version) -> Iterator[str]:
    """Yield which columns the stored panes cannot have as the new query has them."""
    stored = {c.name.lower(): c for c in (*old.entry.former, *old.query.columns)}
    any_name = any(needs_mapping(c.name) for c in stored.values())
    for column in new.query.columns:
        was = stored.get(column.name.lower())
        if was is not None and was.type != column.type:
            yield f"column {column.name} is of type {column.type}, and {was.type} in the panes emitted so far"
        elif was is None and needs_mapping(column.name) and not any_name:
            yield f"column {column.name}: the stored panes take no such name"
        elif was is None and column.name.startswith("_"):
            yield f"column {column.name}: the stored panes may have one of their own that is called so"


# ------------------------------------------------------------------ without windows


def _judge_stateless(old: Version, new: Version) -> Verdict:
    texts = [rows_of(version.query) for version in (old, new)]
    reasons = []
    if texts[0][0] != texts[1][0]:
        reasons.append("other rows, or from elsewhere: what stands of the old query would have to be other rows, too")
    changes = list(_column_changes(old.query.columns, new.query.columns, "rows"))
    for name in texts[1][1]:
        if name not in texts[0][1]:
            reasons.append(f"column {name} is new: the rows that stand do not have it")
        elif texts[0][1][name] != texts[1][1][name]:
            reasons.append(f"column {name} is computed differently: the rows that stand hold it as it was")
    if [a.window for a in old.query.assigned] != [a.window for a in new.query.assigned]:
        reasons.append("the rows are given other windows")
    if old.query.definitions != new.query.definitions:
        reasons.append("a window of your own is defined differently")
    if reasons:
        return _rebuild(new.query, reasons)
    return _continued(old, new, [*_watermark_changes(old.query, new.query), *changes], None, ())


# ------------------------------------------------------------------ with windows


def _judge_windowed(old: Version, new: Version) -> Verdict:
    was, now = Canonical(old.query), Canonical(new.query)
    reasons = list(_other_windows(was, now))
    order: tuple[int, ...] = ()
    if not reasons and was.keys != now.keys:
        order = tuple(now.keys.index(key) for key in was.keys)
        now = Canonical(reordered(new.query, order))
    modes = was.block.mode, now.block.mode
    if modes[0] is not modes[1] and modes != (Mode.RETRACTING, Mode.ACCUMULATING):
        reasons.append(_other_mode(*modes))
    partials, fields = _found_partials(was, now)
    missing = [i for i, place in enumerate(partials) if place is None]
    reasons += list(_moved_keys(new.entry, was, now))
    if missing and not _can_compute(was, now, missing, fields):
        reasons += list(_not_kept(was, now, fields))
    elif was.block.splits and not _same_slots(was, now, partials, fields):
        reasons.append("sessions that can fall apart keep partial results per instant, which cannot be made others")
    changes = list(_changes(old, new, was, now))
    if order:
        changes.append("the keys of GROUP BY in another order")
    if reasons:
        return _rebuild(new.query, reasons, [change.rpartition(": ")[0] or change for change in changes])
    places = {o.name.lower(): i for i, o in enumerate(was.block.result)}
    carry = Carry(
        was.block, now.block, tuple(partials), tuple(fields.items()),
        tuple(_pending_as_it_was(was, now)),
        tuple(places.get(o.name.lower()) for o in now.block.result),
        was.trigger == now.trigger, was.block.lateness == now.block.lateness,
    )  # fmt: skip
    return _continued(old, replace(new, query=now.query), changes, carry, order)


def _continued(old: Version, new: Version, changes: list[str], carry: Carry | None, order: tuple[int, ...]) -> Verdict:
    if old.entry.comment != new.entry.comment:
        changes.append("COMMENT")
    if old.entry.properties != new.entry.properties:
        changes.append("TBLPROPERTIES")
    if old.entry.distribution != new.entry.distribution:
        spread = read(new.entry.distribution)
        changes.append(
            f"the panes are distributed {spread}: those emitted so far are written anew, once"
            if spread else "the panes are no longer distributed"
        )  # fmt: skip
    names = {c.name.lower() for c in new.query.columns}
    former = {c.name.lower(): c for c in (*old.entry.former, *old.query.columns)}
    entry = replace(
        new.entry, id=old.entry.id, created_at=old.entry.created_at, revision=old.entry.revision,
        repeats=new.entry.repeats or old.entry.repeats, closed=old.entry.closed,
        key_order=() if order == tuple(sorted(order)) else tuple(map(str, order)),
        former=tuple(c for name, c in former.items() if name not in names),
    )  # fmt: skip
    return Verdict(Outcome.CONTINUE, tuple(changes), (), entry, new.query, carry)


def _other_windows(was: Canonical, now: Canonical) -> Iterator[str]:
    """Yield what is different about which rows fall into which windows."""
    if was.origin[0] != now.origin[0]:
        yield "FROM or WHERE: other rows count, and those that came were not kept one by one"
    if was.block.window != now.block.window or was.origin[1:] != now.origin[1:]:
        yield "WINDOW: what the rows came to is kept per window of the old kind"
    if sorted(was.keys) != sorted(now.keys):
        yield "GROUP BY: what the rows came to is kept per key of the old kind"
    if was.block.first_only != now.block.first_only:
        yield "SELECT DISTINCT emits a row once, and the other query may again"
    if was.block.retracted != now.block.retracted:
        yield "rows of the input can be taken back under one of the queries, and not under the other"
    if was.block.definitions != now.block.definitions and was.trigger == now.trigger:
        yield "a window or a trigger of your own is defined differently"


def _moved_keys(entry: StreamingTableEntry, was: Canonical, now: Canonical) -> Iterator[str]:
    """Yield why panes emitted so far would not meet what takes them back, where both are distributed by their keys."""
    distribution = read(entry.distribution)
    for key in distribution.keys if distribution and not entry.appends_only else ():
        if was.outputs.get(key.lower()) != now.outputs.get(key.lower()):
            yield f"DISTRIBUTE BY {key}: it is computed differently, or new; panes emitted so far would not have moved"


def _other_mode(was: Mode, now: Mode) -> str:
    """Return why a table cannot go from one mode to another."""
    if was is Mode.DISCARDING:
        return f"{was.name} to {now.name}: what was emitted is no longer in the state"
    if now is Mode.DISCARDING:
        return f"{was.name} to {now.name}: what waits cannot be told from what was emitted already"
    return f"{was.name} to {now.name}: the values that a withdrawal repeats are not in the state"


# ------------------------------------------------------------------ aggregates


def _found_partials(was: Canonical, now: Canonical) -> tuple[list[int | None], dict[str, str]]:
    """Return where each new partial result stands in the old state, and which argument columns the kept rows hold."""
    held = {was.of_row(f): f for f in was.block.parts.held_fields}
    wanted = [name for name in now.columns if name.startswith("x")]
    fields = {name: held[now.of_row(name)] for name in wanted if now.of_row(name) in held}
    places: list[int | None] = []
    for i, partial in enumerate(now.partials):
        if f"p{i}" == now.block.parts.rows:
            places.append(_place_of_rows(was, now, fields))
        else:
            places.append(was.partials.index(partial) if partial in was.partials else None)
    return places, fields


def _place_of_rows(was: Canonical, now: Canonical, fields: dict[str, str]) -> int | None:
    """Return where the rows that the new aggregates need are kept, or None."""
    before, after = was.block.parts, now.block.parts
    if before.rows is None or (before.is_set and not after.is_set):
        return None
    if not all(f in fields or not f.startswith("x") for f in after.fields):
        return None
    return int(before.rows[1:])


def _can_compute(was: Canonical, now: Canonical, missing: list[int], fields: dict[str, str]) -> bool:
    """Say whether the partial results that the old state lacks follow from the rows that it keeps."""
    if not _holds_rows(was) or any(f"p{i}" == now.block.parts.rows for i in missing):
        return False
    return all(_follows(was, call, fields) for call in _new_calls(was, now))


def _holds_rows(was: Canonical) -> bool:
    """Say whether the old state keeps rows, or different values, of whole windows."""
    return was.block.parts.held is not None and not was.block.retracted and not was.block.splits


def _new_calls(was: Canonical, now: Canonical) -> list[Call]:
    known = {was.call(call) for call in was.block.calls}
    return [call for call in now.block.calls if now.call(call) not in known]


def _follows(was: Canonical, call: Call, fields: dict[str, str]) -> bool:
    """Say whether a new aggregate follows from the rows, or the different values, that the old state keeps."""
    parts = was.block.parts
    if not _holds_rows(was):
        return False
    if parts.holds_sets and call.function not in BLIND_TO_DUPLICATES:
        return False
    if parts.rows is None and len(_arguments(call)) > 1:
        return False
    return _arguments(call) <= fields.keys()


def _arguments(call: Call) -> set[str]:
    named = {a.sql for a in (*call.arguments, *call.ordering) if not a.constant}
    return named | ({call.filter} if call.filter else set())


def _same_slots(was: Canonical, now: Canonical, partials: list[int | None], fields: dict[str, str]) -> bool:
    """Say whether partial results have the same places and types under both queries."""
    same_rows = all(fields.get(name, name) == name for name in now.block.parts.fields)
    return same_rows and partials == list(range(len(was.partials))) and slots_type(was.block) == slots_type(now.block)


def _not_kept(was: Canonical, now: Canonical, fields: dict[str, str]) -> Iterator[str]:
    """Yield the aggregates that cannot start from what was kept."""
    new = _new_calls(was, now)
    lacking = [call for call in new if not _follows(was, call, fields)] or new
    shown = dict.fromkeys(_shown(now, call) for call in lacking)
    yield f"{', '.join(shown) or 'an aggregate'}: the rows that it needs were not kept"


def _shown(query: Canonical, call: Call) -> str:
    written = dict(query.query.named)
    listed = ", ".join(written.get(a.sql, a.sql).strip() for a in call.arguments) or "*"
    return f"{call.function}({'DISTINCT ' if call.distinct else ''}{listed})"


def _pending_as_it_was(was: Canonical, now: Canonical) -> Iterator[str | None]:
    """Yield, per column of what is pending under the new query, the old one that it is."""
    columns = list(zip(was.pending, was.block.pending_columns, strict=True))
    known = dict(reversed(columns))  # of several that are the same, the first
    for first in now.pending:
        yield known.get(first)


# ------------------------------------------------------------------ what a table that continues must tell


def _changes(old: Version, new: Version, was: Canonical, now: Canonical) -> Iterator[str]:
    """Yield what differs, a line each, with what comes of it."""
    yield from _watermark_changes(old.query, new.query)
    if was.trigger != now.trigger:
        yield (
            f"TRIGGER {_trigger(was)} becomes {_trigger(now)}: it starts afresh in each window, where what waits counts"
            " already; a window that the watermark has passed has fired"
        )
    if was.block.mode is not now.block.mode:
        yield f"{was.block.mode.name} becomes {now.block.mode.name}"
    if was.block.lateness != now.block.lateness:
        longer = now.block.lateness is None or (
            was.block.lateness is not None and now.block.lateness > was.block.lateness
        )
        how = "windows that are closed stay closed" if longer else "windows that are older than that close now"
        yield f"ALLOWED LATENESS {_length(was.block.lateness)} becomes {_length(now.block.lateness)}: {how}"
    yield from _column_changes(old.query.columns, new.query.columns, "panes")
    for name, text in now.outputs.items():
        if name in was.outputs and was.outputs[name] != text:
            yield f"column {name} is computed differently: panes emitted so far keep what they hold"
    if was.hiding != now.hiding:
        yield "HAVING, or a WHERE around, is another: panes emitted so far stand until their window's next one"
    known = {was.call(c) for c in was.block.calls}
    wanted = {now.call(c) for c in now.block.calls}
    added = [_shown(now, c) for c in now.block.calls if now.call(c) not in known]
    gone = [_shown(was, c) for c in was.block.calls if was.call(c) not in wanted]
    if added:
        yield f"{', '.join(added)} {_is_or_are(added)} added: from what is kept already"
    if gone:
        yield f"{', '.join(gone)} {'goes' if len(gone) == 1 else 'go'} away: kept no longer"


def _is_or_are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _trigger(query: Canonical) -> str:
    text = trigger_text(query.block.trigger)
    return f"ONCE ({text})" if query.block.once else text


def _length(lateness: int | None) -> str:
    return "UNBOUNDED" if lateness is None else duration(lateness)


def _watermark_changes(old: StreamingQuery, new: StreamingQuery) -> Iterator[str]:
    for was, now in zip(old.sources, new.sources, strict=True):
        if was.watermark and now.watermark:
            texts = [(canonical(mark[0]), mark[1]) for mark in (was.watermark, now.watermark)]
            if texts[0] != texts[1]:
                yield (
                    f"WATERMARK {was.watermark[0]} delayed by {duration(was.watermark[1])} becomes {now.watermark[0]}"
                    f" delayed by {duration(now.watermark[1])}: it never goes back"
                )
        elif was.watermark != now.watermark:
            yield f"another WATERMARK of {now.name}: it never goes back"


def _column_changes(old: tuple[Column, ...], new: tuple[Column, ...], what: str) -> Iterator[str]:
    names = [[c.name.lower() for c in columns] for columns in (old, new)]
    for column in new:
        if column.name.lower() not in names[0]:
            yield f"column {column.name} is added: NULL in {what} emitted so far"
    for column in old:
        if column.name.lower() not in names[1]:
            yield f"column {column.name} goes away"
    kept = [[name for name in listed if name in names[1 - i]] for i, listed in enumerate(names)]
    if kept[0] != kept[1]:
        yield "the columns in another order"


# ------------------------------------------------------------------ readers


def with_readers(verdict: Verdict, hurt: tuple[tuple[str, str], ...], readers: tuple[str, ...]) -> Verdict:
    """Return the verdict on a table that others read.

    Args:
        verdict: on the table alone.
        hurt: the readers that could not go on, each with the reason.
        readers: all of them.
    """
    if verdict.outcome is Outcome.REBUILD and readers:
        why = f"it would be built anew, and its changes are read by {', '.join(readers)}"
        return replace(verdict, outcome=Outcome.REFUSED, changes=(why, *verdict.changes), reread=())
    if verdict.outcome is Outcome.CONTINUE and hurt:
        harmed = tuple(f"{reader} reads it, and could not go on: {reason}" for reader, reason in hurt)
        return Verdict(Outcome.REFUSED, (*harmed, *verdict.changes))
    return verdict


def harm(before: StreamingQuery, after: StreamingQuery, reader: StreamingTableEntry) -> str | None:
    """Return why a reader could not go on over the table as it would be, or None.

    Args:
        before: its query over the table as it is.
        after: the same text over the table as it would be.
        reader: it.
    """
    if after.repeats and not reader.repeats:
        return "what it reads could be emitted more than once, and it was made for what is not"
    verdict = judge(Version(reader, before), Version(reader, after))
    if verdict.outcome is Outcome.CONTINUE and not verdict.changes:
        return None
    return verdict.changes[0]
