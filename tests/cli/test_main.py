"""Exit codes and the two streams, on an engine that is not there."""

from __future__ import annotations

import io
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.conftest import Done
from tests.cli.fake import FakeEngine
from warehouse.cli.console import Console, Output, describe, duration
from warehouse.errors import Diagnostic, WarehouseError
from warehouse.execution.results import Progress, Result

Call = Callable[..., Done]


def test_results_on_stdout_and_nothing_else(call: Call, engine: FakeEngine) -> None:
    done = call("-e", "CREATE t; SELECT 2; CREATE doubt", "-e", "SELECT 1")
    assert done == Done(0, "n\n0\n1\nn\n0\n", "[DOUBT] Is that so?\n")
    assert engine.ran == ["CREATE t", "SELECT 2", "CREATE doubt", "SELECT 1"] and engine.closed


def test_a_query_without_rows_has_a_header(call: Call) -> None:
    assert call("-e", "SELECT 0").out == "n\n"


@pytest.mark.parametrize("name", ["table", "markdown", "vertical"])
def test_an_empty_line_between_results_for_people(call: Call, name: str) -> None:
    assert call("-e", "SELECT 1; SELECT 1", "--format", name).out.count("\n\n") == 1


def test_verbose_speaks_without_a_terminal(call: Call) -> None:
    done = call("-e", "CREATE t; STREAM", "--verbose")
    line = "t  step 1  1,000 rows (2,000/s)  30 panes  2 late  watermark 2013-01-01T05:00:00Z  lag 1 min 30 s"
    assert done == Done(0, "", f"t created\n{line}\nt refreshed\n")
    assert call("-e", "CREATE t; STREAM") == Done(0, "", "")


def test_quiet_keeps_errors(call: Call) -> None:
    done = call("-e", "CREATE doubt; FAIL", "--quiet")
    assert done.code == 1 and "[WAREHOUSE_TEST]" in done.err and "DOUBT" not in done.err


