"""The prompt: lines in, statements to the engine, tables out; nothing here knows Spark.

``prompt`` is the loop, ``talk`` the connection to an engine (in the background, or in this process behind the same
socket), ``meta`` the backslash commands, ``words`` what completion and highlighting know, ``text`` when a statement
is whole. The prompt shows at once; the engine comes up behind it.
"""
