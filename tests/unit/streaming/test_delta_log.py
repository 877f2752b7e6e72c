"""Old commits of a Delta table go, as far as a checkpoint stands for them and nobody reads on from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warehouse.streaming.delta import delta_log


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_log, "KEPT", 3)


def table(folder: Path, newest: int, *checkpoints: int) -> Path:
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    for number in range(newest + 1):
        for kind in ("json", "crc", *(["checkpoint.parquet"] if number in checkpoints else [])):
            (log / f"{number:020}.{kind}").touch()
            (log / f".{number:020}.{kind}.crc").touch()
    if checkpoints:
        (log / "_last_checkpoint").write_text(json.dumps({"version": checkpoints[-1]}))
    return folder


def versions(table: Path) -> list[int]:
    return sorted(int(file.name[:20]) for file in (table / "_delta_log").glob("[0-9]*.json"))


def test_commits_before_a_checkpoint_go(tmp_path: Path) -> None:
    found = table(tmp_path, 9, 2, 4, 8)
    delta_log.trim(found, 9, None)
    assert versions(found) == [4, 5, 6, 7, 8, 9]
    names = {file.name for file in (found / "_delta_log").iterdir()}
    assert not [name for name in names if name.lstrip(".") < f"{4:020}"]
    assert {"_last_checkpoint", f"{4:020}.checkpoint.parquet", f".{8:020}.checkpoint.parquet.crc"} <= names


def test_what_is_read_from_stays(tmp_path: Path) -> None:
    found = table(tmp_path, 9, 2, 4, 8)
    delta_log.trim(found, 9, 3)
    assert versions(found)[0] == 2


def test_what_is_not_old_stays(tmp_path: Path) -> None:
    found = table(tmp_path, 9, 2, 4, 8)
    delta_log.trim(found, 3, None)
    assert versions(found)[0] == 2


@pytest.mark.parametrize("checkpoints", [(), (7,)])
def test_without_a_checkpoint_that_is_old_enough_all_stay(tmp_path: Path, checkpoints: tuple[int, ...]) -> None:
    found = table(tmp_path, 9, *checkpoints)
    delta_log.trim(found, 9, None)
    assert versions(found)[0] == 0


def test_a_checkpoint_counts_once_it_is_whole(tmp_path: Path) -> None:
    found = table(tmp_path, 9, 2, 4)
    (found / "_delta_log" / "_last_checkpoint").write_text(json.dumps({"version": 2}))
    delta_log.trim(found, 9, None)
    assert versions(found)[0] == 2


def test_readers_are_found_by_their_checkpoints(tmp_path: Path) -> None:
    """The last micro-batch of a reader may have to be repeated: it begins where the one before ended, or before it."""

    def noted(version: int, identity: str = "it") -> str:
        return "v1\n{}\n-\n" + json.dumps({"sourceVersion": 1, "reservoirId": identity, "reservoirVersion": version})

    for reader, versions in {"a": (9, 30, 31), "b": (40,)}.items():
        offsets = tmp_path / "streaming" / reader / "checkpoint" / "offsets"
        offsets.mkdir(parents=True)
        for number, version in enumerate(versions, start=9):
            (offsets / str(number)).write_text(noted(version))
    (tmp_path / "streaming/b/checkpoint/offsets/0").write_text(noted(1, "another"))
    assert delta_log.needed_by_readers(tmp_path, "it") == 29
    assert delta_log.needed_by_readers(tmp_path, "unread") is None


def test_the_newest_version_of_some_age(tmp_path: Path) -> None:
    found = table(tmp_path, 2)
    assert (delta_log.newest_version(found), delta_log.newest_version(found, before=60)) == (2, -1)
