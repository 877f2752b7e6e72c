from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from warehouse.project.files import load_files, load_settings
from warehouse.project.graph import Project, project_of


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return ``write(path=text, …)``, which puts files into the folder ``p`` of the current folder."""
    monkeypatch.chdir(tmp_path)

    def files(texts: dict[str, str]) -> None:
        for path, text in texts.items():
            file = tmp_path / "p" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text))

    return files


@pytest.fixture
def project(write: Callable[..., None]) -> Callable[..., Project]:
    """Return ``project(path=text, …)``: the project made of these files."""

    def load(texts: dict[str, str]) -> Project:
        write(texts)
        folder = Path("p")
        return project_of(load_files(folder, load_settings(folder)))

    return load
