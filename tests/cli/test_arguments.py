from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from warehouse.cli.arguments import Input, UsageError, parse_arguments
from warehouse.cli.parameters import parameter, typed


def test_inputs_keep_their_order() -> None:
    words = ["-f", "a.sql", "-e", "SELECT 1", "-", "--file=b.sql", "--execute", "run"]
    assert parse_arguments(words).inputs == (
        Input("file", "a.sql"),
        Input("text", "SELECT 1"),
        Input("stdin"),
        Input("file", "b.sql"),
        Input("text", "run"),
    )


def test_a_dash_after_an_option_is_its_value() -> None:
    assert parse_arguments(["-f", "-"]).inputs == (Input("stdin"),)
    assert parse_arguments(["-e", "-"]).inputs == (Input("text", "-"),)


@pytest.mark.parametrize("words", [["--warehouse", "w", "doctor"], ["doctor", "--warehouse", "w"]])
def test_options_stand_before_or_after_the_command(words: list[str]) -> None:
    invocation = parse_arguments(words)
    assert (invocation.command, invocation.warehouse) == ("doctor", Path("w"))


def test_run() -> None:
    invocation = parse_arguments(
        ["--param", "a=1", "run", "--project", "p", "--select", "+x", "y+", "--exclude", "z", "--full-refresh"]
    )
    assert invocation.command == "run" and invocation.project == Path("p") and invocation.full_refresh
    assert invocation.select == ("+x", "y+") and invocation.exclude == ("z",)
    assert invocation.parameters == (("a", 1),)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--server", "localhost"], "write HOST:PORT"),
        (["serve", "--port", "x"], "invalid int value"),
        (["test", "--target", "t"], "unknown: --target t"),
        (["docs", "-e", "SELECT 1"], "unknown: -e SELECT 1"),
        (["docs", "--format", "json"], "unknown: --format json"),
        (["run", "--server", "h:1"], "--server does not go with run"),
        (["--server", "h:1", "test"], "--server does not go with test"),
        (["report.sql"], "a file of SQL after -f"),
        (["-e", "SELECT 1", "run"], "do not go with run"),
        (["run", "-e", "SELECT 1"], "unknown: -e SELECT 1"),
        (["--keep"], "unknown: --keep"),
        (["--format", "xml", "-e", "SELECT 1"], "invalid choice: 'xml'"),
        (["-e"], "expected one argument"),
        (["--param", "x"], "'x' is not of the form name=value"),
        (["--param", "1x=1"], "not of the form"),
        (["--param", "x=1", "--param", "X=2"], "X is given twice"),
        (["--param", f"z={10**40}"], "--param: z has more than 38 digits; a string is in quotes"),
        (["--param", f"z=0.{10**40}"], "--param: z has more than 38 digits"),
        (["--verbose", "--quiet", "-e", "SELECT 1"], "exclude each other"),
    ],
)
def test_what_makes_no_sense(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_arguments(words)
    assert message in str(error.value)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        parse_arguments(["--version"])
    assert done.value.code == 0 and capsys.readouterr().out.startswith("warehouse-sql ")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("-7", -7),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", Decimal(2**63)),
        ("1.50", Decimal("1.50")),
        ("-.5", Decimal("-.5")),
        ("1e3", 1000.0),
        ("2.5E-1", 0.25),
        ("TRUE", True),
        ("false", False),
        ("Null", None),
        ("", ""),
        ("02139", "02139"),
        ("+5", "+5"),
        ("1.", "1."),
        ("2013-01-01", "2013-01-01"),
        ("'42'", "42"),
        ("'it''s'", "it's"),
        ("a=b", "a=b"),
    ],
)
def test_values_are_typed(text: str, value: object) -> None:
    assert typed(text) == value and type(typed(text)) is type(value)


def test_only_the_first_equals_sign_counts() -> None:
    assert parameter("k=a=b") == ("k", "a=b")
