"""From a record in Kafka to a row that can be read: streaming tables that run on, a step each second.

A broker on loopback; a producer sends records at an even pace and notes when. Each is read by one step, and can be read
from the table once that step is committed, which ``stream_progress`` tells. Two tables: one with a row for each record,
one with counts per key and minute that are emitted anew with each record. A minute warms up, the next one counts. At
last a reader asks again and again for the newest row: what it sees is late by its own query too, and by what that takes
from the step's two cores.

Usage: ``python -m benchmarks latency [--readers python,spark] [--rates 100,1000] [--seconds 60] [--interval 1]``.
Writes ``benchmarks/out/latency.{md,json}``.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import arguments, report
from benchmarks.systems import Warehouse
from tests import broker, connector

TABLES = {
    "a row a record": "SELECT number, key, sent FROM STREAM record",
    "counts, each minute": "SELECT key, count(*) AS n, max(sent) AS sent FROM STREAM record GROUP BY key"
    " WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE) TRIGGER EVERY ROW",
}
KEYS = 100
BATCHES = 50
"""So many times a second the producer sends what is due."""


@dataclass(frozen=True)
class Run:
    """What one table did with records that came at one rate, in seconds.

    Attributes:
        reader: of Kafka. rate: records a second.
        records: from being sent to the step's commit, of each that counts. steps: what those steps took.
        read: from being sent to being seen by a reader, of the newest record in each of its answers.
    """

    table: str
    reader: str
    rate: int
    records: tuple[float, ...]
    steps: tuple[float, ...]
    read: tuple[float, ...]


@contextmanager
def producing(servers: str, topic: str, rate: int) -> Iterator[list[float]]:
    """Send records to partition 0 of a topic, until left; the list grows by the times at which they are sent."""
    from confluent_kafka import Producer

    sent, is_over = list[float](), threading.Event()
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 1})

    def send() -> None:
        begun = time.time()
        while not is_over.wait(max(0.0, begun + len(sent) / rate - time.time())):
            for _ in range(max(1, rate // BATCHES)):
                now, number = time.time(), len(sent)
                value = {"number": number, "key": number % KEYS, "sent": now, "at": _text(now)}
                producer.produce(topic, json.dumps(value).encode(), partition=0)
                sent.append(now)
            producer.poll(0)
        producer.flush(20)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield sent
    finally:
        is_over.set()
        thread.join()


def one(
    system: Warehouse, servers: str, topic: str, table: str, reader: str, rate: int, interval: str, seconds: int
) -> Run:
    """Let a table run on over what is sent; return what was seen."""
    system.run(
        "CREATE STREAM record (number BIGINT, key BIGINT, sent DOUBLE, at TIMESTAMP) USING kafka OPTIONS"
        f" (kafka.bootstrap.servers '{servers}', subscribe '{topic}', value.format 'json', reader '{reader}')"
        " WATERMARK at DELAY OF INTERVAL 5 SECONDS"
    )
    system.run(f"CREATE STREAMING TABLE measured AS {TABLES[table]}")
    with producing(servers, topic, rate) as sent:
        system.run(f"START STREAMING TABLE measured EVERY INTERVAL {interval} SECONDS")
        time.sleep(seconds)
        counted = len(sent)
        time.sleep(seconds)
        until = len(sent)
        read, stop = list[float](), time.time() + seconds / 3
        while time.time() < stop:
            newest = system.run("SELECT max(sent) AS sent FROM measured")["sent"][0].as_py()
            read.append(time.time() - newest)
    system.run("STOP STREAMING TABLE measured")
    progress = system.run(
        "SELECT rows_in, seconds, unix_micros(emitted_at) / 1e6 AS began FROM stream_progress('measured') ORDER BY step"
    ).to_pylist()
    system.run("DROP STREAMING TABLE measured; DROP STREAM record")
    ends = list(itertools.accumulate(step["rows_in"] for step in progress))
    records, steps = list[float](), list[float]()
    for step, end in zip(progress, ends, strict=True):
        done = step["began"] + step["seconds"]
        mine = range(max(counted, end - step["rows_in"]), min(until, end))
        records += [done - sent[number] for number in mine]
        steps += [step["seconds"]] if mine else []
    return Run(table, reader, rate, tuple(records), tuple(steps), tuple(read))


def _text(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat()


def main(argv: list[str] | None = None) -> int:
    """Run everything, print the table and write it down."""
    parser = arguments.parser("latency", __doc__)
    parser.add_argument("--readers", default="python", help="python, spark or both")
    parser.add_argument("--rates", default="100,1000", help="records a second")
    parser.add_argument("--seconds", type=int, default=60, help="that count, as long after it began")
    parser.add_argument("--interval", default="1", help="seconds from step to step")
    chosen = parser.parse_args(argv)
    runs = []
    with broker.running() as brokers, tempfile.TemporaryDirectory() as scratch:
        readers, rates = chosen.readers.split(","), map(int, chosen.rates.split(","))
        system = Warehouse.open(Path(scratch), connector.settings() if "spark" in readers else {})
        for table, reader, rate in itertools.product(TABLES, readers, rates):
            topic = brokers.topic(f"topic{len(runs)}")
            runs.append(one(system, brokers.servers, topic, table, reader, rate, chosen.interval, chosen.seconds))
            print(told(runs[-1:]), file=sys.stderr, flush=True)
        system.close()
    report.keep("latency", told(runs), runs)
    return 0


def told(runs: list[Run]) -> str:
    """Return the table."""
    header = ["table", "reader", "records a second", "p50", "p95", "p99", "a step, median", "seen by a reader, median"]
    lines = []
    for run in runs:
        parts = statistics.quantiles(run.records, n=100)
        figures = [parts[49], parts[94], parts[98], statistics.median(run.steps), statistics.median(run.read)]
        lines.append([run.table, run.reader, run.rate, *(f"{figure:.2f}" for figure in figures)])
    return report.table(header, lines)
