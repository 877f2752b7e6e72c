"""A SQL-first streaming warehouse on stock Spark: the map of the house.

The way of a statement, written out once in ``engine``::

    text -split-> SourceText -parse-> Statement -plan (bind, check, rewrite)-> Plan -act-> Result (Arrow batches)

One direction, one value in and one out per step, frozen dataclasses between. What planning has to know of Spark and of
the folder it asks a ``Context``, which is handed to it.

====================  ======================================================================  ==================
place                 is for                                                                  may import
====================  ======================================================================  ==================
``errors``            spans, source text, diagnostics in Spark's shape (``conditions.json``)   nothing
``language``          split, tokens, parser, typed statements; text in, statements out        errors
``catalog``           what exists: streams, streaming tables, models, in the warehouse        language
                      folder; the user's own definitions, in ``udfs/``
``dataflow``          the Dataflow Model as generated SQL text: windows, partial aggregates,   language
                      triggers, the step; no Spark, no I/O
``planning``          bind, checks, lowering to plan stages, explain; no Spark                catalog, dataflow
``execution``         the Spark session: jars, locks, start, files, plans of texts that are   catalog
                      kept, errors back to the user
``streaming``         sources, step log, state files, panes, the runner: steps in Spark;      planning, execution
                      views over them, which say what is there now
``storage``           distributed tables, statistics of partitions, what is pruned by them,     planning, execution
                      the columnar memory store
``adaptive``          plans that change while they run: a join's likely small side first,     execution
                      its larger side not sent, partners joined in place, no shuffle twice by
                      the same keys, nor two aggregations in one task; what EXPLAIN ANALYZE
                      measures
``ml``                MLlib's algorithms by reflection, training, models as SQL functions     planning, execution
``engine``            the only composer of the line above                                     all of the above
project, server, cli  front doors; they use ``engine`` alone: projects, the endpoint and the  engine
                      engine in the background, the command line and its prompt
====================  ======================================================================  ==================

``tests/test_layers.py`` holds this table to the code, and those in ``planning`` and in ``streaming``.

The hardest case, on one page
-----------------------------
A session table under ``AT WATERMARK EARLY … LATE …`` reads a micro-batch in which a late row bridges two
sessions that were emitted, and the process is killed while the panes are written.

1. ``streaming.steps.runner`` writes the step's intent (step number, clock, watermark before, source batch) to the
   step log *before* anything reads a row; a step found without its commit record runs again with that intent.
2. ``dataflow`` renders SQL for the step from the frozen ``WindowedQuery``: stateless part, window
   assignment, the batch's partial results (one pass, which also yields the highest timestamp, and so the
   watermark after the step), then touched state ∪ these, merged by interval union, triggers as columns. A step
   of more rows than there is state (``streaming.steps.windowed.manner``) merges its rows with all of it in one pass.
   Its texts name relations (``execution.relations``), the clock among them, and are the same in the next step: they are
   analysed once, and rows take their places in the plans that are kept.
   What recent steps wrote of the state is in memory too (``streaming.state.hot``), as a copy of the files; of a larger
   base the rows that a step hits are found by the hashes that are kept of it (``execution.frames.alike``).
   Where nothing is looked at before the watermark passes it, windows are *slices* until then (``dataflow.slices``): a
   step adds to them and reads none, and those that fire are rolled up (``streaming.steps.rolling``).
3. ``streaming.steps.outcome`` writes the one outcome as the state delta (a path that carries the step's number, so
   that a second run overwrites it), then the panes (one Delta commit; a second run looks whether the step's are
   there), then late and bad rows likewise, then the commit record. Work that can follow, such as putting the
   small files of many steps together (``streaming.delta.upkeep``), follows.
4. Merged sessions put one withdrawal per standing pane before the new pane; the table is read through a view
   over the panes that leaves out what a later change took back, so it never needs a write of its own.

A query that takes another one's place
--------------------------------------
``planning.replacing.replacement`` compares the two, in the words of its neighbor ``canonical``, and gives the verdict.
To continue, ``dataflow.carry`` renders SQL that makes the new state of the old one, ``streaming.tables.carrying``
writes it as the base of a step of a later *revision*, and the catalog's entry, which names that revision, is the one
write that counts.
"""

__version__ = "0.1.0"
