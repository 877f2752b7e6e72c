"""Flink SQL as a peer: a process of its own Python environment (``make flink``), asked over pipes.

It runs in one JVM, a local cluster of two slots, on the state it keeps in RocksDB with a checkpoint every ten seconds
and Parquet files as results; or on the heap, without checkpoints, its results thrown away.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pyarrow import parquet

PYTHON = Path(__file__).parents[2] / ".venv-flink" / "bin" / "python"
DURABLE, HEAP = "Flink, RocksDB", "Flink, heap, nothing kept"
SYSTEMS = (DURABLE, HEAP)

_SETTINGS = {
    "parallelism.default": "2",
    "table.local-time-zone": "UTC",
    "taskmanager.memory.managed.size": "1g",  # of which it has 128 MB otherwise, and RocksDB took eight times as long
}


@dataclass(frozen=True)
class Source:
    """A table of Parquet files, which are read until they end.

    Attributes:
        folder: of the files. columns: of the table in Flink's SQL, with its watermark.
    """

    folder: Path
    columns: str

    @classmethod
    def events(cls, folder: Path, columns: str, delay: str) -> Source:
        """Return events of columns in Spark's SQL, one of them ``at``, whose watermark is so late (``4 seconds``)."""
        count, unit = delay.split()
        return cls(folder, f"{_translated(columns)}, {_watermark('at', count, unit.rstrip('s'))}")

    @classmethod
    def lookup(cls, folder: Path, columns: str) -> Source:
        """Return what events are joined to ``FOR SYSTEM_TIME AS OF`` any time, by the first column."""
        key = columns.split()[0]
        since = f"since AS TIMESTAMP '1970-01-01 00:00:00', {_watermark('since', '0', 'second')}"
        return cls(folder, f"{_translated(columns)}, PRIMARY KEY (`{key}`) NOT ENFORCED, {since}")


def _translated(columns: str) -> str:
    """Return columns of Spark's SQL in Flink's."""
    named = (column.split() for column in columns.split(","))
    return ", ".join(f"`{name}` {_TYPES.get(kind.upper(), kind)}" for name, kind in named)


def _watermark(column: str, count: str, unit: str) -> str:
    return f"WATERMARK FOR `{column}` AS `{column}` - INTERVAL '{count}' {unit}"


class Flink:
    """A process that runs one query after the other; to be closed, or used with ``with``.

    Attributes:
        jvm: the id of the process that does the work.

    Raises:
        FileNotFoundError: Flink is not installed: ``make flink``.
    """

    def __init__(self) -> None:
        """Start the process."""
        command = [str(PYTHON), str(Path(__file__).with_name("job.py"))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.jvm = int(self._told("process", "its start"))

    def __enter__(self) -> Flink:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """End the process, and with it its JVM."""
        self._process.communicate()

    def run(
        self,
        sources: Mapping[str, Source],
        select: str,
        system: str,
        place: Path,
        views: Mapping[str, str] | None = None,
    ) -> float:
        """Run a query over sources until they end; return the seconds from its submission.

        Args:
            sources: by the names that the query knows them by.
            select: the query.
            system: one of ``SYSTEMS``.
            place: for checkpoints and, in ``out``, results; a folder that does not exist yet.
            views: by their names the queries that it is over, each over those before.

        Raises:
            RuntimeError: the query failed.
        """
        durable = {
            "execution.checkpointing.interval": "10 s",
            "execution.checkpointing.dir": f"file://{place}/checkpoints",
            "execution.checkpointing.incremental": "true",
            "state.backend.type": "rocksdb",
        }
        return self._ask(
            {**_SETTINGS, **(durable if system == DURABLE else {})},
            (
                *(f"CREATE TABLE {name} ({it.columns}) WITH ({_parquet(it.folder)})" for name, it in sources.items()),
                *(f"CREATE TEMPORARY VIEW {name} AS {text}" for name, text in (views or {}).items()),
            ),
            f"CREATE TABLE answer WITH ({_parquet(place / 'out') if system == DURABLE else _THROWN_AWAY}) AS {select}",
        )

    def _ask(self, settings: dict[str, str], statements: Sequence[str], job: str) -> float:
        assert self._process.stdin
        asked = json.dumps({"settings": settings, "statements": statements, "job": job})
        print(asked, file=self._process.stdin, flush=True)
        return float(self._told("seconds", job))

    def _told(self, word: str, doing: str) -> str:
        """Return what the process says after a word."""
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith(f"{word} "):
                return line.split()[1]
        raise RuntimeError(f"Flink ended in {doing}")


def written(place: Path) -> int:
    """Return how many rows a durable run has written in its place."""
    return sum(parquet.read_metadata(file).num_rows for file in (place / "out").glob("part-*"))


def clear(place: Path) -> None:
    """Remove what a run left in its place, of which Flink may still be removing checkpoints."""
    shutil.rmtree(place, ignore_errors=True)


def _parquet(folder: Path) -> str:
    return f"'connector' = 'filesystem', 'path' = 'file://{folder}', 'format' = 'parquet'"


_THROWN_AWAY = "'connector' = 'blackhole'"
_TYPES = {"TIMESTAMP": "TIMESTAMP(3)"}
