"""A SQL-first streaming warehouse on stock Spark: the map of the house.

The way of a statement, written out once in ``engine.py``::

    text -split-> SourceText -parse-> Statement -bind-> Bound -check-> (diagnostics)
         -lower-> Plan (a flat list of stages) -execute-> Result (Arrow batches)

One direction, one value in and one out per step, frozen dataclasses between, no step calls back.

==================  ======================================================================  ==================
place               is for                                                                  may import
==================  ======================================================================  ==================
``errors``          spans, source text, diagnostics in Spark's shape (``conditions.json``)   nothing
``language``        split, tokens, parser, typed statements; text in, statements out        errors
``catalog``         what exists: streams, streaming tables, in the warehouse folder;        language
                    the user's own windows and triggers, in ``udfs/``
``dataflow``        the Dataflow Model as generated SQL text: windows, partial aggregates,   language
                    triggers, the step; no Spark, no I/O
``planning``        bind, checks, lowering to plan stages, explain; no Spark                catalog, dataflow
``execution``       the Spark session: jars, locks, start, errors back to the user's text   catalog
``streaming``       sources, step log, state files, panes, the runner: steps in Spark       planning, execution
``engine``          the only composer of the line above                                     all of the above
``project, cli``    front doors; they use ``engine`` alone                                  engine
==================  ======================================================================  ==================

``tests/test_layers.py`` holds this table to the code.

The hardest case, on one page
-----------------------------
A session table under ``AT WATERMARK EARLY … LATE …`` reads a micro-batch in which a late row bridges two
sessions that were emitted, and the process is killed while the panes are written.

1. ``streaming.runner`` writes the step's intent (step number, clock, watermark before, source batch) to the
   step log *before* anything reads a row; a step found without its commit record runs again with that intent.
2. ``dataflow.step`` renders SQL for the step from the frozen ``WindowedQuery``: stateless part, window
   assignment, the batch's partials ``b`` (one pass, which also yields the highest timestamp, and so the
   watermark after the step), then touched state ∪ ``b``, merged by interval union, triggers as columns.
3. The one result ``o`` becomes the state delta (a path that carries the step's number, so that a second run
   overwrites it), then the panes (one Delta commit; a second run looks whether the step's are there), then
   late and bad rows likewise, then the commit record.
4. Merged sessions put one withdrawal per standing pane before the new pane; ``t`` is a view over the panes
   that leaves out what a later change took back, so it never needs a write of its own.

A query that takes another one's place
--------------------------------------
``planning.replacement`` compares the two, in the words of ``planning.canonical``, and gives the verdict. To
continue, ``dataflow.carry`` renders SQL that makes the new state of the old one, ``streaming.carrying`` writes it as
the base of a step of a later *revision*, and the catalog's entry, which names that revision, is the one write that
counts.
"""

__version__ = "0.1.0"
