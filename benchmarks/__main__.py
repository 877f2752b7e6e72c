"""Runs the benchmarks: ``python -m benchmarks [NAME] [options]``; streaming by default, ``NAME --help`` says more."""

import importlib
import sys

BENCHMARKS = (
    "classics", "clustered", "copartition", "endpoint", "endurance", "faults", "first", "floor", "generate", "latency",
    "layouts", "loading", "memory", "nexmark", "pagerank", "pavlo", "recovery", "skew", "state", "stragglers",
    "streaming", "streams", "tpch", "triggers", "udf_join", "video",
)  # fmt: skip

if __name__ == "__main__":
    arguments = sys.argv[1:]
    name = arguments.pop(0) if arguments and arguments[0] in BENCHMARKS else "streaming"
    sys.exit(importlib.import_module(f"benchmarks.{name}").main(arguments))
