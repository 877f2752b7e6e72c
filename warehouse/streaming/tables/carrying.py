"""A streaming table's state rewritten for another query.

The files that are there stay as they are; the new ones have names of their own.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from warehouse.dataflow import carry as texts
from warehouse.dataflow.carry import Carry
from warehouse.dataflow.times import BEGINNING
from warehouse.streaming.log import Commit, StepLog
from warehouse.streaming.state.state import State


def carried(session: SparkSession, state: State, log: StepLog, carry: Carry, last: Commit) -> None:
    """Write the state as the new query has it, and the commit record of a step in which nothing else happens.

    Args:
        session: the steps'.
        state: the old query's.
        log: the new query's, of a later revision than the old one's.
        carry: how.
        last: the newest commit record of the old query.
    """
    record = last.idle(
        step=last.step + 1, before=last.after, base=None, deltas=(), base_rows=0, delta_rows=0, slices={}, slice_rows=0,
        unfired=BEGINNING,
    )  # fmt: skip
    live = state.live(session, last)
    if live is not None:
        view = f"__w_carried_{state.folder.parent.name.replace('-', '_')}"
        live.createOrReplaceTempView(view)
        made = session.sql(texts.carried(carry, view, last.now, last.after))
        about = last.base_rows + last.delta_rows + last.slice_rows
        record = State(state.folder, carry.new).with_base(record, made, about)
    if carry.looks_again and record.base:
        record = replace(record, due_clock=last.now + 1)
    log.commit(state.listed(record, last))
