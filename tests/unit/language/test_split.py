from __future__ import annotations

import pytest

from warehouse.language import split


def cut(text: str) -> list[str]:
    return [s.text for s in split(text)]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", []),
        (" ;; \n; ", []),
        ("-- nothing\n/* at all; */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1; -- trailing; comment", ["SELECT 1"]),
        ("SELECT 1 ;; SELECT 2", ["SELECT 1 ", "SELECT 2"]),
        ("SELECT ';' ; SELECT `;` ; SELECT \";\"", ["SELECT ';' ", "SELECT `;` ", 'SELECT ";"']),
        ("SELECT 1 -- a;b\n, 2; SELECT 3", ["SELECT 1 -- a;b\n, 2", "SELECT 3"]),
        ("-- a; b\nSELECT 1; /* c; */ SELECT 2", ["-- a; b\nSELECT 1", "/* c; */ SELECT 2"]),
        ("SELECT 'a\\';b'; SELECT r'\\'; SELECT 2", ["SELECT 'a\\';b'", "SELECT r'\\'", "SELECT 2"]),
        ("SELECT 1; SELECT 'open; SELECT 2", ["SELECT 1", "SELECT 'open; SELECT 2"]),
        ("'open", ["'open"]),
        ("BEGIN; SELECT 1; END", ["BEGIN", "SELECT 1", "END"]),
        ("BEGIN TRANSACTION; SELECT 1", ["BEGIN TRANSACTION", "SELECT 1"]),
        ("SELECT begin, end FROM begin; SELECT 2", ["SELECT begin, end FROM begin", "SELECT 2"]),
        ("SELECT CASE WHEN a THEN b END; SELECT 2", ["SELECT CASE WHEN a THEN b END", "SELECT 2"]),
        ("BEGIN SELECT 1; END; SELECT 2", ["BEGIN SELECT 1; END", "SELECT 2"]),
        ("begin select 1; end select", ["begin select 1; end select"]),
        ("l: BEGIN SELECT 1; END l; SELECT 2", ["l: BEGIN SELECT 1; END l", "SELECT 2"]),
        ("BEGIN BEGIN SELECT 1; END; BEGIN END; END; x", ["BEGIN BEGIN SELECT 1; END; BEGIN END; END", "x"]),
        (
            "BEGIN IF a THEN BEGIN SELECT 1; END; END IF; END; x",
            ["BEGIN IF a THEN BEGIN SELECT 1; END; END IF; END", "x"],
        ),
        ("BEGIN CASE WHEN a THEN SELECT 1; END CASE; END; x", ["BEGIN CASE WHEN a THEN SELECT 1; END CASE; END", "x"]),
        (
            "BEGIN SELECT CASE a WHEN 1 THEN begin ELSE CASE WHEN b THEN c END END AS end; END; x",
            ["BEGIN SELECT CASE a WHEN 1 THEN begin ELSE CASE WHEN b THEN c END END AS end; END", "x"],
        ),
        (
            "BEGIN DECLARE EXIT HANDLER FOR NOT FOUND BEGIN SELECT 1; END; SELECT 2; END; x",
            ["BEGIN DECLARE EXIT HANDLER FOR NOT FOUND BEGIN SELECT 1; END; SELECT 2; END", "x"],
        ),
        (
            "BEGIN WHILE a DO x; END WHILE; l: LOOP LEAVE l; END LOOP l; REPEAT x; UNTIL b END REPEAT; END; x",
            [
                "BEGIN WHILE a DO x; END WHILE; l: LOOP LEAVE l; END LOOP l; REPEAT x; UNTIL b END REPEAT; END",
                "x",
            ],
        ),
        (
            "BEGIN FOR r AS SELECT end FROM t DO SELECT r.end; END FOR; END; x",
            ["BEGIN FOR r AS SELECT end FROM t DO SELECT r.end; END FOR; END", "x"],
        ),
        ("BEGIN SELECT 1; SELECT 2", ["BEGIN SELECT 1; SELECT 2"]),
    ],
)
def test_statements(text: str, statements: list[str]) -> None:
    assert cut(text) == statements


def test_lines_are_those_of_the_file() -> None:
    sources = split("\n\nSELECT 1;\n\n-- c\nSELECT\n2; SELECT 3;", "f.sql")
    assert [(s.text, s.name, s.line) for s in sources] == [
        ("SELECT 1", "f.sql", 3),
        ("-- c\nSELECT\n2", "f.sql", 5),
        ("SELECT 3", "f.sql", 7),
    ]
