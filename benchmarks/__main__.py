"""Runs the benchmarks that exist: streaming."""

import sys

from benchmarks.streaming import main

if __name__ == "__main__":
    sys.exit(main())
