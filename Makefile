# Each target stands alone: it makes the environment that it needs.
# Try `make help`. Overridable: PYTHON, VENV, WORKERS, VERSIONS, PYTEST_ARGS.

PYTHON ?= python3
VENV ?= .venv
DEMO_VENV ?= .venv-demo
TORCHRL_VENV ?= .venv-torchrl
# What benchmarks training: the interpreter of test-multi-frameworks, where that was made.
TORCH_PYTHON ?= $(wildcard $(TORCHRL_VENV)/bin/python)
WORKERS ?= auto
# Other Pythons, the newest first.
VERSIONS ?= 3.14 3.13 3.12
# Frameworks to test against: name:extras:tests, each in .venv-name with constraints/name.txt.
ADAPTERS ?= trl:train,openai:tests/adapters/trl,tests/adapters/local,tests/training/test_language.py,tests/training/test_study.py \
	verifiers:verifiers:tests/adapters/verifiers \
	frameworks:agents,cli,env,inspect,mcp,openenv,ray,skyrl:tests/adapters/inspect_ai,tests/adapters/skyrl,tests/adapters/openenv,tests/adapters/ray,tests/adapters/mcp,tests/adapters/agents
# Trainers whose environments are too large for `make test`; written as ADAPTERS.
TRAINERS ?= verl:verl:tests/adapters/verl \
	nemo:nemo-gym:tests/adapters/nemo_gym:3.13.14
PYTEST_ARGS ?=

BIN := $(VENV)/bin
# Not compiled on installing: a check imports few files of what it installs, and compiles those.
PIP_INSTALL := -m pip install -q --no-compile -c constraints.txt
# So it is kept, whatever the surroundings say: checks start hundreds of processes, each of which
# would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
export VENV # its pip makes the other environments
PYTEST := $(BIN)/python -m pytest -q
# The tests of a file share what they draw and compile, so that one worker runs them all.
SHARED := -n $(WORKERS) --dist loadfile

# A stamp marks an environment that was finished, for this Python, these pins and this place:
# a checkout that was moved or copied has commands that run another one. Without it the
# environment is thrown away and made anew, so that a broken one never lingers.
PYTHON_TAG := $(shell $(PYTHON) -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)
TAG := $(PYTHON_TAG)-$(shell pwd -P | cksum | cut -d ' ' -f 1)
STAMP := $(VENV)/.installed-$(TAG)
DEMO_STAMP := $(DEMO_VENV)/.installed-$(TAG)
TORCHRL_STAMP := $(TORCHRL_VENV)/.installed-$(TAG)

DOCS_VENV ?= .venv-docs

DEMO_OUT ?= build/demo
DEMO_INCIDENT := cascading_failure-v4/test/246
DEMO_RECORDED ?= nezha/2023-01-30T115921
# make demo BUNDLE=nezha.jsonl.gz: recorded incidents from there, not those that are shipped.
BUNDLE ?=
DEMO_BUNDLE := $(if $(BUNDLE),--bundle $(BUNDLE))
DEMO_EVAL := eval oracle observer expert first_error random --task all --split test --episodes 10

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo install test release-check release-ready lint format types layers browser docs picture kernels unit properties bench-smoke bench \
	test-versions test-newest test-wheel test-adapters test-trainers test-multi-frameworks \
	check-python clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO_STAMP) ## scripted agents triage drawn incidents, graded (installs only the cli extra)
	@rm -rf $(DEMO_OUT)
	@echo "Five scripted agents, 10 incidents of each task. oracle sees the truth; observer decides by the exact"
	@echo "belief; expert follows the runbook; first_error believes the loudest error; random draws its actions."
	$(DEMO_VENV)/bin/logtriage $(DEMO_EVAL) --out $(DEMO_OUT)
	@echo "One incident, as an agent sees it; then what two of them made of it."
	$(DEMO_VENV)/bin/logtriage show $(DEMO_INCIDENT)
	$(DEMO_VENV)/bin/logtriage play $(DEMO_INCIDENT) --policy first_error --brief
	$(DEMO_VENV)/bin/logtriage play $(DEMO_INCIDENT) --policy expert --brief
	@echo "An incident recorded on a real system, where the root cause and the class of the fault are graded."
	$(DEMO_VENV)/bin/logtriage show $(DEMO_RECORDED) $(DEMO_BUNDLE)
	$(DEMO_VENV)/bin/logtriage play $(DEMO_RECORDED) --policy combined --brief $(DEMO_BUNDLE)
	$(DEMO_VENV)/bin/logtriage eval oracle combined first_error --task recorded $(DEMO_BUNDLE)
	@echo "transcripts and summary: $(DEMO_OUT); triage the first of the two incidents yourself:"
	@echo "  $(DEMO_VENV)/bin/pip install '.[play]' && $(DEMO_VENV)/bin/logtriage play $(DEMO_INCIDENT)"

test: lint types layers docs unit properties bench-smoke test-newest test-wheel test-adapters ## every check, from nothing; what CI runs
	@echo "all checks passed"

# What is quick to see comes first, then what takes hours.
release-check: release-ready browser test-versions test ## what a release needs: a dated changelog, a clean tree, the browser's files, every check
	@echo "ready: tag it v$(VERSION)"

