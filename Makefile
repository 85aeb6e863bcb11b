# make demo   set up, and privatize examples/notes.txt
# make serve   set up, and run the REST service, with budgets in SQLite, or in DATABASE_URL
# make test   set up, then lint, types, import contract, tests and doctests
# make fuzz   try damaged files and strange texts for some minutes, and print what was tried
# make stress   kill a run at 200 moments, and resume each time; kill clients and databases of a ledger
# make bench    measure speed and memory beside the peers', into benchmarks/RESULTS.md: half an hour
# make bench-quick   the same with less of everything, in two minutes
# make docs   write docs/reference/cli.md, and build the site of the documentation into build/site/html
# make lock   install the newest versions of all packages, and write them to constraints.txt
# make dist   build wheel and source, try them in an empty environment, list their parts, into dist/
# make vulnerabilities   look up known vulnerabilities of the versions in constraints.txt
# All create .venv and install into it; nothing else on the machine is changed. What they install has
# the versions in constraints.txt; `make test CONSTRAINTS=` takes the newest.

PYTHON ?= python3
BIN := .venv/bin
CONSTRAINTS ?= constraints.txt
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check
QUIET_INSTALL = $(BIN)/python $(PIP_INSTALL) $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS)) --editable

.PHONY: demo serve test fuzz stress bench bench-quick docs dist lock vulnerabilities clean

demo: .venv/demo
	@$(BIN)/python examples/demo.py

serve: .venv/serve
	@MALAPROP_DATABASE="$(DATABASE_URL)" $(BIN)/malaprop serve $(SERVE)

test: .venv/test
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo > .venv/imports.log || { cat .venv/imports.log; exit 1; }
	@command -v java > /dev/null || test -n "$$JAVA_HOME" || \
	  echo "There is no Java: the tests on Spark are skipped (they need openjdk-17-jre-headless)."
	@command -v initdb > /dev/null || ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || \
	  echo "There is no PostgreSQL: the tests of the ledger on it are skipped (they need postgresql)."
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || \
	  echo "There is no Chromium: the tests of the page in a browser are skipped (they need chromium)."
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

fuzz: .venv/test
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz $(FUZZ)

stress: .venv/test
	@MALAPROP_KILLS=200 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/cli/test_killed.py
	@MALAPROP_KILLS=50 MALAPROP_CLIENTS=200 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest \
	  tests/ledger/test_killed.py

bench: .venv/bench
	@$(BIN)/python benchmarks/speed

bench-quick: .venv/bench
	@$(BIN)/python benchmarks/speed --size quick

docs: .venv/test
	@$(BIN)/python tools/build_cli_docs.py
	@$(BIN)/python tools/build_site.py

dist:
	@$(PYTHON) -m venv build/dist && build/dist/bin/python $(PIP_INSTALL) build twine cyclonedx-bom
	@build/dist/bin/python tools/build_release.py

# Test tools and benchmarks are resolved together, so that one set of versions serves both.
lock:
	@rm -rf build/lock && $(PYTHON) -m venv build/lock
	@build/lock/bin/python $(PIP_INSTALL) '.[test,bench]'
	@build/lock/bin/python -m pip --disable-pip-version-check freeze --exclude malaprop > constraints.txt
	@rm -rf build/lock
	@git --no-pager diff --stat constraints.txt

vulnerabilities:
	@$(PYTHON) -m venv build/pip-audit && build/pip-audit/bin/python $(PIP_INSTALL) pip-audit
	@build/pip-audit/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .hypothesis benchmarks/.cache benchmarks/.venvs

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Malaprop needs Python 3.11 or later; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "python3 -m venv failed: install the venv module"; exit 1; }

.venv/demo: .venv/bin/python pyproject.toml $(CONSTRAINTS)
	@echo "Setting up .venv (once) ..."
	@$(QUIET_INSTALL) '.[evaluate]' > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@

.venv/serve: .venv/bin/python pyproject.toml $(CONSTRAINTS)
	@echo "Setting up .venv with the service (once) ..."
	@$(QUIET_INSTALL) '.[server]' > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@

.venv/test: .venv/bin/python pyproject.toml $(CONSTRAINTS)
	@echo "Setting up .venv with the test tools (once) ..."
	@$(QUIET_INSTALL) '.[test]' > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@ .venv/demo .venv/serve

.venv/bench: .venv/bin/python pyproject.toml $(CONSTRAINTS)
	@echo "Setting up .venv with the tools for benchmarks (once) ..."
	@$(QUIET_INSTALL) '.[bench]' > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@ .venv/demo
