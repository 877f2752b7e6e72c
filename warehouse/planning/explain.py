"""EXPLAIN's own part: the four questions as understood, what bounds the state, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.dataflow import step
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import BEGINNING, Clock
from warehouse.dataflow.triggers import Kind, Node
from warehouse.dataflow.windows import Custom, Fixed, Global, Sessions, Sliding, Window, remembered
from warehouse.language.statements import Mode
from warehouse.planning import plans
from warehouse.planning.sources import SourceKind
from warehouse.planning.streaming_query import StreamingQuery
from warehouse.planning.streams import duration


def window_text(window: Window) -> str:
    """Return a window as a clause."""
    match window:
        case Fixed(size, offset, per_key):
            shift = ", OFFSET PER KEY" if per_key else f", OFFSET {duration(offset)}" if offset else ""
            return f"FIXED, SIZE {duration(size)}{shift}"
        case Sliding(size, every, offset):
            shift = f", OFFSET {duration(offset)}" if offset else ""
            return (
                f"SLIDING, SIZE {duration(size)}, EVERY {duration(every)}{shift}"
                f" (slices of {duration(window.slice)}, {window.windows_per_slice} windows per slice)"
            )
        case Sessions(gap):
            return f"SESSIONS, GAP {duration(gap) if gap else 'of the row'}"
        case Global():
            return "GLOBAL"
        case Custom(name):
            return name
    raise AssertionError(window)


def trigger_text(node: Node) -> str:
    """Return a trigger tree as a clause, EARLY and LATE spelled out."""
    parts = [trigger_text(p) for p in node.parts]
    match node.kind:
        case Kind.AT_WATERMARK:
            return "AT WATERMARK"
        case Kind.AT_PERCENTILE:
            return f"AT WATERMARK PERCENTILE {node.percent:g}"
        case Kind.EVERY_BYTES:
            return f"EVERY {node.amount} BYTES"
        case Kind.AFTER_BYTES:
            return f"AFTER {node.amount} BYTES"
        case Kind.CUSTOM:
            return node.written
        case Kind.WHEN_ROW | Kind.WHEN_AGGREGATE:
            return f"WHEN ({node.written})"
        case Kind.EVERY_ROWS:
            return f"EVERY {node.amount} ROWS"
        case Kind.AFTER_ROWS:
            return f"AFTER {node.amount} ROWS"
        case Kind.EVERY_TIME:
            return f"EVERY {duration(node.amount)}"
        case Kind.AFTER_TIME:
            return f"AFTER {duration(node.amount)}"
        case Kind.NEVER:
            return "NEVER"
        case Kind.REPEAT:
            return f"REPEAT {parts[0]}" + (f" UNTIL {parts[1]}" if len(parts) == 2 else "")
    return "(" + f" {node.kind.name} ".join(parts) + ")"


def when_text(query: WindowedQuery) -> str:
    """Return the whole TRIGGER clause of a block."""
    tree = trigger_text(query.trigger)
    return f"ONCE ({tree})" if query.once else tree


def state_text(query: WindowedQuery) -> str:
    """Return what bounds the state of a windowed block."""
    if isinstance(query.window, Global):
        return "one row per key, kept until DRAIN: grows with the number of keys"
    if query.lateness is None:
        return "ALLOWED LATENESS UNBOUNDED: windows are kept until DRAIN; grows with time"
    longer = remembered(query.window)
    if longer is None:
        what = "a GAP of the row" if isinstance(query.window, Sessions) else "windows that merge"
        return f"{what}: how far a row may reach is not known, so windows are kept until DRAIN; grows with time"
    gap = f" and one gap of {duration(longer)}" if longer else ""
    return f"a window is dropped when the watermark passes its end by {duration(query.lateness)}{gap}"


def aggregates_text(query: WindowedQuery) -> str:
    """Return which aggregates keep partial results, and which keep the window's rows."""
    kept = {i for i, _ in query.parts.kept}
    partial = [c.function for i, c in enumerate(query.calls) if i not in kept]
    rows = [query.calls[i].function for i in sorted(kept)]
    texts = []
    if partial:
        texts.append("partial results for " + ", ".join(dict.fromkeys(partial)))
    if rows:
        texts.append("the window's rows for " + ", ".join(dict.fromkeys(rows)))
    return "; ".join(texts) or "no aggregates"