def test_the_first_error_ends_the_run(call: Call, engine: FakeEngine, tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text("SELECT 1;\n\nFAIL here;\nSELECT 1")
    done = call("-f", str(file), "-e", "SELECT 1")
    assert done.code == 1 and done.out == "n\n0\n" and engine.ran == ["SELECT 1", "FAIL here"]
    assert done.err == (
        f"[WAREHOUSE_TEST] This is wrong. SQLSTATE: 42000 ({file}, line 3, pos 0)\n"
        f"== SQL ({file}, line 3) ==\n3 | FAIL here\n  | ^^^^^^^^^\nhint: write it right\n"
    )


def test_keep_going(call: Call, engine: FakeEngine) -> None:
    done = call("-e", "FAIL a; SELECT 1; FAIL b", "-e", "SELECT 1", "--keep-going")
    assert done.code == 1 and done.out == "n\n0\nn\n0\n" and done.err.count("[WAREHOUSE_TEST]") == 2


def test_dry_run_runs_nothing(call: Call, engine: FakeEngine) -> None:
    assert call("-e", "CREATE t; SELECT 2", "--dry-run") == Done(0, "", "")
    assert call("-e", "CREATE t; FAIL", "--dry-run").code == 1
    assert not engine.ran


def test_parameters_reach_the_engine(call: Call, engine: FakeEngine) -> None:
    call("-e", "SELECT 1", "--param", "airport=JFK", "--param", "n=3")
    assert engine.parameters == [{"airport": "JFK", "n": 3}]


def test_standard_input(call: Call) -> None:
    assert call(stdin="\ufeffSELECT 1").out == "n\n0\n"
    assert call("-", stdin="SELECT 1").out == "n\n0\n"
    assert call("-e", "SELECT 1", "-f", "-", stdin="SELECT 2").out == "n\n0\nn\n0\n1\n"
    assert call(stdin="  \n") == Done(0, "", "")


def test_no_prompt_yet(call: Call, engine: FakeEngine) -> None:
    done = call()
    assert done.code == 2 and "the prompt needs a terminal for its results" in done.err and not engine.opened


def test_trouble_before_anything_runs(call: Call, engine: FakeEngine, tmp_path: Path) -> None:
    (tmp_path / "latin.sql").write_bytes("SELECT 'é'".encode("latin-1"))
    for word in ("missing.sql", "latin.sql"):
        done = call("-e", "SELECT 1", "-f", str(tmp_path / word))
        assert done.code == 2 and word in done.err and not engine.opened


def test_an_engine_that_does_not_open(call: Call, engine: FakeEngine) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise WarehouseError(Diagnostic("WAREHOUSE_TEST", "Java is missing.", "42000"))

    engine.open = refuse  # type: ignore[method-assign,assignment]
    assert call("-e", "SELECT 1") == Done(2, "", "[WAREHOUSE_TEST] Java is missing. SQLSTATE: 42000\n")


def test_the_folder(call: Call, engine: FakeEngine) -> None:
    call("-e", "SELECT 1")
    call("-e", "SELECT 1", "--warehouse", "elsewhere", "--embedded")
    assert [folder for folder, _ in engine.opened] == [Path("warehouse-data"), Path("elsewhere")]


def test_a_mistake_of_ours(call: Call, engine: FakeEngine) -> None:
    done = call("-e", "BUG; SELECT 1", "--keep-going")
    assert done.code == 2 and done.out == "" and len(done.err.splitlines()) == 1
    assert done.err.startswith("internal error: KeyError: 'what nobody thought of' (trace in ")
    kept = Path(done.err.split("(trace in ")[1].split(";")[0])
    assert "Traceback" in kept.read_text()
    kept.unlink()
    done = call("-e", "BUG", "--debug")
    assert done.err.startswith("Traceback") and done.err.endswith(
        "internal error: KeyError: 'what nobody thought of'\n"
    )


def test_an_internal_error_of_sparks_is_two(call: Call) -> None:
    assert call("-e", "INTERNAL").code == 2


def test_arrow_is_not_for_terminals(call: Call, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warehouse.cli.console.Output.terminal", True, raising=False)
    monkeypatch.setattr(Output, "__init__", lambda self, stream, console: setattr(self, "_stream", stream))
    done = call("-e", "SELECT 1", "--format", "arrow")
    assert done.code == 2 and "not for a terminal" in done.err and not engine.ran


def test_control_c_cancels_the_statement(call: Call, engine: FakeEngine) -> None:
    def press() -> None:
        assert engine.waiting.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    threading.Thread(target=press).start()
    done = call("-e", "SELECT 1; WAIT; SELECT 1", "--keep-going")
    assert done == Done(130, "n\n0\n", "cancelled\n")
    assert engine.ran == ["SELECT 1", "WAIT"] and engine.closed
    assert signal.getsignal(signal.SIGINT) is before


def test_control_c_between_batches(call: Call, engine: FakeEngine) -> None:
    def answer(source):
        def batches():
            for number in range(100):
                if number == 2:
                    os.kill(os.getpid(), signal.SIGINT)
                yield pa.record_batch({"n": [number]})

        return Result(source, pa.schema({"n": pa.int64()}), batches())

    engine.answers["LONG"] = answer
    done = call("-e", "LONG")
    assert done.code == 130 and done.out == "n\n0\n1\n" and engine.cancelled.wait(60)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_live_line_is_gone_at_the_end() -> None:
    screen = Terminal()
    console = Console(screen)
    console.begin("running")
    console.progress(Progress("t", 1, 1000, 0, 30, "-", None, 0.5))
    assert screen.getvalue().startswith("\r\x1b[Kt  step 1  2,000 rows/s  watermark -  0 s")
    console.message("done")
    console.end()
    assert screen.getvalue().endswith("\r\x1b[Kdone\n")


def test_no_live_line_in_a_file() -> None:
    file = io.StringIO()
    console = Console(file)
    console.begin("running")
    console.progress(Progress("t", 1, 1000, 0, 30, "-", None, 0.5))
    console.message("done")
    console.end()
    assert file.getvalue() == ""


def test_a_step_in_words() -> None:
    assert describe(Progress("t", 2, 0, 0, 0, "end", None, 0.0)) == "t  step 2  0 rows (0/s)  0 panes  watermark end"
    assert [duration(seconds) for seconds in (0, 59.6, 60, 3600, 86400, 90000)] == [
        "0.0 s",
        "60 s",
        "1 min",
        "1 h",
        "1 d",
        "1 d 1 h",
    ]
