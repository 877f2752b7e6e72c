"""Every value below was compared with what Spark 4.2 makes of the same literal."""

from __future__ import annotations

import pytest

from warehouse.errors import SourceText, WarehouseError
from warehouse.language.cursor import Cursor
from warehouse.language.intervals import interval_at, text_length
from warehouse.language.tokens import tokenize

S = 1_000_000
M, H, D = 60 * S, 3600 * S, 86400 * S


def read(text: str) -> tuple[int, int] | None:
    cursor = Cursor(SourceText(text), tokenize(text) or [])
    found = interval_at(cursor)
    if found is None:
        return None
    assert cursor.done and found.span.of(text) == text
    return found.micros, found.months


@pytest.mark.parametrize(
    ("text", "micros", "months"),
    [
        ("INTERVAL 30 MINUTES", 30 * M, 0),
        ("interval '30' minute", 30 * M, 0),
        ("INTERVAL ' 30 ' MINUTE", 30 * M, 0),
        ("INTERVAL '+30' MINUTE", 30 * M, 0),
        ("INTERVAL + 30 MINUTE", 30 * M, 0),
        ("INTERVAL -5 SECONDS", -5 * S, 0),
        ("INTERVAL '-5' SECOND", -5 * S, 0),
        ("INTERVAL -'5' SECOND", -5 * S, 0),
        ("INTERVAL '- 5' MINUTE", -5 * M, 0),
        ('INTERVAL "10" SECONDS', 10 * S, 0),
        ("INTERVAL r'5' MINUTE", 5 * M, 0),
        ("INTERVAL '1'\nDAY", D, 0),
        ("INTERVAL 2 WEEKS", 14 * D, 0),
        ("INTERVAL 5 MILLISECONDS", 5000, 0),
        ("INTERVAL 5 MICROSECONDS", 5, 0),
        ("INTERVAL 1 DAY 2 HOURS", D + 2 * H, 0),
        ("INTERVAL 1 DAY '2' HOURS", D + 2 * H, 0),
        ("INTERVAL -1 DAY 2 HOURS", -D + 2 * H, 0),
        ("INTERVAL '1 day 2 hours'", D + 2 * H, 0),
        ("INTERVAL '1 day -2 hours'", D - 2 * H, 0),
        ("INTERVAL '- 1 day'", -D, 0),
        ("INTERVAL 'interval 1 hour'", H, 0),
        ("INTERVAL 1.5 SECONDS", 1_500_000, 0),
        ("INTERVAL .5 SECOND", 500_000, 0),
        ("INTERVAL '-1.5 seconds'", -1_500_000, 0),
        ("INTERVAL 1.123456789 SECONDS", 1_123_456, 0),
        ("INTERVAL -1.1234567 SECONDS", -1_123_456, 0),
        ("INTERVAL '1 02:00' DAY TO MINUTE", D + 2 * H, 0),
        ("INTERVAL '-1 02:00' DAY TO MINUTE", -D - 2 * H, 0),
        ("INTERVAL -'-1 02:00' DAY TO MINUTE", D + 2 * H, 0),
        ("INTERVAL '1 2:3' DAY TO MINUTE", D + 2 * H + 3 * M, 0),
        ("INTERVAL '1 2' DAY TO HOUR", D + 2 * H, 0),
        ("INTERVAL '1 02:03:04.5' DAY TO SECOND", D + 2 * H + 3 * M + 4_500_000, 0),
        ("INTERVAL '100:30' HOUR TO MINUTE", 100 * H + 30 * M, 0),
        ("INTERVAL -'12:30' HOUR TO MINUTE", -12 * H - 30 * M, 0),
        ("INTERVAL '12:30:15.5' HOUR TO SECOND", 12 * H + 30 * M + 15_500_000, 0),
        ("INTERVAL '100:59.123456789' MINUTE TO SECOND", 100 * M + 59_123_456, 0),
        ("INTERVAL 1 MONTH", 0, 1),
        ("INTERVAL '1-2' YEAR TO MONTH", 0, 14),
        ("INTERVAL '0' DAY", 0, 0),
        ("'30 minutes'", 30 * M, 0),
        ("'1 hour 30 minutes'", 90 * M, 0),
        ("'interval 1 hour'", H, 0),
    ],
)
def test_literals(text: str, micros: int, months: int) -> None:
    assert read(text) == (micros, months)


@pytest.mark.parametrize(
    "text",
    [
        "INTERVAL 1.5 MINUTES",
        "INTERVAL 1.0 MINUTE",
        "INTERVAL '1.5' DAY",
        "INTERVAL '1.5 days'",
        "INTERVAL 5 NANOSECONDS",
        "INTERVAL 1 QUARTER",
        "INTERVAL 1L DAY",
        "INTERVAL 1e1 SECOND",
        "INTERVAL 5BD MINUTE",
        "INTERVAL '30 m' MINUTE",
        "INTERVAL '1 day2 hours'",
        "INTERVAL '1day'",
        "INTERVAL ''",
        "INTERVAL '30 minutes 5'",
        "INTERVAL '1 us'",
        "INTERVAL 'day 1'",
        "INTERVAL '1 25' DAY TO HOUR",
        "INTERVAL '1' DAY TO SECOND",
        "INTERVAL '2:00' DAY TO MINUTE",
        "INTERVAL '1 02:00:00' DAY TO MINUTE",
        "INTERVAL '1T2:3' DAY TO MINUTE",
        "INTERVAL '1' 'DAY'",
        "'soon'",
    ],
)
def test_what_spark_refuses(text: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        read(text)
    assert caught.value.sqlstate == "42604"


@pytest.mark.parametrize("text", ["INTERVAL", "INTERVAL day", "make_interval(1)", "x", "5"])
def test_what_is_no_literal(text: str) -> None:
    assert read(text) is None


def test_text_alone() -> None:
    assert text_length("1 week") == (7 * D, 0)
    assert text_length("1 fortnight") is None
