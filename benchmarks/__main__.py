"""Runs the benchmarks: ``python -m benchmarks [streaming|triggers] [options]``, streaming when none is named."""

import sys

from benchmarks import streaming, triggers

BENCHMARKS = {"streaming": streaming.main, "triggers": triggers.main}

if __name__ == "__main__":
    arguments = sys.argv[1:]
    name = arguments.pop(0) if arguments and arguments[0] in BENCHMARKS else "streaming"
    sys.exit(BENCHMARKS[name](arguments))
