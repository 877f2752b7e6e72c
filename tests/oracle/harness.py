"""Programs and SQL files on the real engine, turned into the same ``Outcome`` as the model's.

    python -m tests.oracle.harness --level full --count 200 --seed 0      many programs, failures shrunk to SQL
    python -m tests.oracle.harness --scenarios 50 --count 200 --seed 0   the same with 50 scenarios each
    python -m tests.oracle.harness tests/sql/figures/figure_12.sql       SQL files against model and promises

One engine serves all programs, each with table names of its own.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.oracle.batch import broken_prefixes
from tests.oracle.model import BEGIN, END
from tests.oracle.outcome import Line, Outcome, broken_promises, by_text, cell, differences, of_model, ranked
from tests.oracle.programs import only, random_program, random_wide_program, shrink
from tests.oracle.text import Program, clock, data_files, files, micros, read, script, statements

TESTS = Path(__file__).parents[1]
NOT_BUILT = "not built yet: "
LAST_MOMENT = micros("9999-12-31T23:59:59.999999Z")


@dataclass
class Rig:
    """An engine and a folder for data files."""

    engine: Any
    folder: Path

    def __post_init__(self) -> None:
        self._numbers = count()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run SQL and return the rows of its last statement, timestamps as microseconds."""
        found: list[dict[str, Any]] = []
        for result in self.engine.run(sql):
            batches = list(result.batches)
            if result.schema is not None:
                found = _plain(pa.Table.from_batches(batches, result.schema))
        return found

    def outcome(self, program: Program) -> Outcome:
        """Run a program under a fresh table name."""
        table = f"oracle_{next(self._numbers)}"
        data = self.folder / table
        _write(data, files(program))
        for statement in statements(program, table, str(data)):
            self.rows(statement)
        return self.collect(program, table, f"{table}_source")

    def outcome_of_file(self, path: Path) -> tuple[Program, Outcome]:
        """Run a SQL file (its tables must not exist yet); return how it reads and what came out."""
        text = path.read_text()
        carried = data_files(text)
        data = self.folder / path.stem if carried else TESTS / "data"
        if carried:
            _write(data, carried)
        program = read(text, TESTS / "data")
        self.rows(text.replace("${data}", str(data)))
        table = text.split("CREATE STREAMING TABLE ")[1].split()[0]
        return program, self.collect(program, table, text.split("FROM STREAM ")[1].split()[0].rstrip(";"))

    def collect(self, program: Program, table: str, stream: str) -> Outcome:
        """Return the four tables of a streaming table."""
        panes = self.rows(f"SELECT * FROM panes('{table}')")
        return Outcome(
            [_pane(program, row, step) for row, step in zip(panes, ranked([r["_step"] for r in panes]), strict=True)],
            by_text([_values(program, row) for row in self.rows(f"SELECT * FROM {table}")]),
            by_text([_late(program, row) for row in self.rows(f"SELECT * FROM late_rows('{table}')")]),
            by_text([_source(program, row) for row in self.rows(f"SELECT * FROM bad_rows('{stream}')")]),
        )

    def check(self, program: Program) -> list[str]:
        """Return how the engine differs from the model and from the batch so far; an error counts as a difference."""
        try:
            found = self.outcome(program)
            return differences(of_model(program), found) + broken_prefixes(program, found)
        except Exception as error:  # the shrinker must go on whatever breaks
            if "NOT_BUILT_YET" in str(error):
                return [NOT_BUILT + str(error).splitlines()[0]]
            return [f"error: {type(error).__name__}: {error}"]

    def check_file(self, path: Path) -> list[str]:
        """Return how the engine differs from the model, and from what the file promises."""
        program, found = self.outcome_of_file(path)
        return differences(of_model(program), found) + broken_promises(program.expected, found)

    def report(self, program: Program, problems: Sequence[str], tries: int = 40) -> str:
        """Return a failing program, shrunk, as a runnable SQL file with what went wrong.

        Of a wide program one scenario is taken, if one alone fails too.
        """
        kind = problems[0].split(":")[0]

        def fails(one: Program) -> bool:
            return any(problem.split(":")[0] == kind for problem in self.check(one))

        small = program
        if program.wide and tries:
            named = dict.fromkeys(re.findall(r"scenario\W+(\d+)", "\n".join(problems)))
            alone = (only(program, int(scenario)) for scenario in list(named)[:5] or ["0"])
            small = next(filter(fails, alone), program)
        small = shrink(small, fails, tries)
        lines = list(problems) if small is program else self.check(small) or list(problems)
        return "\n".join([*(f"-- {line}" for problem in lines for line in problem.splitlines()), script(small)])


