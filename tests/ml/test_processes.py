"""A model made in one process predicts in another, over a table and over a stream inside a streaming table."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak


def ran(warehouse: Path, text: str) -> list[list[str]]:
    """Return the rows of the last statement, from a process of its own."""
    words = ["--embedded", "--warehouse", str(warehouse), "--format", "csv", "-e", text]
    code = "import sys; from warehouse.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def test_a_model_of_another_process(tmp_path: Path) -> None:
    warehouse, landing = tmp_path / "warehouse", tmp_path / "landing"
    landing.mkdir()
    lines = "".join(f'{{"id": {n}, "x": {n * n % 17}.0}}\n' for n in range(40))
    (landing / "1.json").write_text(lines)
    first = ran(
        warehouse,
        "CREATE TABLE seen AS SELECT CAST(id AS INT) AS id, DOUBLE(id * id % 17) AS x, id * id % 17 > 8 AS y"
        " FROM range(40);"
        "GENERATE ML RandomForestClassifier(seen, y, features => x, num_trees => 3) AS MODEL told AS TABLE kept;"
        "SELECT id, prediction, probability[1] FROM kept ORDER BY id",
    )
    assert len(first) == 40 and len({row[1] for row in first}) == 2
    second = ran(
        warehouse,
        f"CREATE STREAM coming (id INT, x DOUBLE) USING json OPTIONS (path '{landing}');"
        "CREATE STREAMING TABLE streamed AS"
        " SELECT id, prediction, probability[1] AS p FROM ML_PREDICT(STREAM coming, MODEL told);"
        "SELECT id, t.prediction, probability[1], s.prediction, s.p"
        " FROM ML_PREDICT(TABLE seen, MODEL told) AS t JOIN streamed AS s USING (id) ORDER BY id",
    )
    assert [row[:3] for row in second] == first
    assert [[row[0], *row[3:]] for row in second] == first
