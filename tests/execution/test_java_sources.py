"""Java sources are compiled once, and again when they change."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from warehouse.engine import Engine
from warehouse.execution import jars, java_sources


def written(folder: Path, answer: int) -> Path:
    """Return a folder of sources: a class, named after what it answers, and one inside it."""
    (folder / "seen").mkdir(parents=True)
    (folder / "seen" / f"Answer{answer}.java").write_text(
        f"package seen; public class Answer{answer} {{ public static class Inner {{"
        f" public int given() {{ return {answer}; }} }} public Inner inner() {{ return new Inner(); }} }}"
    )
    return folder


def test_what_was_compiled_is_used_again(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "folder", lambda: tmp_path)
    gateway = engine.spark.sparkContext._gateway
    sources = written(tmp_path / "one", 42)
    java_sources.keep(gateway, sources)
    (kept,) = tmp_path.glob("compiled-*")
    found = sorted(kept.rglob("*.class"))
    assert [file.name for file in found] == ["Answer42$Inner.class", "Answer42.class"]
    before = [file.stat().st_mtime_ns for file in found]
    compiled = java_sources.load(gateway, sources, "seen.Answer42")
    assert "CachingJavaSourceClassLoader" in compiled.getClassLoader().getClass().getName()
    assert compiled.newInstance().inner().given() == 42
    java_sources.keep(gateway, sources)
    assert [file.stat().st_mtime_ns for file in found] == before
    assert list(tmp_path.glob("compiled-*")) == [kept]

    other = written(tmp_path / "two", 43)
    assert java_sources.load(gateway, other, "seen.Answer43").newInstance().inner().given() == 43


def test_a_package_of_what_was_compiled_is_packed_for_tasks(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "folder", lambda: tmp_path)
    sources = written(tmp_path / "one", 45)
    assert java_sources.jar(sources, "seen") is None, "nothing is compiled yet"
    java_sources.keep(engine.spark.sparkContext._gateway, sources)
    packed = java_sources.jar(sources, "seen")
    assert packed is not None
    with zipfile.ZipFile(packed) as jar:
        assert jar.namelist() == ["seen/Answer45$Inner.class", "seen/Answer45.class"]
    assert java_sources.jar(sources, "seen") == packed
    assert not list(tmp_path.glob("tmp*"))


def test_no_method_locks_its_class_instead_of_its_object() -> None:
    sources = list((Path(__file__).parents[2] / "warehouse").rglob("*.java"))
    both = re.compile(r"\b(private\b.*\bsynchronized|synchronized\b.*\bprivate)\b.*\(.*\{")
    assert len(sources) > 40
    assert [file.name for file in sources if both.search(file.read_text())] == []


def test_nothing_is_kept_where_nothing_can_be_written(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "folder", lambda: tmp_path / "nowhere")
    gateway = engine.spark.sparkContext._gateway
    sources = written(tmp_path / "one", 44)
    java_sources.keep(gateway, sources)
    assert java_sources.load(gateway, sources, "seen.Answer44").newInstance().inner().given() == 44
