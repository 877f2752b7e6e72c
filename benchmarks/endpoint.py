"""What a statement costs over the endpoint, against Spark's own Thrift server on the same Spark, in one run.

``python -m benchmarks endpoint`` measures latency, ``python -m benchmarks endpoint crowd`` how many short queries a
second several clients are answered; ``python -m benchmarks endpoint load --minutes 5`` lets 64 clients
ask short and long things, cancels one in fifty, cuts some connections, and looks whether anything is left over;
``python -m benchmarks endpoint start`` measures whole processes, cold and warm, beside ``spark-sql``.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.report import keep, table
from warehouse.engine import Engine
from warehouse.server.endpoint import Endpoint
from warehouse.server.options import Options

READ = "SELECT id, name, amount FROM bench"
SHORT = "SELECT {0}, name FROM bench WHERE id = {0}"
LONG = "SELECT count(*) FROM range(0, 400000000, 1, 40) WHERE hash(id) = 7"
PLENTY = Options(port=0, sessions=500, sessions_per_user=500, statements=300, statements_per_user=300)


def connect(port: int, user: str = "bench") -> Any:
    """Return a PyHive connection."""
    from pyhive import hive

    return hive.connect("127.0.0.1", port, username=user)


def timed(port: int, text: str, times: int) -> list[float]:
    """Return how long a statement and its rows take, in milliseconds, one after the other."""
    connection = connect(port)
    cursor, out = connection.cursor(arraysize=1000), []
    for _ in range(times):
        began = time.perf_counter()
        cursor.execute(text)
        cursor.fetchall()
        out.append((time.perf_counter() - began) * 1000)
    connection.close()
    return out


@contextmanager
def both(engine: Engine) -> Iterator[dict[str, int]]:
    """Serve one engine's session through ours and through Spark's own server; the ports by name."""
    view = engine.spark._jvm
    thrift = view.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2
    view.java.lang.System.setProperty("hive.server2.enable.doAs", "false")
    view.java.lang.System.setProperty("hive.server2.thrift.port", "0")
    view.java.lang.System.setProperty("hive.server2.thrift.bind.host", "127.0.0.1")
    stock = thrift.startWithSparkSession(engine.spark._jsparkSession, False)
    services = {s.getName(): s for s in stock.getServices()}
    theirs = int(next(s for n, s in services.items() if "ThriftBinary" in n).getPortNumber())
    try:
        with Endpoint(engine, PLENTY) as endpoint:
            yield {"stock": theirs, "ours": endpoint.port or 0}
    finally:
        stock.stop()


def latency(engine: Engine, rounds: int = 4, times: int = 40) -> None:
    """Print ours beside Spark's, alternating, so that both meet the same machine."""
    with both(engine) as ports:
        for name, text in (("SELECT 1", "SELECT 1"), ("1,000 rows", READ)):
            for port in ports.values():
                timed(port, text, 2 * times)
            took: dict[str, list[float]] = {who: [] for who in ports}
            for _ in range(rounds):
                for who, port in ports.items():
                    took[who] += timed(port, text, times)
            a, b = statistics.median(took["ours"]), statistics.median(took["stock"])
            print(f"{name:<11} p50 ours {a:6.1f} ms   stock {b:6.1f} ms   ratio {a / b:.2f}", flush=True)


def crowd(engine: Engine, rounds: int = 3, seconds: float = 15) -> None:
    """Print how many short queries a second ours and Spark's answer to several clients at once, alternating."""
    with both(engine) as ports:
        for clients in (1, 8, 32):
            for port in ports.values():
                asked_at_once(port, clients, seconds)
            took: dict[str, list[float]] = {who: [] for who in ports}
            for _ in range(rounds):
                for who, port in ports.items():
                    took[who] += asked_at_once(port, clients, seconds)
            for who, found in took.items():
                found.sort()
                a_second, last = len(found) / seconds / rounds, found[int(len(found) * 0.99)]
                print(f"{clients:>3} clients {who:<6}{a_second:6.1f}/s", end="   ")
                print(f"p50 {statistics.median(found):6,.0f} ms   p99 {last:6,.0f} ms", flush=True)


def asked_at_once(port: int, clients: int, seconds: float) -> list[float]:
    """Return the milliseconds of short queries that so many clients ask for so long, each one after the other."""
    # One after the other: Spark's own server fails when two sessions make a user's folder at once.
    connections = [connect(port, f"user{n}") for n in range(clients)]
    took: list[float] = []
    ends = time.monotonic() + seconds

    def client(connection: Any) -> None:
        cursor, dice = connection.cursor(), random.Random()
        while time.monotonic() < ends:
            milliseconds, wrong = asked_shortly(cursor, dice)
            assert not wrong, wrong
            took.append(milliseconds)
        connection.close()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(client, connections))
    return took


def asked_shortly(cursor: Any, dice: random.Random) -> tuple[float, str]:
    """Ask for a row by its number; return the milliseconds that took, and what is wrong with the answer, or nothing."""
    value, began = dice.randrange(1000), time.perf_counter()
    cursor.execute(SHORT.format(value))
    rows = cursor.fetchall()
    took = (time.perf_counter() - began) * 1000
    return took, "" if rows == [(value, f"name {value}")] else f"{value}: {rows}"