def _write(folder: Path, contents: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_text(content)


def _plain(table: pa.Table) -> list[dict[str, Any]]:
    """Return rows as dicts with timestamps as microseconds since 1970-01-01 UTC."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
        columns[name] = column.to_pylist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _moment(value: int | None) -> str:
    if value is None:
        return clock(BEGIN)
    return clock(END if value == LAST_MOMENT else value)


def _key(program: Program, row: dict[str, Any]) -> Line:
    scenario = {"scenario": cell(row["scenario"])} if program.wide else {}
    return {**scenario, **({"k": cell(row[program.key])} if program.keyed else {})}


def _bounds(row: dict[str, Any]) -> Line:
    return {name: _moment(row[name]) for name in ("window_start", "window_end")}


def _values(program: Program, row: dict[str, Any]) -> Line:
    return {**_key(program, row), **{name: cell(row[name]) for name in program.names}, **_bounds(row)}


def _pane(program: Program, row: dict[str, Any], step: str) -> Line:
    return {
        "change": row["_change_type"],
        **_values(program, row),
        "timing": row["_pane_timing"],
        "index": cell(row["_pane_index"]),
        "emitted_at": _moment(row["_emitted_at"]),
        "watermark": _moment(row["_watermark"]),
        "step": step,
    }


def _source(program: Program, row: dict[str, Any]) -> Line:
    return {**_key(program, row), "v": cell(row[program.value]), "arrival": _moment(row[program.arrival])}


def _late(program: Program, row: dict[str, Any]) -> Line:
    return {
        **_source(program, row),
        "event_time": _moment(row["event_time"]),
        **_bounds(row),
        "why": "FINISHED" if row["_why"] == "FINISHED" else "LATE",
        "at": _moment(row["_at"]),
    }


def main() -> int:
    """Run files or random programs; print what differs; exit 1 if anything did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--level", choices=["main", "full"], default="main")
    parser.add_argument("--scenarios", type=int, default=0, help="run wide programs of level full with so many each")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop-after", type=int, default=3, help="failures")
    parser.add_argument("--tries", type=int, default=40, help="runs for shrinking a failure; 0 prints it as it is")
    arguments = parser.parse_args()
    from warehouse.engine import Engine

    with tempfile.TemporaryDirectory() as scratch:
        rig = Rig(Engine.open(Path(scratch) / "warehouse"), Path(scratch) / "data")
        failures, skipped, steps, started = 0, 0, 0, time.monotonic()
        for path in arguments.files:
            problems = rig.check_file(path)
            failures += bool(problems)
            print(f"{path.name}: {'agrees' if not problems else ''}", *problems, sep="\n  ")
        seeds = () if arguments.files else range(arguments.seed, arguments.seed + arguments.count)
        for done, seed in enumerate(seeds, 1):
            if arguments.scenarios:
                program = random_wide_program(seed, arguments.scenarios)
            else:
                program = random_program(seed, arguments.level)
            problems = rig.check(program)
            if problems and problems[0].startswith(NOT_BUILT):
                skipped += 1
            else:
                steps += program.run().steps
                failures += bool(problems)
            spent = f"{time.monotonic() - started:.0f} s"
            print(
                f"{done - skipped} statements, {arguments.scenarios or 1} scenarios each, {steps} steps, "
                f"{failures} differ, {skipped} not built, {spent}",
                file=sys.stderr,
            )
            if problems and not problems[0].startswith(NOT_BUILT):
                print(
                    f"-- seed {seed}, {arguments.scenarios or arguments.level}",
                    *problems[:3],
                    sep="\n--   ",
                    flush=True,
                )
                print(rig.report(program, problems, arguments.tries), flush=True)
            if failures >= arguments.stop_after:
                break
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
