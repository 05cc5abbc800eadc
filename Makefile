# bakeoff: `make demo` and `make test` do all set-up by themselves, and do not repeat what is there.

PYTHON     ?= python3
FRAMEWORKS := torch jax tensorflow
# The longest first: Jittor compiles itself, which takes minutes, while the others are made.
TESTED     := jittor $(FRAMEWORKS) mlx
VENV       := .venv
BIN        := $(VENV)/bin
READY      := $(VENV)/.ready

# Where Python keeps nothing that it has compiled, as in many containers, each process would compile all that it imports,
# for seconds: what make starts keeps it, and what is installed is compiled at once for what a user starts.
COMPILE    := $(if $(PYTHONDONTWRITEBYTECODE),--compile-bytecode)
unexport PYTHONDONTWRITEBYTECODE

# Two processes run groups of tests, the longest first (tests/conftest.py), whose lines of progress stand for dots.
SPREAD     := -n 2 -o console_output_style=classic

# What a user types from now on.
CALL       := printf '%s\n' "from now on, in this shell:  . $(BIN)/activate" \
  "then, for one:               bakeoff report --html report.html" "without activating:          $(BIN)/bakeoff"

.DEFAULT_GOAL := help
.PHONY: help setup demo test tested-environments test-all test-quick mutants check format docs results site environments clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "PYTHON=python3.12 chooses another interpreter (3.11 or newer)"

setup: $(READY) ## bakeoff's own environment, and how to call it
	@$(CALL)

demo: environments ## race the frameworks on handwritten digits: verdict, chart and report (75 seconds after set-up)
	$(BIN)/bakeoff run mlp-mnist $(FRAMEWORKS) --data digits --budget 68s
	@echo
	@$(CALL)

test: $(READY) ## every check, and tests with every framework (some 20 minutes on 2 cores after set-up)
	@$(MAKE) --no-print-directory --jobs=2 check tested-environments
	$(BIN)/python tests/report/browser/tools.py
	$(BIN)/pytest $(SPREAD) --durations=20

tested-environments: $(READY)
	$(BIN)/bakeoff env create $(TESTED)

test-all: ## as `make test`, of which the sources draw a part, with nothing left out but planted faults
	BAKEOFF_TESTS=all $(MAKE) test

test-quick: check ## lint, types and every test that is not slow, without any framework (some 5 minutes on 2 cores)
	$(BIN)/pytest $(SPREAD) -m "not slow"

mutants: $(READY) ## plant every fault of tests/mutants in every framework, and write docs/mutants.md (4 to 15 minutes on 2 cores)
	$(BIN)/bakeoff env create $(TESTED)
	BAKEOFF_MUTANTS=all $(BIN)/pytest tests/mutants $(SPREAD)

check: $(READY) ## lint, formatting, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY) ## rewrite the code in the project's format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

docs: $(READY) ## write docs/cli.md again from the command line itself, docs/published.md from the studies, docs/reading.md's example
	$(BIN)/python docs/write_cli.py
	$(BIN)/python docs/write_vocabulary.py
	$(BIN)/python docs/write_published.py
	$(BIN)/python docs/write_reading.py
	$(BIN)/python docs/write_export.py
	$(BIN)/python docs/keep_explained.py
	$(BIN)/python docs/write_results.py

results: $(READY) ## write docs/results.md and its pages from kept records; RESULTS=FOLDER keeps the studies there first
	$(BIN)/python docs/write_results.py $(RESULTS)

site: $(READY) ## build the documentation as a site, in site/; a link that leads nowhere is an error
	$(BIN)/mkdocs build --quiet

environments: $(READY) ## bakeoff's own environment, and one for each framework
	$(BIN)/bakeoff env create $(FRAMEWORKS)

# Installed once; again only when pyproject.toml has changed. By uv, which takes seconds where pip takes minutes; but it
# does not read pip's configuration, such as another index.
PIP        := $(BIN)/python -m pip install --quiet --disable-pip-version-check
OWN        := --editable '.[data,test]'
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "bakeoff needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "this Python cannot make environments; on Debian: apt install python3-venv" >&2; exit 1; }
	@echo "bakeoff: setting up its own environment in $(VENV)"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(PIP) uv && $(BIN)/uv pip install --quiet $(COMPILE) --python $(BIN)/python $(OWN) \
	  || { echo "bakeoff: uv could not; pip goes on, by its own settings"; $(PIP) $(OWN); }
	@touch $@

clean: ## remove what make has made here; framework environments stay: bakeoff env remove
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
