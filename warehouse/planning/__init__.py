"""Statements to plans: bind, check, rewrite, explain. Asks the analyzer and the catalog, runs nothing.

===========================  ================================================================  ======================
place                        is for                                                            may import
===========================  ================================================================  ======================
``algorithms``, ``context``  what planning may ask of the world, among it the algorithms of    nothing
                             GENERATE
``lengths``                  lengths of time: as written, in microseconds, in words            nothing
``words``                    the words of a query, looked into token by token                  nothing
``distribution``             distributed tables: what CREATE TABLE and INSERT write            context
``streams``                  CREATE STREAM, and what a ``STREAM name`` stands for              context
``models``                   GENERATE bound, and models asked by SQL functions                 context
``windows``                  window and trigger clauses as computed; triggers in words         context
``blocks``                   one block with clauses of ours: judged by Spark, taken apart      windows
``queries``                  whole queries: written out, rendered for who reads them, bound    blocks, streams, models
                             where they are those of streaming tables
``replacing``                what there is under a name; what becomes of a streaming table     queries, distribution
                             whose query is replaced
``plans``                    what a statement comes to, one dataclass per kind of act          replacing
``explaining``               what EXPLAIN says of our own                                      plans
``lowering``                 a statement to its plan: the composer of these                    explaining
===========================  ================================================================  ======================

``tests/test_layers.py`` holds this table to the code.
"""
