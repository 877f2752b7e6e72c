"""State carried over from one query to another one, as SQL text: the same windows, their columns made anew.

Where two queries have the same keys and windows, what the rows of a window came to under the one is, wholly or in
part, what they come to under the other: partial results are taken over by what they are and not by where they stand,
and what is new is computed from the rows that the state keeps, where it keeps any. A trigger that is another one
starts afresh over what is pending, in windows that the watermark has not passed; in the others, what it does at the
watermark is done.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from warehouse.dataflow.aggregates.sets import set_of
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.state_columns import content_types, out_type, standing_types, state_columns
from warehouse.dataflow.times import END
from warehouse.dataflow.triggers import Kind, Node
from warehouse.dataflow.windows import merges
from warehouse.language.statements import Mode


@dataclass(frozen=True)
class Carry:
    """How the columns of a state become those of another.

    Attributes:
        old, new: the queries; keys and windows are the same.
        partials: per partial result of the new one, which of the old ones it is; None: computed from the kept rows.
        fields: per argument column of the new input that the old kept rows hold, its name there.
        pending: per column of ``new.pending``, the old one that it is; None: nothing of the kind is known.
        outputs: per column of the new result, the position of the one that the standing panes have; None: they
            have none.
        same_trigger: what the trigger remembers is taken over.
        same_bounds: windows are closed when they were to be.
    """

    old: WindowedQuery
    new: WindowedQuery
    partials: tuple[int | None, ...]
    fields: tuple[tuple[str, str], ...]
    pending: tuple[str | None, ...]
    outputs: tuple[int | None, ...]
    same_trigger: bool
    same_bounds: bool

    @property
    def looks_again(self) -> bool:
        """Say whether every window must be looked at in the next step, whatever it waits for."""
        return not (self.same_trigger and self.same_bounds)

    @property
    def is_idle(self) -> bool:
        """Say whether the state is as it should be already."""
        same = tuple(range(len(self.old.parts.partials))), tuple(range(len(self.old.result)))
        values = self.new.mode is not Mode.RETRACTING or (
            self.outputs == same[1] and out_type(self.old) == out_type(self.new)
        )
        return (
            not self.looks_again
            and self.partials == same[0]
            and all(dict(self.fields).get(name, name) == name for name in self.new.parts.fields)
            and self.pending == self.old.pending_columns
            and state_columns(self.old) == state_columns(self.new)
            and content_types(self.old) == content_types(self.new)
            and self.old.mode is self.new.mode
            and self.old.slicing == self.new.slicing
            and values
        )


def passes(node: Node) -> bool:
    """Say whether a trigger is finished once the watermark has reached the window's end, whatever rows came."""
    match node.kind:
        case Kind.AT_WATERMARK | Kind.AT_PERCENTILE:
            return True
        case Kind.OR:
            return any(map(passes, node.parts))
        case Kind.AND | Kind.THEN:
            return all(map(passes, node.parts))
        case Kind.REPEAT:
            return len(node.parts) == 2 and passes(node.parts[1])
    return False


def first_part(root: Node) -> int:
    """Return the part at which a THEN stands in a window that the watermark has passed."""
    done = 0
    while done < len(root.parts) and passes(root.parts[done]):
        done += 1
    return done if done < len(root.parts) else 0


def carried(carry: Carry, live: str, now: int, watermark: int) -> str:
    """Return SQL for the state of the new query.

    Args:
        carry: how.
        live: relation of the live windows of the old state.
        now: processing time of the change, microseconds.
        watermark: where it stands.
    """
    new = carry.new
    passed = f"we <= {watermark}L"
    waiting = tuple(f"{was or p.none} AS {p.name}" for was, p in zip(carry.pending, new.pending, strict=True))
    remembered = tuple(
        k.name if carry.same_trigger else f"CAST({_start(new, k.name, k.first, passed)} AS {k.type}) AS {k.name}"
        for k in new.trigger_state
    )
    over: tuple[str, ...] = ()
    if new.once:
        over = ("over",) if carry.same_trigger else (f"{passed if passes(new.trigger) else 'false'} AS over",)
    again = (f"{END}L AS due_wm", f"{now + 1}L AS due_at")
    listed = columns(
        new.key_columns, "ws", "we", _contents(carry), waiting, remembered, "idx", over, _standing(carry),
        again if carry.looks_again else ("due_wm", "due_at"), "step", "dropped",
    )  # fmt: skip
    if None in carry.partials:
        live = _with_computed(carry, live)
    return f"SELECT {listed} FROM {live}"


