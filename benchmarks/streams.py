"""All that is measured of streams beside peers, one after the other: what ``benchmarks.streaming`` begins with.

The four aggregations, steps of 1,000, 10,000 and 100,000 rows against 100,000, a million and ten million keys of
state, the classics, and Nexmark. Each writes its own table, figures and picture.

Usage: ``python -m benchmarks streams [--rounds 3]``.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import classics, nexmark, state, streaming


def main(arguments: list[str] | None = None) -> int:
    """Run them all; return 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks streams", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds; one more goes before them")
    rounds = parser.parse_args(arguments).rounds
    return max(
        streaming.main(["--rounds", str(rounds), "--profile"]),
        state.main(["--keys", "100000,1000000,10000000", "--steps", "8"]),
        classics.main(["--rounds", str(rounds + 1)]),
        nexmark.main(["--rounds", str(rounds + 1)]),
    )


if __name__ == "__main__":
    sys.exit(main())
