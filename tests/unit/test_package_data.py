"""What an installation needs besides Python's modules is told to setuptools, whose globs are relative to a package."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_all_files_of_the_package_are_installed() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    globs = [(ROOT / package.replace(".", "/"), glob) for package, given in told.items() for glob in given]
    installed = {path for folder, glob in globs for path in folder.glob(glob)}
    files = {path for path in (ROOT / "warehouse").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    needed = {path for path in files if path.suffix not in (".py", ".md")}
    assert any(path.suffix == ".java" for path in needed)
    assert needed <= installed, sorted(map(str, needed - installed))
