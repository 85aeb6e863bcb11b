# make demo   set up, and privatize examples/notes.txt
# make test   set up, then lint, types, import contract, tests and doctests
# make stress   kill a run at 200 moments, and go on each time
# make bench    measure speed and memory beside the peers', into benchmarks/RESULTS.md: half an hour
# make bench-quick   the same with less of everything, in two minutes
# All create .venv and install into it; nothing else on the machine is changed.

PYTHON ?= python3
BIN := .venv/bin
QUIET_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo test stress bench bench-quick docs clean

demo: .venv/demo
	@$(BIN)/python examples/demo.py

test: .venv/test
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo > .venv/imports.log || { cat .venv/imports.log; exit 1; }
	@command -v java > /dev/null || test -n "$$JAVA_HOME" || \
	  echo "There is no Java: the tests on Spark are skipped (they need openjdk-17-jre-headless)."
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

stress: .venv/test
	@MALAPROP_KILLS=200 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/cli/test_killed.py

bench: .venv/bench
	@$(BIN)/python benchmarks/speed

bench-quick: .venv/bench
	@$(BIN)/python benchmarks/speed --size quick

docs: .venv/test
	@$(BIN)/python tools/build_cli_docs.py

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .hypothesis benchmarks/.cache benchmarks/.venvs

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Malaprop needs Python 3.11 or later; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "python3 -m venv failed: install the venv module"; exit 1; }

.venv/demo: .venv/bin/python pyproject.toml
	@echo "Setting up .venv (once) ..."
	@$(QUIET_INSTALL) . > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@

.venv/test: .venv/bin/python pyproject.toml
	@echo "Setting up .venv with the test tools (once) ..."
	@$(QUIET_INSTALL) '.[test]' > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@ .venv/demo

.venv/bench: .venv/bin/python pyproject.toml
	@echo "Setting up .venv with the tools for benchmarks (once) ..."
	@$(QUIET_INSTALL) '.[bench]' > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@ .venv/demo
