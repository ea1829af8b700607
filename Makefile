# Needs Python 3.11 or newer with pip; everything else is installed into .venv.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
UV_VERSION := 0.13.7

VENV := .venv
BIN := $(VENV)/bin
# Bytecode is compiled once here: Numba alone is hundreds of modules, read at every cold start.
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python

# pyproject.toml says what is wanted, the lock which files: one without a hash there is refused.
LOCKED := $(INSTALL) --require-hashes --constraint requirements.lock --requirement pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help setup test test-full demo figures tour docs bench-core bench-algorithms bench-pba bench-windows bench-plans bench-stores bench-spark \
    bench-spark-memory bench-stream soak-stream fixtures lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.synced ## create .venv with the locked packages and sash itself, editable

test: setup ## lint, format, types, layers, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --durations 20

test-full: setup ## every algorithm compiled for every operator, Spark Connect (an hour or two)
	$(BIN)/pytest -m full

demo: setup ## smart plugs, from readings to answers, in batch and as a stream (3 minutes)
	$(BIN)/sash demo

figures: setup ## run the papers' experiments, draw them, judge their claims: docs/evaluation.md (an hour or two)
	$(BIN)/sash figures --out docs

tour: setup ## a short tour of arrays and windows
	$(BIN)/python examples/tour.py

docs: setup ## write the generated pages of docs anew
	$(BIN)/python docs/generate.py

bench-core: setup ## time the algorithms against other libraries
	$(BIN)/python benchmarks/core.py

bench-algorithms: setup ## time every algorithm: slides, waits, bulk evictions, ranges
	$(BIN)/python benchmarks/algorithms.py

bench-pba: setup ## time pba's two threads against sba's one
	$(BIN)/python benchmarks/pba.py

bench-windows: setup ## time windows: time against rows, many keys against one, bursts
	$(BIN)/python benchmarks/windows.py

bench-plans: setup ## time many queries together against each alone (minutes)
	$(BIN)/python benchmarks/plans.py

bench-stores: setup ## time and weigh windows in RocksDB and Redis against memory (ten minutes)
	$(BIN)/python benchmarks/stores.py

bench-spark: setup ## time sash.spark against the sort alone and Spark's own windows (half an hour)
	$(BIN)/python benchmarks/spark.py

bench-spark-memory: setup ## watch a Spark worker's memory while 20 million rows of a key pass
	$(BIN)/python benchmarks/spark_memory.py

bench-stream: setup ## time sash.spark on streams against Spark's own state and windows (half an hour)
	$(BIN)/python benchmarks/stream.py

soak-stream: setup ## 10 million keys come and go on a stream: does memory stay flat? (ten minutes)
	$(BIN)/python benchmarks/stream_soak.py

fixtures: setup ## ask a local Spark (Java 17 or newer) for tests/fixtures anew
	$(BIN)/python tests/fixtures/spark_windows.py

lock: $(BIN)/uv ## update requirements.lock after pyproject.toml changed (UPGRADE=1: all)
	$(BIN)/uv pip compile --quiet pyproject.toml --all-extras --group dev \
	    --universal --generate-hashes --custom-compile-command "make lock" \
	    $(if $(UPGRADE),--upgrade) --output-file requirements.lock

clean: ## remove .venv, caches and build output
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(VENV)/.synced: pyproject.toml requirements.lock | $(BIN)/uv
	$(LOCKED) --extra sketches --extra spark --extra connect --extra stores --extra figures --group dev
	$(INSTALL) --no-deps --editable .
	@touch $@

