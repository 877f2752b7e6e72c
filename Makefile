# The targets a newcomer needs. Everything installed lands in .venv; nothing outside this folder is touched.

VENV := .venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.installed
FLINK := 2.3.0

.PHONY: help setup warm demo test soak dbt check flink bench clean

help:
	@echo "make setup   create $(VENV), install, fetch the Delta jars once"
	@echo "make warm    engines that start sooner, for an archive of classes on disk"
	@echo "make demo    a year of flights through windowed, corrected SQL"
	@echo "make test    the test suite"
	@echo "make soak    death at every write boundary, kills and full disks, of tables that refresh and that run on; every algorithm on flights; executors that die"
	@echo "make dbt     dbt builds a project over the endpoint, and its adapter's basic suite passes"
	@echo "make check   ruff and mypy"
	@echo "make flink   Flink in an environment of its own: a peer of the streaming benchmark"
	@echo "make bench   the benchmarks"
	@echo "make clean   remove $(VENV) and caches"

setup: $(STAMP)

# Installs again only when pyproject.toml changed; the last step finds its jars or fetches them.
$(STAMP): pyproject.toml
	@bash .ci/preflight
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || "$$(bash .ci/preflight --python)" -m venv --clear $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -e '.[dev,demo]'
	$(PYTHON) -m warehouse.execution.jars
	@touch $@

warm: setup
	$(PYTHON) -m warehouse.cli.warm

demo: setup
	$(PYTHON) sql/demo.py

# Two at a time, a file by one of them: each has an engine of its own.
test: setup
	WAREHOUSE_MEMORY=$${WAREHOUSE_MEMORY:-3g} $(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

soak: setup
	RECOVERY=full RECOVERY_KILLS=$${RECOVERY_KILLS:-20} $(PYTHON) -m pytest tests/recovery tests/execution/test_lock.py -s --durations=5
	LEARNING=all FLIGHTS=$${FLIGHTS:-days} $(PYTHON) -m pytest tests/ml/test_flights.py --durations=5
	SOAK=1 $(PYTHON) -m pytest -m soak
	ORACLE_ALL=1 $(PYTHON) -m pytest tests/streaming/test_replacement.py tests/oracle/test_engine.py -k 'change or script'
	SOAK=1 TPCH=all SUITES=all $(PYTHON) -m pytest tests/benchmarks
	ADAPTIVE=all $(PYTHON) -m pytest tests/adaptive/test_switches.py
	FAULTS=1 $(PYTHON) -m pytest tests/benchmarks/test_faults.py

# dbt's dependencies are many and know nothing of Spark's.
dbt: setup
	test -x $(VENV)-dbt/bin/dbt || $(PYTHON) -m venv $(VENV)-dbt
	$(VENV)-dbt/bin/python -m pip install --quiet --disable-pip-version-check 'dbt-core<1.12' 'dbt-spark[PyHive]==1.11.0' 'dbt-tests-adapter<1.21' pytest thrift pure-sasl thrift_sasl
	DBT=$(VENV)-dbt/bin/dbt $(PYTHON) -m pytest tests/server/test_dbt.py

check: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# Flink's dependencies contradict Spark's. Its Parquet format is no part of it, and wants Hadoop's classes, which Spark has.
flink: setup
	test -x $(VENV)-flink/bin/python || $(PYTHON) -m venv $(VENV)-flink
	$(VENV)-flink/bin/python -m pip install --quiet --disable-pip-version-check 'apache-flink==$(FLINK)'
	mvn -q -B dependency:copy -Dartifact=org.apache.flink:flink-sql-parquet:$(FLINK) -DoutputDirectory=$(abspath $(VENV))-flink/jars
	cp $(VENV)-flink/jars/*.jar $(VENV)/lib/python*/site-packages/pyspark/jars/hadoop-client-*.jar $(VENV)-flink/lib/python*/site-packages/pyflink/lib

bench: setup
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(PYTHON) -m benchmarks

clean:
	rm -rf $(VENV) $(VENV)-dbt $(VENV)-flink build *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
