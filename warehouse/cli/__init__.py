"""The command line, ``warehouse-sql``: arguments in, results on standard output, exit code out.

``main`` parses the arguments and opens the engine; ``script`` runs texts statement by statement;
``formats`` turns Arrow batches into bytes; ``console`` owns standard error and ``output`` standard output.
Nothing here knows SQL or Spark: every statement goes through ``warehouse.engine``. README.md beside this
file is the reference page.
"""
