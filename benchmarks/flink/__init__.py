"""Flink SQL as a peer: a process of its own Python environment (``make flink``), asked over pipes.

It runs in one JVM, a local cluster of two slots, on the state it keeps in RocksDB with a checkpoint every ten seconds
and Parquet files as results; or on the heap, without checkpoints, its results thrown away.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

PYTHON = Path(__file__).parents[2] / ".venv-flink" / "bin" / "python"
DURABLE, HEAP = "Flink, RocksDB", "Flink, heap, nothing kept"
SYSTEMS = (DURABLE, HEAP)

_SETTINGS = {
    "parallelism.default": "2",
    "table.local-time-zone": "UTC",
    "taskmanager.memory.managed.size": "1g",  # of which it has 128 MB otherwise, and RocksDB took eight times as long
}


@dataclass(frozen=True)
class Query:
    """One aggregation in Flink's SQL.

    Attributes:
        events: columns and watermark of the table ``events``. panes: columns of the table ``panes``.
        select: from ``events``, what goes into ``panes``.
    """

    events: str
    panes: str
    select: str


class Flink:
    """A process that runs one query after the other; to be closed, or used with ``with``.

    Raises:
        FileNotFoundError: Flink is not installed: ``make flink``.
    """

    def __init__(self) -> None:
        """Start the process."""
        command = [str(PYTHON), str(Path(__file__).with_name("job.py"))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> Flink:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """End the process, and with it its JVM."""
        self._process.communicate()

    def run(self, query: Query, files: Path, system: str, place: Path) -> float:
        """Run a query over Parquet files until they end; return the seconds from its submission.

        Args:
            query: what to run.
            files: the folder of the events.
            system: one of ``SYSTEMS``.
            place: for checkpoints and, in ``out``, results; a folder that does not exist yet.

        Raises:
            RuntimeError: the query failed.
        """
        durable = {
            "execution.checkpointing.interval": "10 s",
            "execution.checkpointing.dir": f"file://{place}/checkpoints",
            "execution.checkpointing.incremental": "true",
            "state.backend.type": "rocksdb",
        }
        kept = f"'connector' = 'filesystem', 'path' = 'file://{place}/out', 'format' = 'parquet'"
        read = f"'connector' = 'filesystem', 'path' = 'file://{files}', 'format' = 'parquet'"
        return self._ask(
            {**_SETTINGS, **(durable if system == DURABLE else {})},
            (
                f"CREATE TABLE events ({query.events}) WITH ({read})",
                f"CREATE TABLE panes ({query.panes}) WITH ({kept if system == DURABLE else _THROWN_AWAY})",
            ),
            f"INSERT INTO panes {query.select}",
        )

    def _ask(self, settings: dict[str, str], statements: Sequence[str], insert: str) -> float:
        assert self._process.stdin and self._process.stdout
        print(
            json.dumps({"settings": settings, "statements": statements, "insert": insert}),
            file=self._process.stdin, flush=True,
        )  # fmt: skip
        for line in self._process.stdout:
            if line.startswith("seconds "):
                return float(line.split()[1])
        raise RuntimeError(f"Flink ended while it ran {insert}")


_THROWN_AWAY = "'connector' = 'blackhole'"
