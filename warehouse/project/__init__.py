"""A folder of ``.sql`` files run as one thing, in the order that their statements need.

::

    folder -files-> SqlFile -templates-> Rendered -units-> Unit -graph-> ordered Units -selection-> chosen Units

    YAML -properties-> Described -checks-> SqlFile (a test) -templates, units-> Unit with a severity
    Project, Described and the warehouse's columns -described-> About -page, manifest-> index.html, manifest.json

A ``Unit`` is one file: what it makes, writes and reads, and the statements that run. The graph comes from the
parse; ``{{ ref('x') }}`` is accepted and not needed. Templates are replaced by text of the same length, so that
every position in an error is a position in the user's file. Runs nothing itself but through ``runs``.
"""
