"""The warehouse folder's own record, and its lock, without an engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.errors import WarehouseError
from warehouse.execution import folder as folders
from warehouse.execution import lock, session
from warehouse.execution.relocate import moved


def refusal(path: Path) -> str:
    with pytest.raises(WarehouseError) as caught:
        folders.examine(path)
    return str(caught.value)


def test_a_new_folder_is_made_and_recorded(tmp_path):
    found = folders.examine(tmp_path / "a" / "b")
    assert (found.path, found.moved_from) == (tmp_path / "a" / "b", None)
    folders.record(found)
    assert folders.examine(tmp_path / "a" / "b").moved_from is None


def test_a_moved_folder_knows_where_it_was(tmp_path):
    folders.record(folders.examine(tmp_path / "a"))
    (tmp_path / "a").rename(tmp_path / "b")
    assert folders.examine(tmp_path / "b").moved_from == tmp_path / "a"


def test_a_link_is_the_same_folder(tmp_path):
    folders.record(folders.examine(tmp_path / "a"))
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert folders.examine(tmp_path / "link") == folders.Folder(tmp_path / "a")


def test_a_file_is_refused(tmp_path):
    (tmp_path / "f").write_text("")
    assert refusal(tmp_path / "f").startswith(f"[WAREHOUSE_FOLDER_IS_A_FILE] {tmp_path / 'f'} is a file;")
    assert "WAREHOUSE_FOLDER_UNWRITABLE" in refusal(tmp_path / "f" / "below")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_an_unwritable_folder_is_refused(tmp_path):
    tmp_path.chmod(0o555)
    assert "WAREHOUSE_FOLDER_UNWRITABLE" in refusal(tmp_path)
    assert "WAREHOUSE_FOLDER_UNWRITABLE" in refusal(tmp_path / "below")


def test_a_newer_folder_is_refused(tmp_path):
    (tmp_path / "folder.json").write_text(json.dumps({"format": 99, "path": str(tmp_path)}))
    assert f"[WAREHOUSE_FOLDER_NEWER] The warehouse {tmp_path} has format 99" in refusal(tmp_path)


@pytest.mark.parametrize("text", ["", "{}", '{"format": "x", "path": "/"}', "[]"])
def test_a_damaged_record_is_refused(tmp_path, text):
    (tmp_path / "folder.json").write_text(text)
    assert "WAREHOUSE_FOLDER_UNREADABLE" in refusal(tmp_path)


def test_a_folder_has_one_holder(tmp_path):
    assert lock.holder(tmp_path) is None
    held = lock.acquire(tmp_path)
    found = lock.holder(tmp_path)
    assert found is not None and found.pid == os.getpid()
    with pytest.raises(WarehouseError) as caught:
        lock.acquire(tmp_path)
    assert (caught.value.condition, caught.value.sqlstate) == ("WAREHOUSE_FOLDER_IN_USE", "55006")
    assert f"in use by process {os.getpid()}, since {found.started}." in str(caught.value)
    lock.release(held)
    assert lock.holder(tmp_path) is None
    lock.release(lock.acquire(tmp_path))


def test_a_killed_holder_holds_nothing(tmp_path):
    text = (
        "import os, sys, pathlib; from warehouse.execution import lock;"
        "held = lock.acquire(pathlib.Path(sys.argv[1])); print('held', flush=True); os.kill(os.getpid(), 9)"
    )
    process = subprocess.run([sys.executable, "-c", text, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (process.stdout, process.returncode) == ("held\n", -9)
    lock.release(lock.acquire(tmp_path))


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ("file:/a/b", "file:/c d"),
        ("file:/a/b/t", "file:/c d/t"),
        ("file:///a/b/t", "file:///c d/t"),
        ("/a/b/t", "/c d/t"),
        ("file:/a/bc/t", "file:/a/bc/t"),
        ("s3a://bucket/a/b/t", "s3a://bucket/a/b/t"),
        ('{"text": "/a/b"}', '{"text": "/a/b"}'),
    ],
)
def test_only_locations_inside_move(value, after):
    assert moved(value, Path("/a/b"), Path("/c d")) == after


def test_encoded_locations_stay_encoded():
    assert moved("file:/a%20b/t", Path("/a b"), Path("/c d")) == "file:/c%20d/t"


def test_a_catalog_that_was_never_finished_is_made_anew(tmp_path):
    place = folders.Folder(tmp_path)
    database = place.metastore / "db"
    database.mkdir(parents=True)
    session._clear_unfinished(place)
    assert not database.exists()
    (place.tables / "t").mkdir(parents=True)
    session._clear_unfinished(place)
    database.mkdir()
    with pytest.raises(WarehouseError, match="WAREHOUSE_CATALOG_DAMAGED"):
        session._clear_unfinished(place)
    (database / "service.properties").touch()
    session._clear_unfinished(place)
    assert database.exists()
