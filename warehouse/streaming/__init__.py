"""Streams and streaming tables in Spark, from what has arrived to the panes of a step and the views over them.

================================  ==========================================================  ======================
place                             is for                                                      may import
================================  ==========================================================  ======================
``faults``, ``layout``, ``log``   the points at which a test may end the process; the layout  nothing
                                  in which all sources give their rows; the step log
``delta``                         what steps append to, as Delta tables: panes, late and bad  log
                                  rows, their files kept few
``kafka``                         source and sink, over Spark's connector or over librdkafka  delta
``sources``                       streams: made, read as a frame or as SQL text, replayed     delta, kafka
``state``                         live windows as files: base, deltas and slices, and what    log
                                  is in memory of them
``steps``                         one step: rows, partial results, outcome, its commit        sources, state
``feeding``                       what has arrived made into steps, by hand or running on     steps
``tables``                        streaming tables made, changed and dropped                  feeding
``views``                         views and table functions over all of it, in batch queries  sources, state
================================  ==========================================================  ======================

``tests/test_layers.py`` holds this table to the code.
"""
