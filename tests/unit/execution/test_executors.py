"""Executors in processes of their own."""

from __future__ import annotations

from typing import Any

import pytest

from warehouse.execution import executors, java_sources
from warehouse.execution.settings import Executors


class Jvm:
    """Stands in for the gateway, for what is compiled in it and for a configuration of Spark's."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *_: object) -> Any:
        return self

    def set(self, name: str, value: str) -> None:
        self.told[name] = value

    def start(self, conf: Any, count: int, cores: int, megabytes: int) -> str:
        return f"spark://of {count} {cores} {megabytes}"


def test_who_sends_work_must_know_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Jvm()
    monkeypatch.setattr(java_sources, "load", lambda *_: gateway)
    open_to_all = {"spark.master.rest.enabled": "true", "spark.authenticate": "false", "spark.app.name": "w"}
    _, first = executors.start(gateway, Executors(2, 3, 512), open_to_all)
    assert first["spark.master"] == "spark://of 2 3 512" and first["spark.app.name"] == "w"
    assert first["spark.authenticate"] == "true" and first["spark.master.rest.enabled"] == "false"
    assert gateway.told["spark.authenticate.secret"] == first["spark.authenticate.secret"]
    _, second = executors.start(gateway, Executors(1, 1, 512), {})
    assert len(second["spark.authenticate.secret"]) >= 32
    assert second["spark.authenticate.secret"] != first["spark.authenticate.secret"]