VERSION = $(shell sed -n 's/^version = "\([^"]*\)".*/\1/p' pyproject.toml)
release-ready:
	@grep -Eq "^## $(VERSION) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$$" CHANGELOG.md || \
		{ echo "CHANGELOG.md: expected a heading '## $(VERSION) (YYYY-MM-DD)'"; exit 1; }
	@[ -z "$$(git status --porcelain)" ] || { echo "the tree differs from the last commit"; exit 1; }

install: $(STAMP) ## the development environment, in $(VENV)

lint: $(STAMP) ## style: ruff check and ruff format --check
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(STAMP) ## mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy

layers: $(STAMP) ## import-linter: who may import whom
	$(BIN)/lint-imports

docs: | check-python ## the documentation site, in build/site; its notebooks are run
	scripts/make_venv.sh $(DOCS_VENV) $(PYTHON) constraints/docs.txt docs
	@rm -rf .cache/mkdocs-jupyter # else results of an earlier package would be shown
	NO_MKDOCS_2_WARNING=1 PYTHONWARNINGS=ignore::DeprecationWarning $(DOCS_VENV)/bin/python -m mkdocs build --quiet

# Apart from docs, since it takes Pyodide from npm: without it that page of the site says what is missing.
browser: | check-python ## what the site needs to run logtriage in a browser, in build/browser (npm)
	$(PYTHON) scripts/browser_files.py build/browser

picture: $(STAMP) ## the README's picture of a replay, taken anew (needs Chromium)
	$(BIN)/python -m scripts.replay_picture

# Compiled once, so that workers find them, and not by each worker for itself.
kernels: $(STAMP)
	@$(BIN)/python scripts/compile_kernels.py

unit: $(STAMP) kernels ## tests/
	$(PYTEST) $(SHARED) tests $(PYTEST_ARGS)

properties: $(STAMP) kernels ## the laws in property_tests/, the same examples every time
	$(PYTEST) $(SHARED) --hypothesis-profile ci property_tests $(PYTEST_ARGS)

# Every benchmark, but not of tens of thousands of rows: that it runs, few rows show as well.
bench-smoke: $(STAMP) kernels ## every benchmark runs; its figures mean nothing
	$(PYTEST) benchmarks -k 'not 16384 and not 65536' --benchmark-min-rounds=1 --benchmark-max-time=0.02 \
		--benchmark-warmup=off --benchmark-columns=median,rounds

bench: $(STAMP) kernels ## the benchmarks in earnest; writes docs/results/benchmarks.md
	$(BIN)/python scripts/benchmark_results.py docs/results/benchmarks.md $(TORCH_PYTHON:%=--torch %) $(PYTEST_ARGS)

test-versions: ## golden transcripts under the other supported Pythons that are found
	scripts/test_versions.sh $(VERSIONS)

# Each Python takes an environment; a release asks them all.
test-newest: ## golden transcripts under the newest other Python that is found
	scripts/test_versions.sh --first $(VERSIONS)

test-wheel: $(STAMP) kernels ## build the wheel and use it from outside the source tree
	scripts/test_wheel.sh $(BIN)/python "$(DEMO_EVAL)" "$(DEMO_INCIDENT)"

test-multi-frameworks: $(TORCHRL_STAMP) ## TorchRL plays teams; not part of test (2 GB)
	$(TORCHRL_VENV)/bin/python -m pytest -q tests/multi/test_torchrl.py

test-adapters: | check-python ## adapters against their frameworks, each in its own environment
	scripts/test_adapters.sh $(PYTHON) $(ADAPTERS)

test-trainers: $(STAMP) test-adapters ## the same 50 incidents through every framework: all grades are equal
	scripts/test_adapters.sh $(PYTHON) $(TRAINERS)
	rm -rf build/trainers
	$(BIN)/python -m scripts.trainers play core build/trainers/core.json
	for pair in frameworks:skyrl frameworks:inspect frameworks:openenv verifiers:verifiers trl:trl verl:verl; do \
		venv=.venv-$${pair%:*} name=$${pair#*:}; \
		[ -x $$venv/bin/python ] || continue; \
		$$venv/bin/python -m scripts.trainers play $$name build/trainers/$$name.json || exit 1; \
	done # those without the Python that they need were said to be skipped
	$(BIN)/python -m scripts.trainers compare build/trainers/*.json

clean: ## remove environments, build products and caches
	rm -rf .venv .venv-* $(VENV) build dist .benchmarks .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

check-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "logtriage needs Python 3.11 or later; try make PYTHON=/path/to/python3.11" >&2; exit 1; }

$(STAMP): pyproject.toml constraints.txt | check-python
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) pip # a pip of today takes half of the time, here and in make_venv.sh
	$(BIN)/python $(PIP_INSTALL) -e '.[cli,env,fast,multi,openai,play,dev]'
	@touch $@

$(DEMO_STAMP): pyproject.toml constraints.txt | check-python
	rm -rf $(DEMO_VENV)
	$(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python $(PIP_INSTALL) -e '.[cli]'
	@touch $@

$(TORCHRL_STAMP): pyproject.toml constraints.txt | check-python
	rm -rf $(TORCHRL_VENV)
	$(PYTHON) -m venv $(TORCHRL_VENV)
	$(TORCHRL_VENV)/bin/python $(PIP_INSTALL) -e '.[multi,train-rl,test]'
	@touch $@