def _start(query: WindowedQuery, name: str, first: str, passed: str) -> str:
    """Return SQL for what a trigger that starts afresh remembers."""
    if query.trigger.kind is Kind.THEN and name == f"t_{query.trigger.id}":
        return f"CASE WHEN {passed} THEN {first_part(query.trigger)} ELSE 0 END"
    return first


def _contents(carry: Carry) -> tuple[str, ...]:
    new = carry.new
    if new.splits:
        return new.content_columns
    kinds = content_types(new)
    return tuple(
        _kept_rows(carry, name) if name == new.parts.rows
        else f"CAST({f'{name}_new' if was is None else f'p{was}'} AS {kinds[name]}) AS {name}"
        for name, was in zip(new.partial_columns, carry.partials, strict=True)
    )  # fmt: skip


def _kept_rows(carry: Carry, name: str) -> str:
    """Return SQL that makes of the old kept rows those of the new query."""
    parts, known = carry.new.parts, dict(carry.fields)
    at = "__w_k.r" if carry.new.retracted else "__w_k"
    fields = ", ".join(f"'{f}', {at}.{known[f]}" if f in known else f"'{f}', {f}" for f in parts.fields)
    row = f"named_struct({fields})"
    if carry.new.retracted:
        row = f"named_struct('r', {row}, 'n', __w_k.n)"
    rows = f"transform({carry.old.parts.rows}, __w_k -> {row})"
    rows = set_of(rows, "row") if parts.is_set else rows
    return f"CAST({rows} AS {content_types(carry.new)[name]}) AS {name}"


def _with_computed(carry: Carry, live: str) -> str:
    """Return the relation of the live windows with ``p<n>_new``: partial results computed from the rows they kept."""
    old, new = carry.old, carry.new
    identity = (*old.key_columns, "ws", "we")
    wanted = [i for i, was in enumerate(carry.partials) if was is None and f"p{i}" != new.parts.rows]
    partials = {i: new.parts.partials[i].sql for i in wanted}
    used = {int(n) for sql in partials.values() for n in re.findall(r"\ba(\d+)\b", sql)}
    rows = f"SELECT {columns(identity)}, inline({old.parts.held}) FROM {live}"
    named = tuple(f"{was} AS {name}" for name, was in carry.fields)
    inputs = tuple(f"{new.parts.inputs[i]} AS a{i}" for i in sorted(used))
    computed = tuple(f"{sql} AS p{i}_new" for i, sql in partials.items())
    found = tuple(f"{name} AS __w_same{i}" for i, name in enumerate(identity))
    grouped = (
        f"SELECT {columns(found, computed)} FROM (SELECT *{''.join(', ' + i for i in inputs)} FROM"
        f" (SELECT {columns(identity, named)} FROM ({rows}))) GROUP BY {columns(identity)}"
    )
    same = " AND ".join(f"{name} <=> __w_same{i}" for i, name in enumerate(identity))
    return f"{live} LEFT JOIN ({grouped}) ON {same}"


def _standing(carry: Carry) -> tuple[str, ...]:
    """Return the select list of what the state remembers of the panes that stand."""
    kinds = standing_types(carry.new)
    if not kinds:
        return ()
    retracting = carry.new.mode is Mode.RETRACTING
    if merges(carry.new.window):
        parts = ("we", "ws", "idx", "timing", "step")
        fields = ", ".join(f"'{part}', __w_l.{part}" for part in parts)
        fields += f", 'out', {_values(carry, '__w_l.out')}" if retracting else ""
        return (f"CAST(transform(last, __w_l -> named_struct({fields})) AS {kinds['last']}) AS last",)
    values = (f"CAST({_values(carry, 'l_out')} AS {kinds['l_out']}) AS l_out",) if retracting else ()
    return ("l_idx", "l_timing", "l_step", *values)


def _values(carry: Carry, out: str) -> str:
    """Return SQL for the values of a standing pane, NULL in columns that it did not have."""
    fields = ", ".join(
        f"'o{i}', " + (f"CAST(NULL AS {o.type})" if was is None else f"{out}.o{was}")
        for i, (o, was) in enumerate(zip(carry.new.result, carry.outputs, strict=True))
    )
    return f"CASE WHEN {out} IS NOT NULL THEN named_struct({fields}) END"
