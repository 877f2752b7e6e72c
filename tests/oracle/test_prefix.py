"""After every REFRESH a streaming table is what a batch over the rows so far says of the windows that fired.

The batch is the table's own SELECT, asked ad hoc of the same stream without the rows that were late. (SLIDING, where
a row can be late for one window and in time for the next: plain SQL over pairs of row and window.) Nothing here is
the model's: when a window fired is read from ``panes``, what it must then hold from the batch. What did not fire
stays as it was, but for sessions that one which fired has swallowed.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.oracle.harness import Rig
from tests.oracle.model import SECOND
from tests.oracle.programs import ARRIVALS, EVENTS, GRAIN
from tests.oracle.text import iso

Window = tuple[Any, ...]
"""Scenario, key, start, end."""

WINDOWS = {
    "sessions": "SESSIONS (event_time, GAP INTERVAL 10 SECONDS)",
    "fixed": "FIXED (event_time, SIZE INTERVAL 15 SECONDS, OFFSET INTERVAL 1 SECOND)",
    "sliding": "SLIDING (event_time, SIZE INTERVAL 15 SECONDS, EVERY INTERVAL 5 SECONDS)",
}
TRIGGERS = {
    "default": "AT WATERMARK",
    "every row": "AT WATERMARK EARLY EVERY ROW LATE EVERY ROW",
    "mixed": "AT WATERMARK EARLY (AFTER 2 ROWS OR WHEN (max(v) > 5)) LATE EVERY 2 ROWS",
}
SCENARIOS = 20
INSTANTS = 4


class Prefixes:
    """One streaming table over a recording that grows by one instant's rows at a time."""

    def __init__(self, rig: Rig, name: str, window: str, trigger: str, mode: str) -> None:
        self.rig, self.name, self.sliding = rig, name, window == "sliding"
        self.folder = rig.folder / name
        self.folder.mkdir(parents=True)
        self.random = Random(name)
        self.count = 0
        self.step = -1
        self.table: dict[Window, tuple[Any, ...]] = {}
        self.trigger = trigger
        self.calls = "count(*) AS n, sum(v) AS s, min(v) AS lo, max(v) AS hi"
        self.window = WINDOWS[window]
        self.arrive(0)
        rig.rows(
            f"CREATE STREAM {name}_s (id INT, scenario INT, k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)"
            f" USING replay OPTIONS (path '{self.folder}', format 'json', arrival 'arrival')"
            " WATERMARK event_time DELAY OF INTERVAL 5 SECONDS"
        )
        rig.rows(
            f"CREATE STREAMING TABLE {name} AS SELECT scenario, k, {self.calls}, window_start, window_end"
            f" FROM STREAM {name}_s GROUP BY scenario, k WINDOW {self.window}"
            f" TRIGGER {TRIGGERS[trigger]} {mode} ALLOWED LATENESS INTERVAL 5 SECONDS"
        )

    def arrive(self, instant: int) -> None:
        """Add what arrives at an instant: rows around the watermark, some behind it, with NULLs."""
        lines = []
        for scenario in range(SCENARIOS):
            for _ in range(self.random.randint(0, 5)):
                time = EVENTS + GRAIN * (2 * instant + self.random.choice([-5, -3, -2, -1, -1, 0, 0, 1]))
                value = self.random.choice(["null", *range(-3, 9)])
                key = self.random.choice(["null", '"a"', '"b"'])
                lines.append(
                    f'{{"id": {self.count}, "scenario": {scenario}, "k": {key}, "v": {value}, '
                    f'"event_time": "{iso(time)}", "arrival": "{iso(ARRIVALS + 100 * SECOND * instant)}"}}\n'
                )
                self.count += 1
        (self.folder / f"{instant}.json").write_text("".join(lines))

    def batch(self) -> dict[Window, tuple[Any, ...]]:
        """Return the batch answer over the rows that have arrived and that no window missed."""
        late = self.rig.rows(f"SELECT id, window_start, window_end FROM late_rows('{self.name}')")
        columns = f"scenario, k, {self.calls}, window_start, window_end"
        if self.sliding:
            start = "timestamp_micros((unix_micros(event_time) DIV 5000000 - i) * 5000000)"
            sql = (
                f"SELECT {columns} FROM (SELECT *, window_start + INTERVAL 15 SECONDS AS window_end"
                f" FROM (SELECT *, {start} AS window_start FROM STREAM {self.name}_s"
                f" LATERAL VIEW explode(array(0, 1, 2)) AS i)) AS w"
                f" LEFT ANTI JOIN late_rows('{self.name}') AS l USING (id, window_start)"
                " GROUP BY scenario, k, window_start, window_end"
            )
        else:
            ids = ", ".join(str(row["id"]) for row in late) or "-1"
            sql = (
                f"SELECT {columns} FROM STREAM {self.name}_s WHERE id NOT IN ({ids})"
                f" GROUP BY scenario, k WINDOW {self.window}"
            )
        self.late = len(late)
        return _by_window(self.rig.rows(sql))

    def check(self) -> int:
        """Hold ``t`` to the batch after a REFRESH; return how many windows fired in it."""
        panes = self.rig.rows(
            f"SELECT scenario, k, window_start, window_end, _step FROM panes('{self.name}')"
            f" WHERE _change_type = 'insert' AND _step > {self.step}"
        )
        self.step = max([self.step, *(pane["_step"] for pane in panes)])
        fired = {_window(pane) for pane in panes}
        batch = self.batch()
        assert fired <= batch.keys()
        stays = {
            window: values
            for window, values in self.table.items()
            if not any(window[:2] == one[:2] and one[2] <= window[2] and window[3] <= one[3] for one in fired)
        }
        self.table = _by_window(self.rig.rows(f"SELECT * FROM {self.name}"))
        assert self.table == stays | {window: batch[window] for window in fired}
        if self.trigger == "every row":
            assert self.table == batch
        return len(fired)


def _window(row: dict[str, Any]) -> Window:
    return row["scenario"], row["k"], row["window_start"], row["window_end"]


def _by_window(rows: list[dict[str, Any]]) -> dict[Window, tuple[Any, ...]]:
    found = {_window(row): (row["n"], row["s"], row["lo"], row["hi"]) for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.skipif(not os.environ.get("ORACLE_ALL"), reason="ORACLE_ALL=1; random programs try this on their panes")
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_table_is_the_batch_of_what_fired(window: str, trigger: str, rig: Rig, tmp_path: Path) -> None:
    """After every step, and after DRAIN over all rows that were not late."""
    mode = "RETRACTING" if len(window + trigger) % 2 else "ACCUMULATING"
    run = Prefixes(rig, f"prefix_{window}_{trigger.replace(' ', '_')}", window, trigger, mode)
    fired = [run.check()]
    for instant in range(1, INSTANTS):
        run.arrive(instant)
        rig.rows(f"REFRESH STREAMING TABLE {run.name}")
        fired.append(run.check())
    rig.rows(f"DRAIN STREAMING TABLE {run.name}")
    run.check()
    assert run.table == run.batch()
    assert all(fired[1:])
    assert run.late
