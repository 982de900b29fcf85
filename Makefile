# Needs Python >= 3.11 and make. Everything else goes into $(VENV).
#   make demo          the main job on real data
#   make test          the tests              (make test ARGS="-k mechanism")
#   make test-minimum  the tests on the oldest supported versions (Python 3.11, or OLDEST_PYTHON=/path/to/one)
#   make test-3.12     the demo and the tests on a Python of your choice, in an environment of its own
#   make test-examples the tests of the examples: the survey on the web and the papers' experiments
#   make test-browser  the tests that need Node (20 or newer) or a browser (Chromium)
#   make fuzz          changed mechanisms, proofs and records: do readers, clients and checkers keep what they promise?
#                      (make fuzz ARGS="truth --number 10000")
#   make test-package  builds sdist and wheel, installs them afresh and tries them
#   make test-engines  the tests with Spark, Dask, Ray, DuckDB and Polars, in an environment of their own
#                      (2 GB with Java; make test-engines-minimum: on the oldest versions)
#   make reproduce     builds the wheel twice, and compares the bytes
#   make vertices      adds cddlib, for solver="vertices" (make demo and make test try to)
#   make golden        writes the printed texts of tests/golden/ again, to be read as a difference
#   make lint          import-linter (make imports: alone), ruff and mypy; make format: let ruff repair and format
#   make survey        the example of a survey in browsers, on http://localhost:8000
#   make bench         the benchmarks
#   make coverage      how often confidence intervals hold the truth; half an hour
#   make leaderboard   compares with other approaches, and draws the README's table and chart again
#   make tables        computes the bounds on tails again that the package keeps, and checks them
#   make mutants       breaks the privacy core line by line: do the tests notice? An hour or two
#                      (make mutants ARGS="--room certificate", ARGS="--processes 2")
#   make docs          the documentation site (make docs ARGS="-D plot_gallery=0": examples not run); with Node it asks
#                      the site's search what people ask
#   make nightly       all of these that check something, one after the other, whatever fails; says at the end which
#                      passed. Many hours (make nightly PARTS="lint fuzz"; logs: build/nightly). A part that has
#                      not ended after eight hours (HOURS=8) has failed, so that the others still run
#   make clean         remove all that was made
PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?=
ARGS ?=
WORKERS ?= 2

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input -qq
OLDEST_PYTHON ?= python3.11
MINIMUM := CONSTRAINTS=tests/minimum-constraints.txt PYTHON=$(OLDEST_PYTHON)
CANDIDATES := $(PYTHON) $(if $(filter python3,$(PYTHON)),python3.14 python3.13 python3.12 python3.11)

# "stale" if the environment is absent, broken, was made in another folder, or has another Python than PYTHON asks for.
STALE := $(shell $(PY) -c '' 2>/dev/null && \
  { test ! -f $(VENV)/.home || test "$$(cat $(VENV)/.home)" = "$(CURDIR)"; } \
  $(if $(filter file,$(origin PYTHON)),,&& test "$$($(PY) -V)" = "$$($(PYTHON) -V 2>/dev/null)") || echo stale)

.PHONY: nightly demo survey test test-minimum test-examples test-browser test-engines test-engines-minimum \
  test-package fuzz reproduce vertices imports lint format bench coverage leaderboard tables golden mutants lives docs clean venv
.NOTPARALLEL:

demo: $(VENV)/.stamp-examples $(VENV)/.tried-vertices
	$(PY) examples/demo.py $(ARGS)

survey: $(VENV)/.stamp-survey
	@test -f examples/web_survey/data/manifest.json || $(PY) examples/web_survey/design.py
	$(PY) examples/web_survey/server.py $(ARGS)

# One thread for each worker's linear algebra: the workers already fill the cores. Bytecode is kept even
# where the environment says otherwise: tests that start Python would compile the package each time.
# Each worker begins with tests that are neighbours, which share fits, and at last takes of the other's.
test: $(VENV)/.stamp-examples-test $(VENV)/.tried-vertices
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(PY) -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-examples: $(VENV)/.stamp-examples-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n $(WORKERS) tests/examples $(ARGS)

test-minimum:
	$(MAKE) test $(MINIMUM) VENV=.venv-minimum

test-3.%:
	$(MAKE) demo test PYTHON=python3.$* VENV=.venv-3.$*

test-browser:
	node --test javascript/test
	$(MAKE) .venv-browser/.stamp-browser-survey-test VENV=.venv-browser
	.venv-browser/bin/python -m pytest tests/browser tests/examples -k "browser or survey" $(ARGS)

fuzz: $(VENV)/.stamp-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) fuzz/run.py $(ARGS)

test-package: $(VENV)/.stamp-test
	$(PY) tests/clean_install.py

# The engines are 1 GB and bring pins of their own, so they stay out of $(VENV).
ENGINES := test-spark-dask-ray-duckdb-polars-engines
ENGINES_VENV ?= .venv-engines
test-engines:
	$(MAKE) $(ENGINES_VENV)/.stamp-$(ENGINES) VENV=$(ENGINES_VENV)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(ENGINES_VENV)/bin/python -m pytest tests/engines $(ARGS)

test-engines-minimum:
	$(MAKE) test-engines $(MINIMUM) ENGINES_VENV=.venv-engines-minimum

