"""dbt builds a project twice, and its own suite for adapters passes.

``make dbt`` installs it in an environment of its own, whose programs ``DBT`` names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from warehouse.server.endpoint import Endpoint

HERE = Path(__file__).parent / "dbt"
DBT = os.environ.get("DBT")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not DBT, reason="DBT names the dbt to test with: make dbt")]


def ran(folder: Path, program: str, *words: str, **env: str) -> str:
    """Run a program of dbt's environment and return what it printed, its mistakes too."""
    done = subprocess.run(
        [Path(DBT or "").absolute().with_name(program), *words],
        env=os.environ | {"DBT_PROFILES_DIR": str(folder), "DO_NOT_TRACK": "1", **env}, cwd=folder, timeout=3000,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.stdout


def test_a_project_is_built_twice(endpoint: Endpoint, tmp_path: Path) -> None:
    project = shutil.copytree(HERE / "shop", tmp_path / "shop")
    (project / "profiles.yml").write_text(
        "shop: {target: dev, outputs: {dev: {type: spark, method: thrift, host: 127.0.0.1, "
        f"port: {endpoint.port}, user: dbt, schema: shop, threads: 1, poll_interval: 0}}}}}}\n"
    )
    for _ in range(2):
        told = ran(project, "dbt", "--no-use-colors", "build")
        assert "PASS=8 WARN=0 ERROR=0" in told, told
    log = (project / "logs" / "dbt.log").read_text()
    assert log.count("merge into") == 2  # the second build's, of the incremental model and of the snapshot
    assert "Completed successfully" in log
    assert "Catalog written" in ran(project, "dbt", "--no-use-colors", "docs", "generate")
    listed = json.loads((project / "target" / "catalog.json").read_text())["nodes"]
    assert {name.rpartition(".")[2] for name in listed} == {
        "doubled", "grown", "totals_view", "scores", "scores_snapshot"
    }  # fmt: skip


def test_the_basic_suite_of_its_adapter(endpoint: Endpoint, tmp_path: Path) -> None:
    shutil.copy(HERE / "basic.py", tmp_path / "test_basic.py")
    words = ["-m", "pytest", "-q", "-p", "dbt.tests.fixtures.project", "--rootdir", str(tmp_path), "test_basic.py"]
    told = ran(tmp_path, "python", *words, WAREHOUSE_PORT=str(endpoint.port))
    assert "13 passed" in told and "failed" not in told and "skipped" not in told, told
