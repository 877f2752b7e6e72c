"""A process that opens the folder and refreshes its tables, to be killed; and one that tells what came of it.

``python -m tests.recovery.life refresh|run|compare|judge FOLDER [TABLE …]``: ``FOLDER/data`` holds the files,
``FOLDER/house`` the warehouse, and ``FOLDER/broker``, where there is one, the address of a broker: some of the tables
read from it then, by both readers, one sends its panes to it, and one is distributed.

``refresh`` touches ``FOLDER/refreshing`` before its first REFRESH and ``FOLDER/refreshed`` after the last one. ``run``
touches ``FOLDER/refreshing`` when the tables run on, and lets them until it is killed. ``compare`` refreshes, does the
same with twins that nobody killed, and writes to ``FOLDER/judgement.json`` how they differ; ``judge`` drains as well,
and so comes last.

The twins read the same input in the same steps: a file each, a transaction each. So everything of the two is equal
but the machine's clock, down to the number of the step, the watermark and the index of each pane. The one exception
is ``over``, which reads what ``plain`` has emitted when it looks: its steps differ from run to run. Of it, what stands
in the end is compared and what it set aside, that it read each pane of ``plain`` once, and that its panes are numbered
without a gap.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests import connector
from tests.recovery.scenery import (
    READ_BY,
    SMALL,
    SPREAD,
    TABLES,
    compared,
    differences,
    sent,
    stream,
    table,
    topic_stream,
    topic_streams,
)
from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.streaming import log
from warehouse.streaming.delta import upkeep
from warehouse.streaming.kafka import client as kafka_client
from warehouse.streaming.state import slices, state

SETTINGS = SMALL | connector.settings()
CLOCK = ("_emitted_at", "_at")
ONE_FILE_A_STEP = ", maxFilesPerTrigger '1'"


def refresh(root: Path, names: list[str]) -> None:
    with Engine.open(root / "house", SETTINGS) as engine:
        _make(engine, root, "s")
        (root / "refreshing").touch()
        for name in names:
            rows_of(engine, f"REFRESH STREAMING TABLE {name}_s")
        (root / "refreshed").touch()


def run(root: Path, names: list[str]) -> None:
    """Let the tables run on; what piles up is put together so often that each kind of write comes within seconds."""
    state.MOST_DELTAS, slices.MOST_FOLDERS, log.LOOSE, upkeep.STEPS = 1, 0, 3, 2
    with Engine.open(root / "house", SETTINGS) as engine:
        _make(engine, root, "s")
        for name in names:
            rows_of(engine, f"START STREAMING TABLE {name}_s EVERY INTERVAL 1 SECOND")
        (root / "refreshing").touch()
        started = [e for e in engine.catalog.streaming_tables.all() if e.name.removesuffix("_s") in names]
        while all(map(engine.tables.running.runs, started)):
            time.sleep(0.1)
        for name in names:
            rows_of(engine, f"STOP STREAMING TABLE {name}_s")  # tells why it has ended


def judge(root: Path, names: list[str], last: bool = True) -> None:
    with Engine.open(root / "house", SETTINGS) as engine:
        _make(engine, root, "u")
        for twin in "su":
            for name in names:
                rows_of(engine, f"REFRESH STREAMING TABLE {name}_{twin}")
        alike = [name for name in names if name != "over"]
        found = [*differences(engine, alike, CLOCK), *_of_steps(engine, alike), *_of_bad_rows(engine, "{}")]
        if servers := _servers(root):
            for reader in READ_BY.values():
                found += _of_bad_rows(engine, topic_stream(reader, "{}"))
            found += [*_of_partitions(engine), *_of_what_was_sent(servers)]
        if "over" in names:
            found += [*_of_bad_rows(engine, "plain_{}"), *(_of_over(engine) if last else ())]
        read = rows_of(engine, "SELECT sum(rows_in) AS n FROM stream_progress('plain_s')")[0]["n"]
        panes = rows_of(engine, "SELECT count(*) AS n FROM panes('fixed_s')")[0]["n"]
    (root / "judgement.json").write_text(json.dumps({"differences": found, "rows": read, "panes": panes}))


def _of_steps(engine: Engine, names: list[str]) -> Iterator[str]:
    """Yield what tells the steps of tables from those of their twins: what they read and what they made of it."""
    counts = "step, rows_in, late, finished, bad, panes, panes_early, panes_on_time, panes_late, withdrawals, watermark"
    for name in names:
        yield from compared(engine, f"(SELECT {counts} FROM stream_progress('{name}_{{}}'))")


def _of_bad_rows(engine: Engine, source: str) -> Iterator[str]:
    """Yield what tells the bad rows as they are stored, of each table its own: the relation shows them once for all."""
    path = engine.folder / "streams" / f"default.{source}" / "bad_rows"
    yield from compared(
        engine, f"(SELECT *, rtrim('su', _table) AS whose FROM delta.`{path}`)", [*CLOCK, "_table", "__w_reader"]
    )


def _of_partitions(engine: Engine) -> Iterator[str]:
    """Yield what tells the panes of the distributed table where its rows are added up without a shuffle."""
    yield from compared(engine, f"(SELECT k, count(*), sum(total), sum(n) FROM {SPREAD}_{{}} GROUP BY k)")


def _of_what_was_sent(servers: str) -> Iterator[str]:
    """Yield what tells the records of the two topics; those of a key are in the same order."""
    one, other = (_received(servers, sent(twin)) for twin in "su")
    if one != other:
        first = next((n for n, both in enumerate(zip(one, other, strict=False)) if both[0] != both[1]), None)
        yield f"sent: {len(one)} records, not {len(other)}; the first that differs, by key, is number {first}"


def _received(servers: str, topic: str) -> list[tuple[str, str]]:
    config = kafka_client.configuration({"kafka.bootstrap.servers": servers})
    end = kafka_client.Broker(config).marks([(topic, 0)]).latest[topic, 0]
    lists = kafka_client.messages(config, (topic, 0), 0, end, 60, lambda first: None)
    taken = [(m.key().decode(), json.loads(m.value())) for some in lists for m in some]
    return sorted(((key, str(value | {"_emitted_at": None})) for key, value in taken), key=lambda record: record[0])


def _of_over(engine: Engine) -> Iterator[str]:
    read = "SELECT sum(rows_in) AS n FROM stream_progress('over_s')"
    given = "SELECT count(*) AS n FROM panes('plain_s')"
    if rows_of(engine, read) != rows_of(engine, given):
        yield "over: has not read each of the rows of plain once"
    for twin in "su":
        rows_of(engine, f"DRAIN STREAMING TABLE over_{twin}")
    yield from compared(engine, "over_{}")
    panes = "SELECT k, window_start, count(*) AS n, max(_pane_index) AS last FROM panes('over_s') GROUP BY ALL"
    yield from (f"over: {row} panes" for row in rows_of(engine, f"SELECT * FROM ({panes}) WHERE n <> last + 1"))
    newest = "SELECT k, window_start, max_by(total, _pane_index) AS total FROM panes('over_{}') GROUP BY ALL"
    yield from compared(engine, f"({newest})")


def _make(engine: Engine, root: Path, twin: str) -> None:
    """Make what is not there yet: a kill may have come in between."""
    known = {e.name for e in (*engine.catalog.streams.all(), *engine.catalog.streaming_tables.all())}
    servers = _servers(root)
    made = {twin: stream(twin, root / "data", ONE_FILE_A_STEP)}
    if servers:
        made |= topic_streams(twin, servers)
    made |= {f"{n}_{twin}": table(n, twin, servers) for n in TABLES}
    for name, text in made.items():
        if name not in known:
            rows_of(engine, text)


def _servers(root: Path) -> str | None:
    return (root / "broker").read_text() if (root / "broker").exists() else None


if __name__ == "__main__":
    acts = {"refresh": refresh, "run": run, "compare": partial(judge, last=False), "judge": judge}
    acts[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:] or list(TABLES))
