# ruff: noqa: E501
"""The clock of a replay: which steps there are, and the watermark in each."""

import pytest

from warehouse.dataflow.times import BEGINNING, END
from warehouse.errors import WarehouseError
from warehouse.planning.streams.streams import step_length
from warehouse.streaming.sources.replay import Schedule, read_moves, watermark_option

MINUTE = 60_000_000


def steps(schedule, timers=()):
    """Return all instants, with timers that exist from the beginning."""
    clock, out = None, []
    while True:
        ahead = [t for t in timers if clock is None or t > clock]
        clock = schedule.next(clock, min(ahead, default=None))
        if clock is None:
            return out
        out.append(clock)


def test_every_arrival_is_a_step():
    assert steps(Schedule((1, 5, 9))) == [1, 5, 9]


def test_nothing_to_replay():
    assert steps(Schedule(())) == []


def test_watermark_moves_and_timers_are_steps_of_their_own():
    schedule = Schedule((1, 5), ((1, 0), (3, 2), (20, 9)))
    assert steps(schedule, timers=(5, 7, 30)) == [1, 3, 5, 7, 20, 30]


def test_a_timer_that_is_past_gives_no_step():
    assert Schedule((1,)).next(5, 3) is None
    assert Schedule((1,)).next(5, 5) is None
    assert Schedule((1,)).next(5, 6) == 6


def test_a_timer_at_the_end_of_time_gives_no_step():
    assert Schedule(()).next(5, END) is None


def test_micro_batches_end_at_multiples_and_empty_ones_are_left_out():
    schedule = Schedule((1, MINUTE, MINUTE + 1, 10 * MINUTE - 1), None, MINUTE)
    assert steps(schedule) == [MINUTE, 2 * MINUTE, 10 * MINUTE]
    assert schedule.next(10 * MINUTE, 10 * MINUTE + 1) == 11 * MINUTE


def test_micro_batches_before_1970():
    assert steps(Schedule((-MINUTE, -1), None, MINUTE)) == [-MINUTE, 0]


def test_the_watermark_is_the_latest_move():
    schedule = Schedule((1, 5, 30), ((3, 2), (20, 9)))
    assert [schedule.watermark(t) for t in (1, 2, 3, 19, 20, 10**15)] == [BEGINNING, BEGINNING, 2, 2, 9, 9]


def test_other_watermarks():
    assert Schedule((1,), "none").watermark(1) == BEGINNING
    assert Schedule((1,), "complete").watermark(1) == END
    assert Schedule((1,), None).watermark(1) is None
    assert Schedule((1,), "complete").complete and not Schedule((1,), "none").complete
    assert steps(Schedule((1,), "complete"), timers=(4,)) == [1, 4]


def test_a_clock_before_all_arrivals_goes_on_as_from_the_beginning():
    assert Schedule((1, 5)).next(0) == 1


def test_a_drained_table_takes_rows_only():
    schedule = Schedule((1, 5), ((3, 2), (20, 9)))
    assert [schedule.next_row(t) for t in (0, 1, 5)] == [1, 5, None]
    assert Schedule((1, 5), None, MINUTE).next_row(0) == MINUTE


def test_micro_batches_beside_steps_of_others():
    """What arrives while a micro-batch runs is taken when it ends, whatever instants between are looked at."""
    schedule = Schedule((1, MINUTE + 1, MINUTE + 2), ((MINUTE + 1, 7),), MINUTE)
    assert schedule.next(MINUTE + 5) == 2 * MINUTE
    assert schedule.next_row(MINUTE + 5) == 2 * MINUTE
    assert schedule.next(MINUTE + 5, MINUTE + 3) == 2 * MINUTE
    assert schedule.next(2 * MINUTE + 5, MINUTE + 3) is None
    assert [schedule.reached(t) for t in (MINUTE - 1, MINUTE, MINUTE + 5)] == [0, MINUTE, MINUTE]
    assert [schedule.watermark(t) for t in (MINUTE + 5, 2 * MINUTE)] == [BEGINNING, 7]


def test_moves():
    text = "processing_time,watermark\n1970-01-01 00:00:01,\n1970-01-01T00:00:02Z,1970-01-01 00:00:01.5\n\n1970-01-01T01:00:03+01:00,end\n"
    assert read_moves(text) == ((1_000_000, BEGINNING), (2_000_000, 1_500_000), (3_000_000, END))
    assert read_moves(
        "\ufeffProcessing_Time , watermark\n1970-01-01 01:00:00,9999-12-31 23:59:59.999999Z", "Europe/Berlin"
    ) == ((0, END),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("watermark,processing_time\n", "its first line is watermark,processing_time"),
        ("processing_time,watermark\n1970-01-01\n", "line 2 has 1 values"),
        ("processing_time,watermark\nsoon,1970-01-01\n", "line 2: Invalid isoformat"),
        ("processing_time,watermark\n1970-01-02,1970-01-01\n1970-01-02,1970-01-01\n", "line 3 goes back"),
        ("processing_time,watermark\n1970-01-02,1970-01-02\n1970-01-03,1970-01-01\n", "line 3 goes back"),
    ],
)
def test_moves_that_cannot_be_used(text, reason):
    with pytest.raises(ValueError, match=reason):
        read_moves(text)


def test_the_option(tmp_path, entry):
    assert watermark_option(entry()) is None
    assert watermark_option(entry(watermark="NONE")) == "none"
    assert watermark_option(entry(watermark="complete")) == "complete"
    (tmp_path / "w.csv").write_text("processing_time,watermark\n")
    assert watermark_option(entry(watermark=str(tmp_path / "w.csv"))) == ()
    with pytest.raises(WarehouseError, match="no such file"):
        watermark_option(entry(watermark=str(tmp_path / "none.csv")))
    (tmp_path / "w.csv").write_text("nonsense\n")
    with pytest.raises(WarehouseError) as error:
        watermark_option(entry(watermark=str(tmp_path / "w.csv")))
    assert error.value.condition == "WAREHOUSE_REPLAY_WATERMARK"


def test_the_length_of_a_step():
    texts = (
        "arrival",
        " Arrival",
        "1 minute",
        "INTERVAL '1 minute'",
        "interval 1 hour",
        "0 seconds",
        "-1 second",
        "1 month",
        "x",
    )
    assert [step_length(t) for t in texts] == [None, None, MINUTE, MINUTE, 60 * MINUTE, 0, 0, 0, 0]