reproduce: $(VENV)/.stamp-test
	rm -rf build/reproduced
	for run in 1 2; do $(PIP) wheel --no-deps --no-cache-dir --wheel-dir build/reproduced/$$run . || exit 1; done
	sha256sum build/reproduced/*/*.whl
	cmp build/reproduced/*/*.whl

vertices: $(VENV)/.stamp-vertices

imports: $(VENV)/.stamp-dev
	$(VENV)/bin/lint-imports --no-logo --no-cache

# mypy reads the types of typer and duckdb, too.
lint: $(VENV)/.stamp-cli imports
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(VENV)/.stamp-dev
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# The packages compared with bring their own pins, so they stay out of $(VENV).
bench:
	$(MAKE) .venv-bench/.stamp-bench-test VENV=.venv-bench
	.venv-bench/bin/python benchmarks/run.py $(ARGS)

coverage: $(VENV)/.stamp-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) benchmarks/bench_coverage.py $(ARGS)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) benchmarks/bench_set_coverage.py --quick --reports
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) benchmarks/bench_numbers.py

# What is there already is kept (make leaderboard ARGS="--task adult_hours --eps 1" for a part of it).
leaderboard: $(VENV)/.stamp-leaderboard
	cd benchmarks && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(abspath $(PY)) -m leaderboard $(ARGS)

# Ten minutes and 2 GB (make tables ARGS=--write: replaces what is kept).
tables: $(VENV)/.stamp-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) benchmarks/tail_bounds/make.py $(ARGS)

lives: $(VENV)/.stamp-test
	SKRLDP_LIVES=300 $(PY) -m pytest tests/test_any_order_of_use.py tests/cli/test_ledger_command.py $(ARGS)

golden: $(VENV)/.stamp-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) tests/test_golden.py $(ARGS)

mutants: $(VENV)/.stamp-test
	$(PY) tests/mutants/mutate.py $(ARGS)

docs: $(VENV)/.stamp-docs
	$(PY) -m sphinx -W --keep-going -b html $(ARGS) docs docs/_build/html
	@if command -v node >/dev/null; then node docs/find.mjs docs/_build/html; fi
	@echo "The pages are in docs/_build/html; begin with index.html."

PARTS ?= lint test-package reproduce test-minimum test-3.11 test-3.12 test-3.13 test-3.14 test-engines \
  test-engines-minimum test-examples test-browser docs lives fuzz coverage mutants tables bench leaderboard
HOURS ?= 8
LIMIT := $(if $(shell command -v timeout),timeout $(HOURS)h)
nightly:
	@rm -rf build/nightly; mkdir -p build/nightly
	@for part in $(PARTS); do \
	  begun=$$(date +%s); \
	  $(LIMIT) $(MAKE) $$part </dev/null >build/nightly/$$part.log 2>&1 && result=passed || result=FAILED; \
	  echo "$$result $$part ($$(($$(date +%s) - begun)) s)" | tee -a build/nightly/results.txt; \
	done
	@! grep FAILED build/nightly/results.txt

clean:
	rm -rf .venv .venv-3.* .venv-minimum .venv-bench .venv-browser .venv-engines .venv-engines-minimum build dist \
	  .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	rm -rf docs/_build docs/auto_examples docs/generated docs/sg_execution_times.rst
	find skrldp tests examples benchmarks docs -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# .stamp-a-b: the package is installed in place with a and b, extras or dependency groups of pyproject.toml.
$(VENV)/.stamp-%: pyproject.toml $(CONSTRAINTS) $(if $(STALE),venv)
	@echo "Installing skrldp with its dependencies in $(VENV) (a minute or two the first time)"
	@$(PY) tests/requirements.py $* >$(VENV)/requirements.txt
	@$(PIP) install --prefer-binary $(if $(CONSTRAINTS),-c $(CONSTRAINTS)) -r $(VENV)/requirements.txt || { \
	  echo "Could not install the dependencies; the reason is above."; \
	  case '$*' in *vertices*) \
	    echo "Where no binary of pycddlib-standalone fits, a C compiler and Python's headers are needed"; \
	    echo "(Debian and Ubuntu: gcc python3-dev; Fedora: gcc python3-devel; macOS: xcode-select --install).";; \
	  esac; \
	  exit 1; } >&2
	@touch $(foreach extra,$(subst -, ,$*),$(VENV)/.stamp-$(extra)) $@

# cddlib mostly has to be compiled. Nothing but solver="vertices" wants it, and that not always, so
# where it cannot be had the rest goes on without it.
$(VENV)/.tried-vertices: pyproject.toml $(CONSTRAINTS) $(if $(STALE),venv)
	@$(MAKE) $(VENV)/.stamp-vertices >$(VENV)/vertices.log 2>&1 || \
	  echo "Going on without cddlib, which could not be installed ($(VENV)/vertices.log says why; try again: make vertices)"
	@touch $@

venv:
	@for p in $(CANDIDATES); do \
	  if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$p; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "skrldp needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
	  echo "Name another one: make PYTHON=/path/to/python3.12 test"; \
	  exit 1; \
	fi >&2; \
	rm -rf $(VENV); \
	$$python -m venv $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "$$python cannot make virtual environments (Debian and Ubuntu: install python3-venv)."; \
	  exit 1; } >&2; \
	pwd > $(VENV)/.home