def block_lines(query: WindowedQuery) -> Iterator[str]:
    """Yield the lines that explain a windowed block."""
    yield "== Windowed aggregation =="
    yield f"what:   {aggregates_text(query)}; {len(query.keys)} group key{'s' if len(query.keys) != 1 else ''}"
    yield f"where:  {window_text(query.window)}"
    yield f"when:   {when_text(query)}"
    yield f"how:    {query.mode.name}"
    yield f"late:   {'never' if query.lateness is None else 'after ' + duration(query.lateness)}"
    yield f"state:  {state_text(query)}"


def assignment_lines(window: Window) -> Iterator[str]:
    """Yield the lines that explain windows which rows are given and nothing is aggregated over."""
    yield "== Window assignment =="
    yield f"where:  {window_text(window)}"
    yield "what:   each row once per window that it falls into; nothing is aggregated, no state is kept"


def table_lines(query: StreamingQuery) -> Iterator[str]:
    """Yield the lines that explain a streaming table."""
    yield "== Streaming table =="
    for number, source in enumerate(query.sources):
        mark = "no watermark"
        if source.watermark:
            mark = f"watermark {source.watermark[0]} delayed by {duration(source.watermark[1])}"
        elif source.kind is SourceKind.CHANGES:
            mark = f"the watermark of {source.name}"
        yield f"source {number + 1}: {source.kind.name.lower()} {source.name}, {mark}"
    if query.windowed is None:
        yield "stateless: each row that arrives is one row of the table"
    else:
        yield from block_lines(query.windowed)
        yield from (f"warning: {line}" for line in warnings(query))
    for assigned in query.assigned:
        yield from assignment_lines(assigned.window)


def warnings(query: StreamingQuery) -> Iterator[str]:
    """Yield what a user should beware of."""
    block = query.windowed
    if block is None:
        return
    if block.mode is Mode.ACCUMULATING and block.trigger.kinds() != {Kind.AT_WATERMARK}:
        yield "panes repeat what earlier panes held: a reader that adds them up counts twice"
    if block.lateness == 0:
        yield "ALLOWED LATENESS is zero: every row behind the watermark goes to late_rows"
    if block.once:
        yield "TRIGGER ONCE may lose rows: those that come to a window whose trigger has finished go to late_rows"


def facts(query: StreamingQuery) -> Iterator[tuple[str, str]]:
    """Yield what DESCRIBE EXTENDED tells of a streaming table's query."""
    for source in query.sources:
        if source.watermark:
            yield f"Watermark of {source.name}", f"{source.watermark[0]} delayed by {duration(source.watermark[1])}"
    block = query.windowed
    if block is None:
        given = " and ".join(window_text(a.window) for a in query.assigned)
        yield "Window", f"{given}, assigned only (stateless)" if given else "none (stateless)"
        return
    yield "Keys", str(len(block.keys))
    yield "Window", window_text(block.window)
    yield "Trigger", when_text(block)
    yield "Allowed lateness", "unbounded" if block.lateness is None else duration(block.lateness)
    yield "State", state_text(block)


def step_texts(query: StreamingQuery) -> Iterator[str]:
    """Yield the SQL that one step runs, part by part, with the clock's values of a first step."""
    yield "-- rows of the step"
    yield query.input.text
    block = query.windowed
    if block is None:
        return
    clock = Clock(1, 0, BEGINNING, BEGINNING)
    yield "-- their windows, and partial results per key and window"
    yield step.partials(block, f"({step.assigned(block, '__w_input')})", clock.before)
    yield "-- merged with the state, triggers decided: the new state and what is emitted"
    yield step.outcome(block, step.merged(block, "__w_state", "__w_batch", clock), clock)


def act(plan: plans.Plan) -> str:
    """Return one line for a plan without a query."""
    match plan:
        case plans.Refresh(entry=entry, full=full, drain=drain):
            how = "read what is there, then close every window of" if drain else "read what has arrived for"
            return f"{how} {entry.qualified}" + (", from nothing" if full else "")
        case plans.Start(entry=entry):
            return f"run {entry.qualified} in the background of this process"
        case plans.Stop(entry=entry):
            return f"stop {entry.qualified}"
        case plans.DropStreamingTable(entry=entry):
            return f"drop {entry.qualified} with its panes and state"
        case plans.Nothing(message=message):
            return message
    return type(plan).__name__
