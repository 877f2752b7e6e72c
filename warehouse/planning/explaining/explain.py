"""EXPLAIN's own part: the four questions as understood, what bounds the state, and what to beware of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.dataflow import merging, partials, slices
from warehouse.dataflow.aggregates.forms import keeps_set
from warehouse.dataflow.outcome import outcome
from warehouse.dataflow.phases import is_ever_finished, waits_for_the_end
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import BEGINNING, Clock
from warehouse.dataflow.windows import Custom, Fixed, Global, Sessions, Sliding, Window, remembered
from warehouse.language.statements import Mode
from warehouse.planning import plans
from warehouse.planning.lengths import duration
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.streams.sources import SourceKind, StreamSource
from warehouse.planning.windows.firing import fires_lines, tree_lines, trigger_text, trigger_warnings


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


def when_text(query: WindowedQuery) -> str:
    """Return the whole TRIGGER clause of a block."""
    tree = trigger_text(query.trigger)
    return f"ONCE ({tree})" if query.once else tree


def state_text(query: WindowedQuery, sources: tuple[StreamSource, ...]) -> str:
    """Return what bounds the state of a windowed block: how many windows of a key are live after a step."""
    window = query.window
    if isinstance(window, Global):
        return "one window per key, kept until DRAIN: grows with the number of keys"
    if query.lateness is None:
        return "UNBOUNDED: under ALLOWED LATENESS UNBOUNDED windows are kept until DRAIN"
    if not all(s.has_watermark for s in sources):
        return "UNBOUNDED: without a watermark no window closes before DRAIN"
    longer = remembered(window)
    if longer is None:
        return "UNBOUNDED: no row's own window is known to be the longest, so windows that merge are kept until DRAIN"
    gap = f" and one gap of {duration(longer)}" if longer else ""
    dropped = f"a window is dropped when the watermark passes its end by {duration(query.lateness)}{gap}"
    if isinstance(window, Custom) or len(sources) != 1 or sources[0].watermark is None:
        return f"{dropped}; how many are live depends on how far the watermark is behind the newest row"
    delay = sources[0].watermark[1]
    return f"{dropped}: at most {live_windows(window, query.lateness + delay):,} live per key after a step"


def live_windows(window: Fixed | Sliding | Sessions, behind: int) -> int:
    """Return how many windows of a key can be live when none has a row newer than the watermark has seen.

    Args:
        window: of a known length.
        behind: allowed lateness and the watermark's delay together, microseconds.

    Example:
        >>> live_windows(Fixed(60), 0), live_windows(Fixed(60), 30), live_windows(Sliding(60, 20), 60)
        (1, 2, 6)
    """
    match window:
        case Fixed(size):
            length, every = size, size
        case Sliding(size, every):
            length = size
        case Sessions(gap):  # at least a gap long, known for another one, and the newest ends a gap after its row
            assert gap
            length, every = 2 * gap, gap
    return -(-(behind + length) // every)


def aggregates_text(query: WindowedQuery) -> str:
    """Return which aggregates keep partial results, which distinct values, and which the window's rows."""
    rows = {i for i, _ in query.parts.holistic}
    sets = {i for i, c in enumerate(query.calls) if i not in rows and keeps_set(c)}
    partial = set(range(len(query.calls))) - rows - sets
    texts = []
    for what, which in (("partial results", partial), ("distinct values", sets), ("the window's rows", rows)):
        named = dict.fromkeys(query.calls[i].function for i in sorted(which))
        texts += [f"{what} for {', '.join(named)}"] if named else []
    return "; ".join(texts) or "no aggregates"


def block_lines(query: WindowedQuery, sources: tuple[StreamSource, ...]) -> Iterator[str]:
    """Yield the lines that explain a windowed block."""
    yield "== Windowed aggregation =="
    yield f"what:   {aggregates_text(query)}; {len(query.keys)} group key{'s' if len(query.keys) != 1 else ''}"
    yield f"where:  {window_text(query.window)}"
    yield f"when:   {when_text(query)}"
    if query.trigger.parts:
        yield from _indented("tree:", tree_lines(query.trigger))
    yield from _indented("fires:", fires_lines(query, all(s.has_watermark for s in sources)))
    yield f"how:    {query.mode.name}"
    yield f"late:   {late_text(query)}"
    yield f"state:  {state_text(query, sources)}"
    yield from _indented("slices:", slices_lines(query))


def late_text(query: WindowedQuery) -> str:
    """Return from when on a row is late; a window that ends at the end of time lets none be."""
    if query.lateness is None or isinstance(query.window, Global):
        return "never"
    return f"after {duration(query.lateness)}"