def load(engine: Engine, minutes: float, clients: int, with_long: bool) -> None:
    """Print the short queries' percentiles, wrong rows, and what is left over."""
    short: list[float] = []
    wrong: list[str] = []
    guard, ends = threading.Lock(), time.monotonic() + minutes * 60
    with Endpoint(engine, PLENTY) as endpoint:
        before = left(engine)

        def client(number: int) -> None:
            dice = random.Random(number)
            connection = connect(endpoint.port or 0, f"user{number}")
            while time.monotonic() < ends:
                cursor = connection.cursor()
                throw = dice.random()
                try:
                    if throw < 0.02:
                        cursor.execute(LONG, async_=True)
                        time.sleep(dice.random())
                        cursor.cancel()
                    elif throw < 0.03:
                        connection._transport.close()
                        connection = connect(endpoint.port or 0, f"user{number}")
                    elif throw < 0.06 and with_long:
                        cursor.execute(LONG)
                        cursor.fetchall()
                    else:
                        milliseconds, told = asked_shortly(cursor, dice)
                        with guard:
                            short.append(milliseconds)
                            wrong.extend([told] if told else [])
                except Exception as error:
                    with guard:
                        wrong.append(str(error)[:2000])
            connection.close()

        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(client, range(clients)))
        until = time.monotonic() + 120  # Hive lets threads without work go after a minute
        while (after := left(engine))["threads"] > before["threads"] + 8 and time.monotonic() < until:
            time.sleep(5)
        short.sort()
        points = {p: short[min(len(short) - 1, int(len(short) * p / 100))] for p in (50, 95, 99)}
        told = "   ".join(f"p{p} {v:,.0f} ms" for p, v in points.items())
        print(
            f"{clients} clients, {'with' if with_long else 'without'} long ones: {len(short):,} short queries   {told}"
        )
        print(f"wrong or failed: {len(wrong)} {wrong[:3]}")
        flat = "   ".join(f"{what} {before[what]} -> {after[what]}" for what in before)
        print(f"sessions left {endpoint.sessions}   {flat}", flush=True)


def left(engine: Engine) -> dict[str, int]:
    """Return what the JVM holds once its garbage is collected."""
    view = engine.spark._jvm
    view.java.lang.System.gc()
    beans = view.java.lang.management.ManagementFactory
    return {
        "threads": int(beans.getThreadMXBean().getThreadCount()),
        "heap MB": int(beans.getMemoryMXBean().getHeapMemoryUsage().getUsed()) >> 20,
        "jobs": len(engine.spark.sparkContext.statusTracker().getActiveJobsIds()),
    }


def starts(rounds: int) -> None:
    """Print how long whole processes take to answer SELECT 1, and keep the table."""
    import pyspark

    home = Path(pyspark.__file__).parent
    env = {k: v for k, v in os.environ.items() if k != "WAREHOUSE_ENGINE"}
    here = str(Path(__file__).resolve().parents[1])
    env |= {"SPARK_HOME": str(home), "PYTHONPATH": here}

    def seconds(folder: Path, *command: str) -> float:
        began = time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True)
        took = time.perf_counter() - began
        assert done.stdout.splitlines()[-1].strip() == "1", done.stdout
        return took

    ours = (sys.executable, "-m", "warehouse.cli.main")
    ask = ("-e", "SELECT 1 AS one")
    found: dict[str, list[float]] = {}

    def note(name: str, took: float) -> None:
        found.setdefault(name, []).append(took)
        print(f"{name:<60} {took:6.2f} s", flush=True)

    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            note("warehouse-sql -e, new folder, no engine runs", seconds(folder, *ours, *ask))
            for _ in range(5):
                note("warehouse-sql -e, the first five after that", seconds(folder, *ours, *ask))
            for _ in range(10):
                note("warehouse-sql -e, the engine is warm", seconds(folder, *ours, *ask))
            subprocess.run([*ours, "stop"], cwd=folder, env=env, check=True, capture_output=True)
            note("warehouse-sql -e, no engine runs", seconds(folder, *ours, *ask))
            subprocess.run([*ours, "stop"], cwd=folder, env=env, check=True, capture_output=True)
            note("warehouse-sql --embedded -e", seconds(folder, *ours, "--embedded", *ask))
            note("spark-sql -e, new folder", seconds(folder, str(home / "bin" / "spark-sql"), *ask))
            note("spark-sql -e", seconds(folder, str(home / "bin" / "spark-sql"), *ask))
    rows = [
        (name, f"{statistics.median(took):.2f}", f"{min(took):.2f}", f"{max(took):.2f}", len(took))
        for name, took in found.items()
    ]
    keep(
        "endpoint_start",
        table(("`SELECT 1`, seconds of the whole process", "median", "least", "greatest", "runs"), rows),
        found,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks endpoint", description=__doc__)
    parser.add_argument("what", nargs="?", default="latency", choices=("latency", "crowd", "load", "start"))
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3, help="of start")
    asked = parser.parse_args(arguments)
    if asked.what == "start":
        starts(asked.rounds)
        return 0
    with tempfile.TemporaryDirectory() as folder, Engine.open(Path(folder)) as engine:
        for result in engine.run(
            "CREATE TABLE bench AS SELECT CAST(id AS INT) AS id, concat('name ', id) AS name, id * 1.5 AS amount "
            "FROM range(1000)"
        ):
            list(result.batches)
        measured: dict[str, Callable[[], None]] = {
            "latency": lambda: latency(engine),
            "crowd": lambda: crowd(engine),
            "load": lambda: [load(engine, asked.minutes / 2, asked.clients, w) for w in (False, True)] and None,
        }
        measured[asked.what]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
