"""What Spark's checkpoint notes beyond its last batch is forgotten, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

from warehouse.streaming.feeding.checkpoint import forget_aged, forget_unplanned


def noted(*batches: int) -> str:
    return "\n".join(["v1", *(json.dumps({"path": f"file:///{b}", "timestamp": 1, "batchId": b}) for b in batches)])


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def listed(folder: Path) -> dict[str, str]:
    return {str(f.relative_to(folder)): f.read_text() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_entries_after_the_last_batch_go(tmp_path: Path) -> None:
    kept = {
        "offsets/0": "v1\n{}\n-\n{\"logOffset\":0}",
        "offsets/1": "v1\n{}\n{\"logOffset\":1}\n{\"logOffset\":0}",
        "sources/0/0": noted(0), "sources/0/1": noted(1), "sources/1/0": noted(0), "sources/0/.1.crc": "x",
    }  # fmt: skip
    write(tmp_path, kept | {"sources/0/2": noted(2), "sources/0/.2.crc": "x", "sources/1/1": noted(1)})
    forget_unplanned(tmp_path)
    assert listed(tmp_path) == kept


def test_a_compacted_entry_keeps_what_it_alone_knows(tmp_path: Path) -> None:
    write(tmp_path, {"offsets/8": 'v1\n{}\n{"logOffset":8}', "sources/0/9.compact": noted(*range(10))})
    forget_unplanned(tmp_path)
    assert listed(tmp_path / "sources") == {"0/9.compact": noted(*range(9))}


def test_before_the_first_batch_and_for_other_sources(tmp_path: Path) -> None:
    forget_unplanned(tmp_path / "nowhere")
    write(tmp_path / "new", {"sources/0/0": noted(0)})
    forget_unplanned(tmp_path / "new")
    assert listed(tmp_path / "new") == {}
    kafka = {"offsets/0": 'v1\n{}\n{"topic":{"0":5}}', "sources/0/0": "v1\n{}"}
    write(tmp_path / "kafka", kafka)
    forget_unplanned(tmp_path / "kafka")
    assert listed(tmp_path / "kafka") == kafka


def aged(*times: int) -> str:
    return "\n".join(["v1", *(json.dumps({"path": f"file:///{t}", "timestamp": t, "batchId": 0}) for t in times)])


def test_files_of_the_batch_that_may_come_again_are_kept_however_old(tmp_path: Path) -> None:
    old = [json.dumps({"path": f"file:///{b}", "timestamp": 1, "batchId": b}) for b in (8, 9)]
    new = json.dumps({"path": "file:///new", "timestamp": 100_000, "batchId": 9})
    write(tmp_path, {"sources/0/9.compact": "\n".join(["v1", *old, new])})
    forget_aged(tmp_path, 0, "1m")
    assert listed(tmp_path / "sources") == {"0/9.compact": "\n".join(["v1", old[1], new])}


def test_files_that_are_too_old_to_be_taken_again_are_forgotten(tmp_path: Path) -> None:
    write(tmp_path, {"sources/0/9.compact": aged(1, 40_000, 99_999, 100_000), "sources/0/.9.compact.crc": "x"})
    forget_aged(tmp_path, 0, "1m")
    assert listed(tmp_path / "sources") == {"0/9.compact": aged(40_000, 99_999, 100_000)}


def test_files_stay_that_may_be_taken_again_or_are_not_in_the_newest_entry(tmp_path: Path) -> None:
    kept = {"sources/0/9.compact": aged(1, 60_001), "sources/0/.9.compact.crc": "x"}
    write(tmp_path, kept)
    forget_aged(tmp_path, 0, "1h")
    forget_aged(tmp_path, 1, "1s")
    write(tmp_path, {"sources/0/10": aged(70_000)})
    forget_aged(tmp_path, 0, "1s")
    assert listed(tmp_path) == kept | {"sources/0/10": aged(70_000)}
