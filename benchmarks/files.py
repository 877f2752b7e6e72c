"""Parquet files that streams read one after the other."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any


def write(frame: Any, file: Path) -> None:
    """Write a data frame of one partition as one file, which is later than those written before it."""
    draft = file.parent.with_name(f"{file.parent.name}.draft")
    frame.write.parquet(str(draft))
    (part,) = draft.glob("*.parquet")
    file.parent.mkdir(parents=True, exist_ok=True)
    part.rename(file)
    shutil.rmtree(draft)
    time.sleep(0.01)  # files are read in the order of their times
