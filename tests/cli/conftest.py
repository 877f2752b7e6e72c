from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.cli.fake import FakeEngine
from warehouse.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a call of the command line left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def call(engine: FakeEngine, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:  # fmt: skip  # noqa: E501
    """Return ``call(*words, stdin=None)``, which runs the command line on the fake engine."""

    def run(*words: str, stdin: str | None = None) -> Done:
        text = io.TextIOWrapper(io.BytesIO((stdin or "").encode()))
        text.isatty = lambda: stdin is None  # type: ignore[method-assign]
        monkeypatch.setattr("sys.stdin", text)
        code = main(words, engine.open)
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return run
