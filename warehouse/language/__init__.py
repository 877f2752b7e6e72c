"""Text in, typed statements out; no Spark.

``split`` cuts a file into source texts, ``parse`` makes a ``Statement`` of one: ours where it holds something of
ours, else ``SparkStatement``, which reaches Spark byte for byte. Nothing here builds a syntax tree. A pass over
the tokens (``query``, ``relations``, ``expressions``) finds our spans; ``clauses``, ``triggers``, ``intervals`` and
``definitions`` read what stands in them; ``near`` recognizes what was meant to be ours. ``fragments`` changes
spans of a text and keeps the way back to the user's words.
"""

from warehouse.language.parser import parse
from warehouse.language.split import split

__all__ = ["parse", "split"]
