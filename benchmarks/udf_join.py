"""A join whose small side only shows when it runs: Shark's join under an opaque UDF, and its reverse.

``SELECT * FROM lineitem l JOIN supplier s ON l.L_SUPPKEY = s.S_SUPPKEY WHERE SOME_UDF(s.S_ADDRESS)`` with a UDF that
keeps one supplier in ten thousand, as that of Zaharia's dissertation (3.5.3) keeps 1,000 of ten million, and with one
that keeps all. The planner cannot know which. Three ways: *static* (adaptive execution off: a shuffle join),
*adaptive* (Spark's: both sides are shuffled, then the plan changes), *static + adaptive* (the side that is likely
small runs first). For each, what the shuffles of lineitem wrote is read from Spark's status store, and every way gives
the same rows.

Usage: ``python -m benchmarks udf_join [--suppliers 1000000] [--lines 6000000] [--rounds 6]``. Writes
``benchmarks/out/udf_join.{md,json}``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import arguments, protocol, report, status
from benchmarks.systems import HEAP, Warehouse, opened

ONE_IN = 10_000
FIRST = "warehouse.join.smallSideFirst"
WAYS: dict[str, dict[str, str]] = {
    "static": {"spark.sql.adaptive.enabled": "false", FIRST: "false"},
    "adaptive": {"spark.sql.adaptive.enabled": "true", FIRST: "false"},
    "static + adaptive": {"spark.sql.adaptive.enabled": "true", FIRST: "true"},
}
"""Settings by way."""

CASES = {"keeps one in ten thousand": "keeps_few", "keeps all": "keeps_all"}
BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "1MB"}
"""The suppliers must look too large to be sent to all tasks, as ten million do; a hundred of them must not."""

JOIN = (
    "SELECT count(*) AS n, sum(l_linenumber) AS total, max(s_address) AS most FROM"
    " (SELECT * FROM lineitem l JOIN supplier s ON l.L_SUPPKEY = s.S_SUPPKEY WHERE {udf}(s.S_ADDRESS))"
)
"""The paper's query; what is selected is counted, so that fetching its rows is not what is timed."""


def load(system: Warehouse, suppliers: int, lines: int) -> None:
    """Make the two tables, and register the UDFs in Python: Spark cannot look into them."""
    system.run(
        "CREATE TABLE supplier AS SELECT id AS s_suppkey, concat('Supplier#', lpad(id, 9, '0')) AS s_name,"
        f" concat_ws(' ', id, sha2(CAST(id AS STRING), 256)) AS s_address FROM range(0, {suppliers}, 1, 4)"
    )
    system.run(
        f"CREATE TABLE lineitem AS SELECT id DIV 4 AS l_orderkey, CAST(id % 4 AS INT) AS l_linenumber,"
        f" pmod(xxhash64(id), {suppliers}L) AS l_suppkey, CAST(pmod(xxhash64(id, 1), 50) AS DECIMAL(15, 2)) AS"
        f" l_quantity, sha2(CAST(id AS STRING), 256) AS l_comment FROM range(0, {lines}, 1, 4)"
    )

    system.spark.udf.register("keeps_few", lambda text: int(text.partition(" ")[0]) % ONE_IN == 7, "boolean")
    system.spark.udf.register("keeps_all", lambda text: True, "boolean")


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("udf_join", __doc__)
    parser.add_argument("--suppliers", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=6_000_000)
    chosen = parser.parse_args(given)
    if chosen.lines <= chosen.suppliers:
        parser.error("there must be more lines than suppliers: by that they are told apart")
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Warehouse.open(Path(folder), {"memory": HEAP, **BROADCAST})) as system,
    ):
        load(system, chosen.suppliers, chosen.lines)
        answers: dict[str, list[dict[str, Any]]] = {}

        def asked(udf: str, settings: dict[str, str]) -> pa.Table:
            with system.told(settings):
                return system.run(JOIN.format(udf=udf))

        def differs(case: str, answer: pa.Table) -> str | None:
            known = answers.setdefault(case, answer.to_pylist())
            return None if answer.to_pylist() == known else f"{answer.to_pylist()} instead of {known}"

        acts = {
            (case, way): lambda udf=udf, settings=settings: asked(udf, settings)
            for case, udf in CASES.items() for way, settings in WAYS.items()
        }  # fmt: skip
        runs = protocol.turns(acts, chosen.rounds, system.process, differs)
        lines, seen_in = [], {}
        for (case, way), act in acts.items():
            with status.watched(system.spark) as seen:
                act()
            large = sum(s.shuffled for s in seen.stages if s.rows_shuffled > chosen.suppliers)
            joins = sorted({o.name for o in seen.operators if o.name.endswith("Join")})
            seen_in[f"{case}, {way}"] = {"shuffled": seen.shuffled, "of lineitem": large, "joins": joins}
            lines.append([case, way, f"{seen.shuffled / 1e6:.1f}", f"{large / 1e6:.1f}", ", ".join(joins)])
        memory = protocol.peak_memory(system.process)
    text = "\n\n".join((
        f"{chosen.suppliers:,} suppliers, {chosen.lines:,} lines: the median (least–greatest) of {chosen.rounds - 1}"
        f" runs; {protocol.machine()}; the JVM held at most {memory / 2**30:.1f} GiB.",
        "Seconds by the clock:", protocol.compared(runs, list(WAYS)[-1]),
        "Seconds in which cores were busy:", protocol.compared(runs, list(WAYS)[-1], "cpu"),
        report.table(["", "", "MB shuffled", "of these lineitem's", "joined by"], lines),
    ))  # fmt: skip
    report.keep("udf_join", text, {"runs": runs, "seen": seen_in})
    return 0
