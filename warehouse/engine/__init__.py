"""The only composer: split, parse, plan and execute, written out once.

Front doors (command line, projects, the endpoint) use what is named here and nothing behind it. Importing this package
starts nothing and loads no Spark.

==============  ============================================================================================
``engine``      one session of an open warehouse: text in, results out
``shared``      what all sessions share: the catalog, the streaming tables, how tables are laid out
``planner``     a statement to its plan: what planning is given of the session and of the folder
``actions``     a plan to its result: what each does, and how its failures are told
``answers``     what SHOW, DESCRIBE and EXPLAIN say, and the lines that statements leave
``claims``      one statement at a time changes what has a name
``listeners``   who is told of the steps of streaming tables
==============  ============================================================================================
"""

from warehouse.catalog.here import standing_in
from warehouse.engine.engine import Engine, Prepared
from warehouse.errors import Diagnostic, SourceText, WarehouseError
from warehouse.execution.archive import archiving
from warehouse.execution.doctor import Finding, examine
from warehouse.execution.portable import Json, unique_names, unpacked, unpacked_schema
from warehouse.execution.results import Progress, Result, TrainingProgress
from warehouse.language import statements
from warehouse.language.comments import comment_end, found_in
from warehouse.language.names import quote_name
from warehouse.language.parser import parse
from warehouse.language.split import split
from warehouse.language.table_layout import partner
from warehouse.language.words import words_of_ours
from warehouse.planning.replacing.standing import OF_PROJECT, Standing

__all__ = [
    "OF_PROJECT",
    "Diagnostic",
    "Engine",
    "Finding",
    "Json",
    "Prepared",
    "Progress",
    "Result",
    "SourceText",
    "Standing",
    "TrainingProgress",
    "WarehouseError",
    "archiving",
    "comment_end",
    "examine",
    "found_in",
    "parse",
    "partner",
    "quote_name",
    "split",
    "standing_in",
    "statements",
    "unique_names",
    "unpacked",
    "unpacked_schema",
    "words_of_ours",
]
