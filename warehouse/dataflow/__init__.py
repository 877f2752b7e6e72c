"""The Dataflow Model as generated SQL: windows, partial aggregates, triggers, the step. Text in, text out.

A step takes the batch's rows and the state that they touch, and gives one row per touched window: SQL over named
relations, whose names come from whoever runs it. Its stages are those of the Dataflow Model's GroupByKeyAndWindow
(section 2.2.2), a module each: windows are assigned and rows become partial results (``partials``), these are merged
with the state (``merging``), then triggers fire (``outcome``). ``lateness`` tells the rows that come too late,
``batch`` runs the same over all rows at once. The only times that texts see are those of the ``Clock``.

Relations by column:

- *input*: ``__w_k…``, ``__w_time`` TIMESTAMP, argument columns, ``__w_arrival`` BIGINT, ``__w_row``, whose ``number``
  tells rows of a source apart where one of them may come several times.
- *rows*: the input with ``ts`` and ``ws``, ``we``.
- *batch*: keys, ``ws``, ``we``, partials ``p…``, and what is pending: ``pn`` (rows), ``pf`` (first arrival), ….
- *state*: batch's columns and what the trigger remembers, ``idx``, under ONCE ``over``, standing panes, ``due_wm``,
  ``due_at``, ``step``, ``dropped``.
- *outcome*: the new state and, beside it, what the step emits; ``momentary`` windows, which opened and closed
  within the step, are emitted from and are no state.
"""
