"""What is looked at before an engine starts: Java, versions, jars, the folder."""

from __future__ import annotations

import importlib.metadata
import json
import stat
import tomllib
from pathlib import Path

import pytest

from warehouse.errors import WarehouseError
from warehouse.execution import doctor, jars, java, lock, machine

ROOT = Path(__file__).parent.parent.parent.parent


def fake_java(home: Path, script: str, release: str | None = None) -> None:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    if release is not None:
        (home / "release").write_text(release)


def findings(folder: Path) -> dict[str, doctor.Finding]:
    return {finding.what: finding for finding in doctor.examine(folder)}


def condition(call, *arguments) -> str:
    with pytest.raises(WarehouseError) as caught:
        call(*arguments)
    return caught.value.condition


def test_pins_are_the_projects():
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for name, version in doctor.PINS.items():
        assert any(line in stated for line in (f"{name}=={version}", f"{name}~={version}.0")) or any(
            line.startswith(f"{name}>={version},<") for line in stated
        )
    assert f"delta-spark=={jars.PACKAGES[0][2]}" in stated


def test_java_by_its_release_file(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    fake_java(tmp_path, "exit 1", 'IMPLEMENTOR="x"\nJAVA_VERSION="21.0.2"\n')
    assert java.required() == java.Java(tmp_path / "bin" / "java", 21)


@pytest.mark.parametrize(
    ("said", "version"), [("17.0.15", 17), ("1.8.0_402", 8), ("25-ea", 25), ("", None)], ids=["17", "8", "25", "mute"]
)
def test_java_by_asking_it(tmp_path, monkeypatch, said, version):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    fake_java(tmp_path, f"echo 'openjdk version \"{said}\" 2024' >&2")
    found = java.find()
    assert found is not None and found.version == version


def test_java_missing_or_old(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    assert condition(java.required) == "WAREHOUSE_JAVA_MISSING"
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert condition(java.required) == "WAREHOUSE_JAVA_MISSING"
    assert not findings(tmp_path)["Java"].ok
    fake_java(tmp_path / "old", "exit 1", 'JAVA_VERSION="11.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert condition(java.required) == "WAREHOUSE_JAVA_TOO_OLD"
    assert "Java 11" in findings(tmp_path)["Java"].detail


def test_versions(monkeypatch, tmp_path):
    versions = {"pyspark": "4.2.0", "delta-spark": "4.4.1", "sqlglot": "30.30.7", "pyarrow": "26.0.1", "sqlglotc": "1"}

    def version(name):
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    found = findings(tmp_path)
    assert [found[name].ok for name in versions] == [True, False, True, True, False]
    assert "delta-spark==4.4.0" in found["delta-spark"].way_out
    assert found["sqlglotc"].way_out == "run `pip uninstall sqlglotc`"
    del versions["pyarrow"], versions["sqlglotc"]
    found = findings(tmp_path)
    assert found["pyarrow"].detail == "not installed"
    assert "sqlglotc" not in found


def test_folder(tmp_path):
    assert findings(tmp_path / "new")["folder"].ok
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    assert not findings(tmp_path / "file")["folder"].ok
    assert not findings(tmp_path / "file" / "below")["folder"].ok
    held = lock.acquire(tmp_path)
    assert "in use by process" in findings(tmp_path)["folder"].detail
    lock.release(held)
    (tmp_path / "warehouse.toml").write_text("cores = 0")
    assert not findings(tmp_path)["settings"].ok


def test_too_small_a_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: machine.GIB)
    assert not findings(tmp_path)["memory"].ok


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A machine without jars whose only place for them is the user's cache."""
    monkeypatch.delenv("WAREHOUSE_JARS", raising=False)
    monkeypatch.setattr(jars, "_homes", lambda: [tmp_path / "cache"])
    return tmp_path / "cache"


def retrieve(target: Path) -> None:
    target.mkdir()
    for _, artifact, version in jars.PACKAGES:
        (target / f"{artifact}-{version}.jar").write_bytes(b"jar")


def test_jars_are_fetched_once(kept, monkeypatch, capsys, tmp_path):
    calls = []
    monkeypatch.setattr(jars, "_resolve", lambda scratch, target, packages: (calls.append(1), retrieve(target)))
    assert not findings(tmp_path)["jars"].ok
    first = jars.ensure()
    assert jars.ensure() == first
    assert calls == [1]
    assert capsys.readouterr().err.count("\n") == 1
    assert findings(tmp_path)["jars"].ok
    first[0].write_bytes(b"rat")
    assert "damaged" in findings(tmp_path)["jars"].detail
    first[0].write_bytes(b"half a jar")
    jars.ensure()
    assert calls == [1, 1]


def test_an_interrupted_fetch_leaves_nothing(kept, monkeypatch):
    def interrupted(scratch, target, packages):
        retrieve(target)
        raise KeyboardInterrupt

    monkeypatch.setattr(jars, "_resolve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jars.ensure()
    assert list(kept.iterdir()) == []


def test_jars_out_of_reach(kept, monkeypatch, tmp_path):
    fake_java(
        tmp_path / "java", "echo ':::: ERRORS'; echo 'HttpClientHandler: refused url=x'; exit 1", 'JAVA_VERSION="17"'
    )
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    with pytest.raises(WarehouseError) as caught:
        jars.ensure()
    assert caught.value.condition == "WAREHOUSE_JARS_UNREACHABLE"
    assert "could not be fetched: refused url=x" in str(caught.value)
    assert list(kept.iterdir()) == []


def test_the_class_archive_is_named_or_how_to_make_it(kept, monkeypatch, tmp_path):
    assert "class archive" not in findings(tmp_path), "there are no jars that it could be of"
    monkeypatch.setattr(jars, "_resolve", lambda scratch, target, packages: retrieve(target))
    jars.ensure()
    found = findings(tmp_path)["class archive"]
    assert found.ok and "make warm" in found.detail
    jars.class_archive().touch()
    assert findings(tmp_path)["class archive"].detail == str(jars.class_archive())


def test_jars_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setenv("WAREHOUSE_JARS", str(tmp_path))
    assert condition(jars.ensure) == "WAREHOUSE_JARS_MISSING"
    (tmp_path / "a.jar").write_bytes(b"")
    assert jars.ensure() == [tmp_path / "a.jar"]
    (tmp_path / "manifest.json").write_text(json.dumps({"files": {"b.jar": {"bytes": 1, "sha256": ""}}}))
    assert jars.ensure() == [tmp_path / "a.jar"]
