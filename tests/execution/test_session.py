"""One process, one JVM, many folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.execution.scenes import play, seen

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("life")


@pytest.fixture(scope="module")
def outcome(root):
    return play("life", root)


@pytest.fixture(scope="module")
def life(root, outcome):
    assert outcome.returncode == 0, outcome.stderr
    return seen(root)


def test_an_engine_prints_nothing(outcome, life):
    assert (outcome.stdout, outcome.stderr) == ("", "")
    assert life["error"] == "AnalysisException"


def test_the_session_is_set_up_for_a_warehouse(life):
    assert life["settings"] == {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "2"}
    assert life["provider"] == "delta"
    assert life["spark_jars"] == ""
    assert life["interrupt_is_pythons"]


def test_the_jvm_gets_what_spark_gives_its_own(life):
    assert life["module_options_agree"]


def test_a_second_warehouse_in_the_process_is_refused(life, root):
    assert life["second_start"].startswith(
        f"[WAREHOUSE_ENGINE_RUNNING] This process already has the warehouse {root / 'first house'} open."
    )


def test_folders_in_one_jvm_are_apart(life):
    assert life["other_tables"] == []


CONTENTS = [3, 1, 7, 8]


def locations(root: Path, house: Path) -> list[str]:
    inside = [f"file:{house}/tables/t", f"file:{house}/tables/q", f"file:{house}/tables/d.db/u"]
    return [*inside, f"file:{root}/outside"]


def test_a_copy_stands_on_its_own(life, root):
    assert life["copy_moved_from"] == str(root / "first house")
    assert life["copy_rows"] == CONTENTS
    assert life["copy_locations"] == locations(root, root / "cöpy")
    assert life["copied_again"] == 0


def test_the_original_does_not_notice_its_copy(life, root):
    assert life["original_rows"] == CONTENTS
    assert life["original_locations"] == locations(root, root / "first house")


def test_a_folder_may_move_into_where_it_was(life, root):
    assert life["inner_rows"] == CONTENTS
    assert life["inner_locations"] == locations(root, root / "first house" / "inner")


def test_nothing_is_left_behind(life, root):
    left = {path.name for path in (root / "cöpy").iterdir()}
    assert left == {"engine.lock", "engine.jvm.lock", "folder.json", "logs", "metastore", "tables"}
    inner = {path.name for path in (root / "first house" / "inner").iterdir()}
    assert inner == left