def slices_lines(query: WindowedQuery) -> Iterator[str]:
    """Yield what the state of a window is until it fires, where that is not a row of its own."""
    if not query.slicing:
        return
    length = duration(query.slicing.slice)
    yield f"until it fires a window is its slices of {length}: a step adds one row per key and slice, and reads none"
    if slices.is_whole(query):
        return
    partials = zip(query.partial_columns, query.parts.partials, strict=True)
    merged = {name for name, partial in partials if not slices.is_invertible(partial)}
    ways: dict[str, dict[str, None]] = {}
    for call, final in zip(query.calls, query.parts.finals, strict=True):
        names = re.findall(r"\bp\d+\b", final or "")
        inverse = names and not merged.intersection(names)
        way = "adding what enters and subtracting what leaves" if inverse else "merging the slices inside"
        ways.setdefault(way, {})[call.function] = None
    yield "rolled up " + "; ".join(f"by {way}: {', '.join(functions)}" for way, functions in ways.items())


def batch_lines() -> Iterator[str]:
    """Yield what is different where the same text is not a streaming table."""
    yield "note:   a SELECT answers at once, over all rows that are there, each window complete; what is said of firing"
    yield "        and of state is what a streaming table of this text would do"


def _indented(label: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield lines beside a label."""
    for number, line in enumerate(lines):
        yield f"{'' if number else label:8}{line}"


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
    for name, _ in query.joined:
        yield f"beside: {name}, which has to stay as it is, since rows of the sources can be taken back"
    if query.windowed is None:
        yield "stateless: each row that arrives is one row of the table"
    else:
        yield from block_lines(query.windowed, query.sources)
        yield from (f"warning: {line}" for line in warnings(query))
    for assigned in query.assigned:
        yield from assignment_lines(assigned.window)


def warnings(query: StreamingQuery) -> Iterator[str]:
    """Yield what a user should beware of."""
    block = query.windowed
    if block is None:
        return
    if block.mode is Mode.ACCUMULATING and query.repeats:
        yield (
            "a window may be emitted more than once, and each pane repeats what the last one held: a reader that adds"
            " panes('t') up counts twice; t itself is right, and declared RETRACTING its changes can be aggregated"
        )
    if block.lateness == 0:
        yield "ALLOWED LATENESS is zero: every row behind the watermark goes to late_rows"
    yield from trigger_warnings(block.trigger, block.once)
    if isinstance(block.window, Global) and not query.bounded:
        also = ", and AT WATERMARK means DRAIN" if waits_for_the_end(block.trigger) else ""
        yield f"the GLOBAL window never closes: each key is kept until DRAIN{also}"


def losses(query: StreamingQuery) -> Iterator[str]:
    """Yield, of the warnings, those that tell of rows which the result will lack."""
    if query.windowed and query.windowed.once and is_ever_finished(query.windowed.trigger):
        yield next(trigger_warnings(query.windowed.trigger, True))


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
    yield "State", state_text(block, query.sources)


def step_texts(query: StreamingQuery) -> Iterator[str]:
    """Yield the SQL that one step runs, part by part; what it reads of its clock is the one row of ``__w_clocks``."""
    yield "-- rows of the step"
    yield query.input.text
    block = query.windowed
    if block is None:
        return
    clock = Clock(1, 0, BEGINNING, BEGINNING)
    yield "-- their windows, and partial results per key and window"
    yield partials.partials(block, f"({partials.assigned(block, '__w_input')})", clock.literals().before)
    yield "-- merged with the state, triggers decided: the new state and what is emitted"
    yield outcome(block, merging.merged(block, "__w_state", "__w_batch", clock), clock)


def act(plan: plans.Plan) -> str:
    """Return what a plan without a query does: a line, or a few."""
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
        case plans.MakeStream(statement=made):
            text, mark = made.source.text, made.watermark
            words = [f"make stream {made.name.span.of(text)}", f"source: {made.format}"]
            if mark:
                words.append(f"watermark: {mark.column.of(text)} delayed by {duration(mark.delay.micros)}")
            if made.idle_timeout:
                words.append(f"idle timeout: {duration(made.idle_timeout.micros)}")
            words.append(
                f"records that do not parse: {'stop the step' if made.on_error_fail else 'are kept in bad_rows'}"
            )
            return "\n".join(words)
        case plans.DropStreamPlan(statement=dropped):
            return f"drop stream {dropped.name.span.of(dropped.source.text)}; what it reads stays"
        case plans.Show(statement=shown):
            return f"list {shown.kind.lower()}s"
        case plans.Describe(statement=described):
            return f"tell about {described.kind.lower()} {described.name.span.of(described.source.text)}"
        case plans.Nothing(message=message):
            return message
        case plans.DropModel(entry=model):
            return f"drop model {model.qualified} with all its versions"
    return type(plan).__name__
