"""Starts that end before there is a JVM leave the folder free."""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.errors import WarehouseError
from warehouse.execution import java, jvm, lock, session


@pytest.fixture(autouse=True)
def no_engine(tmp_path, monkeypatch):
    (tmp_path / "some.jar").write_bytes(b"")
    monkeypatch.setenv("WAREHOUSE_JARS", str(tmp_path))
    monkeypatch.setattr(session, "_running", None)
    monkeypatch.setattr(session, "_idle", None)


def refusal(folder, **settings) -> WarehouseError:
    with pytest.raises(WarehouseError) as caught:
        session.start(folder, settings)
    assert lock.holder(folder) is None
    assert session._running is None
    return caught.value


def test_without_java(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    assert refusal(tmp_path / "house").condition == "WAREHOUSE_JAVA_MISSING"


@pytest.mark.skipif(java.find() is None, reason="there is no Java")
def test_a_jvm_that_will_not_start(tmp_path):
    error = refusal(tmp_path / "house", memory="1m")
    assert error.condition == "WAREHOUSE_JAVA_FAILED"
    assert "heap" in str(error)
    assert str(tmp_path / "house" / "logs" / "jvm.log") in str(error)


def test_a_jvm_that_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(jvm, "START_TIMEOUT", 0.0)
    assert refusal(tmp_path / "house").condition == "WAREHOUSE_JAVA_FAILED"


def test_an_unknown_setting(tmp_path):
    assert refusal(tmp_path / "house", color="red").condition == "WAREHOUSE_SETTING_UNKNOWN"


def test_no_other_endpoint_leaks_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hive's server takes its address from these before it looks at settings."""
    monkeypatch.setenv("HIVE_SERVER2_THRIFT_BIND_HOST", "0.0.0.0")
    monkeypatch.setenv("HIVE_SERVER2_THRIFT_PORT", "1")
    monkeypatch.setenv("OTHER", "stays")
    found = jvm._environment(tmp_path)
    assert found["OTHER"] == "stays" and not any(name.startswith("HIVE") for name in found)
