"""A served warehouse in trouble: killed while it starts and while it refreshes, sent a statement of 100 MB."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.server.test_sessions import wait_until
from warehouse.server.endpoint import Endpoint

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.soak]


def begun(folder: Path, fault: str | None = None) -> subprocess.Popen[str]:
    """Start to serve a folder in a group of processes of its own; ``fault`` is as ``streaming.faults`` knows it."""
    told = {"PYTHONPATH": str(ROOT)} | ({"WAREHOUSE_FAULT": fault} if fault else {})
    return subprocess.Popen(
        [sys.executable, "-m", "warehouse.cli.main", "--warehouse", str(folder / "w"), "serve", "--port", "0"],
        env=os.environ | told, cwd=folder, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def killed(process: subprocess.Popen[str]) -> None:
    """Kill it and its JVM, and wait until nothing of them is left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def served(folder: Path, fault: str | None = None) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Serve a folder; yield the process and its port."""
    process = begun(folder, fault)
    try:
        said = []
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line)
            if found := re.search(r"jdbc:hive2://127\.0\.0\.1:(\d+)/", line):
                yield process, int(found[1])
                break
        else:
            raise AssertionError("".join(said))
    finally:
        killed(process)


def cursor(port: int) -> Any:
    from pyhive import hive

    return hive.connect("127.0.0.1", port, username="ada").cursor()


def rows(asking: Any, text: str) -> list[Any]:
    asking.execute(text)
    return asking.fetchall() if asking.description else []


def test_a_server_that_is_killed_while_it_refreshes(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()

    def arrive(first: int, last: int) -> None:
        for n in range(first, last):
            row = f'{{"k": "{n % 3}", "n": {n}, "at": "2024-05-01T12:00:{n:02}Z"}}'
            (tmp_path / "s" / f"{n}.json").write_text(f"{row}\n")

    arrive(0, 1)
    with served(tmp_path, fault="commit:6") as (process, port):  # the first step is CREATE's
        ask = cursor(port)
        ask.execute(
            "CREATE STREAM s (k STRING, n INT, at TIMESTAMP) USING json OPTIONS (path 's', maxFilesPerTrigger '1') "
            "WATERMARK at DELAY OF INTERVAL 1 HOUR"
        )
        ask.execute(
            "CREATE STREAMING TABLE t AS SELECT k, count(*) AS c, sum(n) AS total FROM STREAM s GROUP BY k "
            "WINDOW SESSIONS (at, GAP INTERVAL 10 MINUTES) TRIGGER EVERY 1 ROW RETRACTING"
        )
        arrive(1, 30)
        other = cursor(port)
        ask.execute("REFRESH STREAMING TABLE t", async_=True)
        wait_until(lambda: process.poll() is not None)
        killed(process)
        with pytest.raises(Exception):  # noqa: B017 - whichever way a client sees that nobody is there
            rows(other, "SELECT 1")
    with served(tmp_path) as (_, port):
        ask = cursor(port)
        assert 4 <= rows(ask, "SELECT max(step) FROM stream_progress('t')")[0][0] < 30
        ask.execute("REFRESH STREAMING TABLE t")
        assert rows(ask, "SELECT k, c, total FROM t ORDER BY k") == [("0", 10, 135), ("1", 10, 145), ("2", 10, 155)]
        net = "sum(CASE _change_type WHEN 'insert' THEN c ELSE -c END)"
        assert rows(ask, f"SELECT {net} FROM panes('t')") == [(30,)]
        assert rows(ask, "SELECT count(*) FROM late_rows('t')") == [(0,)]


def test_first_starts_that_are_killed_on_the_way(tmp_path: Path) -> None:
    def files(w: Path) -> int:
        return len(list((w / "metastore" / "db" / "seg0").glob("*")))

    moments: list[Callable[[Path], bool]] = [
        lambda w: (w / "metastore" / "db").is_dir(),
        lambda w: files(w) > 40,
        lambda w: (w / "metastore" / "db" / "service.properties").exists(),
        lambda w: files(w) > 120,
    ]
    for number, come in enumerate(moments):
        folder = tmp_path / str(number)
        folder.mkdir()
        process = begun(folder)
        until = time.monotonic() + 120
        while not come(folder / "w") and time.monotonic() < until:
            time.sleep(0.001)
        killed(process)
        assert come(folder / "w")
        with served(folder) as (_, port):
            ask = cursor(port)
            ask.execute("CREATE TABLE a AS SELECT 1 AS x")
            assert rows(ask, "SELECT * FROM a") == [(1,)], number


def test_a_statement_of_a_hundred_megabytes(endpoint: Endpoint, pyhive: Callable[..., Any]) -> None:
    witness = pyhive().cursor()
    large = pyhive().cursor()
    with pytest.raises(Exception, match=r"(?i)read|closed|reset|broken pipe"):
        large.execute("SELECT length('" + "x" * (100 << 20) + "')")
    assert rows(witness, "SELECT 1") == [(1,)]
    nearly = pyhive().cursor()
    assert rows(nearly, "SELECT length('" + "x" * (20 << 20) + "') AS n") == [(20 << 20,)]
