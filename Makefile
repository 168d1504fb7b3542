# The commands of the README and of CONTRIBUTING. Each sets up what it needs, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test test-long lint types tests docs browser format clean

run: $(STAMP)
	$(BIN)/gonie demo

test: lint types tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal -m "not long"

test-long: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal -m long

docs: $(STAMP)
	$(BIN)/python tools/make_docs.py
	$(BIN)/mkdocs build --strict --quiet
	@echo "the site is in build/site: open build/site/index.html, or $(BIN)/mkdocs serve"

browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome \
	  || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium fonts-nanum; }

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "gonie needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "installing python3-venv"; apt-get install -y -q python3-venv; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 -c constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[train,transformers,llm,korean,serve,telemetry,explain,ray,spacy,docs,dev]' -c constraints.txt
	@touch $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
