"""``kill -9`` at random moments, again and again on one folder; a second process is refused meanwhile.

Of a REFRESH of tables over files, at random moments. Of tables that run on over files and a topic, under load: after
each kind of write, in random order, and at random moments. ``RECOVERY_KILLS=20 RECOVERY_SEED=1 pytest
tests/recovery/test_kills.py -s`` kills each of them twenty times and tells when; where it kills a hundred times, each
kind of write has to be among them.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests import broker as brokers
from tests.recovery.scenery import SENT_ON, SPREAD, TABLES, TOPIC, send, sent, write
from warehouse.streaming import faults

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("RECOVERY_KILLS", "0"))
SEED = int(os.environ.get("RECOVERY_SEED", "0"))
FILES = 1
AT_ANY_MOMENT = "at any moment"
CARDS = [*faults.STEP, "placed", *faults.SINK, *faults.UPKEEP, *[AT_ANY_MOMENT] * 3]
"""Where lives end whose tables run on: once after each kind of write that these get to, before any comes again."""
WHOSE = {
    **dict.fromkeys(("slices", "slices_base", "placed"), (SPREAD,)),
    **dict.fromkeys(faults.SINK, (SENT_ON,)),
    **dict.fromkeys(("delta", "late_rows", "base", "cleaned"), ("fixed", "sessions")),
}
"""The tables that soon get to a kind of write; to any other, all but ``over`` do."""
PAUSE, LONGEST = 30.0, 60.0
"""Seconds from one arrival of rows to the next in a life, and for which it may go without the write that ends it."""
JUDGED = 50
"""Kills from one judgement to the next."""


@pytest.mark.slow
@pytest.mark.skipif(not KILLS, reason="lives of its own take minutes: make soak")
def test_killed_again_and_again(tmp_path: Path) -> None:
    dice, files, killed, longest = random.Random(SEED), 0, 0, 8.0
    while killed < KILLS:
        for _ in range(FILES):
            files += 1
            write(tmp_path / "data", files)
        process = _begun(tmp_path, "refresh", *dice.sample(list(TABLES), len(TABLES)))
        began = time.monotonic()
        if files == 2 * FILES:
            _is_refused(tmp_path, process)
        # The first life makes the tables; where there are many to come, the second shows how long a REFRESH takes.
        moment = dice.uniform(0.0, longest) if files > (FILES if KILLS < 3 else 2 * FILES) else 600.0
        while time.monotonic() < began + moment and not (tmp_path / "refreshed").exists():
            assert process.poll() is None, (tmp_path / "life.log").read_text()
            time.sleep(0.01)
        if (tmp_path / "refreshed").exists():
            longest = time.monotonic() - began
            assert process.wait(60) == 0
            continue
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed += 1
        print(f"kill {killed}: {moment:.1f} s into a REFRESH that takes {longest:.1f} s", flush=True)
    judgement = _judge(tmp_path, files)
    print(f"{killed} kills, {files} files, {judgement['rows']} rows, {judgement['panes']} panes: all the same")


@pytest.mark.slow
@pytest.mark.skipif(not KILLS, reason="lives of its own take minutes: make soak")
def test_killed_again_and_again_while_running_on(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka")
    dice, arrived, died = random.Random(SEED), 0, Counter[str]()
    deck = list[str]()
    with brokers.running() as broker:
        for topic in (TOPIC, sent("s"), sent("u")):
            broker.topic(topic)
        (tmp_path / "broker").write_text(broker.servers)

        def arrive() -> None:
            nonlocal arrived
            arrived += 1
            write(tmp_path / "data", arrived)
            send(broker, arrived)

        arrive()
        for life in range(KILLS):  # the first one makes the tables
            deck = deck or dice.sample(CARDS, len(CARDS))
            kind = deck.pop() if life else AT_ANY_MOMENT
            fault = None if kind == AT_ANY_MOMENT else f"{kind}:{dice.choice((1, 1, 2))}"
            began = time.monotonic()
            process = _begun(tmp_path, "run", *_running(kind, dice), fault=fault)
            _under_load(process, arrive, LONGEST if fault else dice.uniform(0.0, 8.0))
            assert process.poll() in (None, -signal.SIGKILL), (tmp_path / "life.log").read_text()[-5000:]
            if fault and process.poll() is None:
                deck.insert(0, kind)
                kind = AT_ANY_MOMENT
            process.kill()
            process.wait()
            died[kind] += 1
            print(f"kill {life + 1}: {fault or kind}, {time.monotonic() - began:.0f} s: {dict(died)}", flush=True)
            if (life + 1) % JUDGED == 0 or life + 1 == KILLS:
                began = time.monotonic()
                _judge(tmp_path, arrived, "judge" if life + 1 == KILLS else "compare")
                told = ", ".join(f"{count} {kind}" for kind, count in sorted(died.items()))
                took = f"judged in {time.monotonic() - began:.0f} s"
                print(f"{life + 1} kills ({told}), {arrived} files and transactions: all the same, {took}", flush=True)
    assert KILLS < 100 or set(CARDS) <= set(died)


def _running(kind: str, dice: random.Random) -> list[str]:
    """Return the tables of a life, in the order in which they start: all, or two that soon get to a kind of write."""
    if kind == AT_ANY_MOMENT:
        return dice.sample(list(TABLES), len(TABLES))
    first = dice.choice(WHOSE.get(kind) or [name for name in TABLES if name != "over"])
    both = [first, dice.choice([name for name in TABLES if name != first])]
    return dice.sample(both, 2)


def _under_load(process: subprocess.Popen[bytes], arrive: Callable[[], None], seconds: float) -> None:
    """Let rows arrive until a process has died, or for so many seconds."""
    until = time.monotonic() + seconds
    while process.poll() is None and (left := until - time.monotonic()) > 0:
        arrive()
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(PAUSE, left))


def _judge(root: Path, files: int, act: str = "judge") -> dict[str, Any]:
    """Assert that the tables came out as their twins; return the judgement of ``tests.recovery.life``."""
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}  # many steps
    judged = subprocess.run(_command(act, root), cwd=ROOT, env=environment, capture_output=True, text=True)
    assert judged.returncode == 0, judged.stderr
    judgement = json.loads((root / "judgement.json").read_text())
    assert not judgement["differences"], "\n".join(judgement["differences"])
    assert judgement["rows"] == files * 26
    return dict(judgement)


def _command(act: str, root: Path, *names: str) -> list[str]:
    return [sys.executable, "-m", "tests.recovery.life", act, str(root), *names]


def _begun(root: Path, act: str, *names: str, fault: str | None = None) -> subprocess.Popen[bytes]:
    """Start a process that acts on the tables ``names`` and wait until it does; with a fault it may be dead by then."""
    for name in ("refreshing", "refreshed"):
        (root / name).unlink(missing_ok=True)
    environment = {**os.environ, "WAREHOUSE_FAULT": fault} if fault else None
    with (root / "life.log").open("ab") as log:
        process = subprocess.Popen(_command(act, root, *names), cwd=ROOT, stdout=log, stderr=log, env=environment)
    deadline = time.monotonic() + 300
    while not (root / "refreshing").exists():
        if fault and process.poll() == -signal.SIGKILL:
            break
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail((root / "life.log").read_text())
        time.sleep(0.02)
    return process


def _is_refused(root: Path, process: subprocess.Popen[bytes]) -> None:
    """A second process on the folder is told whose it is, at once."""
    command = [sys.executable, "-m", "warehouse.cli.main", "--warehouse", str(root / "house"), "-e", "SELECT 1"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "[WAREHOUSE_FOLDER_IN_USE]" in refused.stderr
    assert f"in use by process {process.pid}" in refused.stderr
    assert process.poll() is None
