r"""The backslash commands: what each is for, and the SQL behind those that list something."""

from __future__ import annotations

import re

HELP = r"""
\?                this page                  \timing           seconds on or off
\q                leave (exit, Ctrl-D)       \x                one field per line, on or off
\h [CLAUSE]       syntax, with an example    \format NAME      table csv tsv json jsonl markdown vertical
\l                catalogs                   \o [FILE]         results to a file, back to the screen
\dn               schemas                    \i FILE           run a file
\dt  \dv          tables, views              \e                write the last statement in $EDITOR
\ds               streams                    \watch [SECONDS]  run the last statement again and again
\dst              streaming tables           \follow TABLE     panes as they come, withdrawals marked
\d NAME           columns                    \state TABLE      live windows
\df [PATTERN]     functions                  \progress TABLE   its last steps
\conf             settings                   \rewrite SQL      the Spark SQL that runs

A statement ends with a semicolon; Enter before that begins a new line. Ctrl-C cancels what runs, or clears the line.
Ctrl-R searches what was typed before, Tab completes.""".strip()

SYNTAX = {
    "STREAM": "CREATE STREAM plays (team STRING, score INT, at TIMESTAMP)\nUSING json OPTIONS (path 'plays')\n"
    "WATERMARK at DELAY OF INTERVAL 10 SECONDS;",
    "STREAMING TABLE": "CREATE STREAMING TABLE totals AS\nSELECT team, sum(score) AS total, window_start\n"
    "FROM STREAM plays GROUP BY team\nWINDOW FIXED (at, SIZE INTERVAL 2 MINUTES);",
    "WINDOW": "WINDOW FIXED (ts, SIZE i [, OFFSET i | OFFSET PER KEY])\n"
    "WINDOW SLIDING (ts, SIZE i, EVERY i [, OFFSET i])\n"
    "WINDOW SESSIONS (ts, GAP i)\nWINDOW GLOBAL",
    "TRIGGER": "TRIGGER AT WATERMARK [PERCENTILE p] [EARLY unit] [LATE unit]\n"
    "TRIGGER EVERY i | EVERY n ROWS | AFTER i | WHEN (condition) | NEVER\n"
    "combined with AND, OR, THEN, REPEAT … UNTIL …",
    "MODE": "DISCARDING | ACCUMULATING | RETRACTING",
    "LATENESS": "ALLOWED LATENESS INTERVAL 1 DAY | UNBOUNDED",
}
"""Examples by clause."""

_LISTS = {
    r"\l": "SHOW CATALOGS",
    r"\dn": "SHOW SCHEMAS",
    r"\dt": "SHOW TABLES",
    r"\dv": "SHOW VIEWS",
    r"\ds": "SHOW STREAMS",
    r"\dst": "SHOW STREAMING TABLES",
    r"\conf": "SET",
    ".tables": "SHOW TABLES",
}


def statement(command: str, argument: str) -> str | None:
    r"""Return the SQL behind a command, None when it is not one that lists something.

    Example:
        >>> statement(r"\dt", ""), statement(r"\d", "o'k"), statement(r"\x", "")
        ('SHOW TABLES', "DESCRIBE TABLE EXTENDED `o'k`", None)
    """
    if command in _LISTS:
        return _LISTS[command]
    match command:
        case r"\d" if not argument:
            return "SHOW TABLES"
        case r"\d":
            return f"DESCRIBE TABLE EXTENDED {quoted(argument)}"
        case r"\df":
            return "SHOW FUNCTIONS" + (f" LIKE {literal(argument)}" if argument else "")
        case r"\state":
            return f"SELECT * FROM stream_state({literal(argument)})"
        case r"\progress":
            return f"SELECT * FROM stream_progress({literal(argument)}) ORDER BY step DESC LIMIT 20"
        case r"\rewrite":
            return f"EXPLAIN REWRITE {argument.rstrip(';')}"
    return None


def quoted(name: str) -> str:
    """Return a name of several parts, quoted."""
    return ".".join(
        f"`{part.strip('`').replace('`', '``')}`" for part in re.split(r"\.(?=(?:[^`]*`[^`]*`)*[^`]*$)", name)
    )


def literal(text: str) -> str:
    """Return a string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
