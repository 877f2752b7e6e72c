"""Runs in Flink's own Python environment, for ``benchmarks.flink``: statements come in as JSON, seconds go out.

First it prints a line ``process 123``, the JVM's id. Then each line of standard input is ``{"settings": …,
"statements": […], "job": "CREATE TABLE … AS SELECT …"}``: a new table environment with the settings, the statements,
and the job, which is waited for. The answer is a line ``seconds 1.5`` of the job's.
"""

from __future__ import annotations

import json
import sys
import time

from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment

print("process", get_gateway().jvm.java.lang.ProcessHandle.current().pid(), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in asked["settings"].items():
        environment.get_config().set(key, value)
    for statement in asked["statements"]:
        environment.execute_sql(statement)
    begun = time.perf_counter()
    environment.execute_sql(asked["job"]).wait()
    print("seconds", time.perf_counter() - begun, flush=True)
