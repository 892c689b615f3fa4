# make demo   sets everything up and runs the main job, with pictures
# make test   sets everything up and runs every check
# make docs   sets everything up and builds the documentation
# make exact  compares small games with exact arithmetic, in about two minutes
# make coverage   measures which lines the quick tests run; fails if fewer than before
# make thorough   runs the tests that try some of very many cases with all of them, or with many more
# make fuzz   runs damaged and extreme inputs: COUNT of them, from SEED; those that fail are saved in build/fuzzing
# make generate   rewrites schemas, lists of names, tables and pictures
# make bench-compare A=OLD B=NEW   compares the stored benchmark results of two commits
# make dist   builds the source distribution and the wheel in dist
# make test-dist   installs both into empty environments, uses them, and runs the suite from the source distribution
# make test-lowest   runs TESTS with the lowest versions of all dependencies
# make test-pythons   runs TESTS with each of PYTHONS
# make mutation   changes the measures and the fixed point in 100 places each, and lists changes that no test notices
# make startup   measures what takes time in make demo
# make kills   kills run, compare, study and sweep 200 times each, and checks that nothing is lost
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
COUNT ?= 100000
SEED ?= 0
TESTS ?= tests
PYTHONS ?= python3.11 python3.12 python3.13

unexport PYTHONDONTWRITEBYTECODE  # without bytecode, every process compiles every module anew

.PHONY: demo test coverage exact thorough fuzz docs generate kills bench-compare dist test-dist test-lowest test-pythons mutation startup

demo: $(VENV)/demo
	$(BIN)/gamesim run chicken --out runs/demo --force
	@echo
	@echo "The pictures are in runs/demo/figures, the whole story is runs/demo/report.html. Next: $(BIN)/gamesim list scenarios"

test: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/check_package.py
	$(BIN)/gamesim run chicken-wavelet --rounds 1 --no-figures --quiet --out build/compiled --force  # or both would compile
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

coverage: $(VENV)/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" --cov --cov-fail-under 72

exact: $(VENV)/test
	GAMESIM_EXACT=all OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 tests/test_exactness.py

thorough: $(VENV)/test
	GAMESIM_SIZES=all GAMESIM_FLIPS=1000 GAMESIM_KILLS=20 GAMESIM_ROUNDS=2000 GAMESIM_SENTENCES=all \
	    GAMESIM_LONG=1000000 GAMESIM_SEEDS=all OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 tests/test_sizes.py \
	    tests/test_damage.py tests/test_kernel_cache.py tests/test_classroom_server.py tests/test_faults.py \
	    tests/test_transcriptions.py tests/test_wavelet.py tests/test_wavelet_optimistic.py tests/test_sentences.py \
	    tests/test_learners.py tests/test_equilibrium.py tests/test_distance.py tests/test_polytope.py \
	    tests/test_interior_point.py

docs: $(VENV)/test
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -b html docs docs/_build
	@echo "The documentation is in docs/_build/index.html"

fuzz: $(VENV)/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzzing --count $(COUNT) --seed $(SEED)

generate: $(VENV)/test
	$(BIN)/python docs/update.py

kills: $(VENV)/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.kill_campaign

dist: $(VENV)/test
	rm -rf dist
	$(BIN)/python -m hatchling build

test-dist: dist
	$(BIN)/python tests/check_dist.py $(PART)

test-lowest: build/lowest.txt
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/pip install --quiet --requirement build/lowest.txt
	build/lowest/bin/pip install --quiet --no-deps --editable .
	OPENBLAS_NUM_THREADS=1 build/lowest/bin/python -m pytest -n 2 --dist worksteal -W default::DeprecationWarning $(TESTS)

build/lowest.txt: pyproject.toml
	$(PYTHON) -m venv build/uv
	build/uv/bin/pip install --quiet uv
	build/uv/bin/uv pip compile --quiet --system-certs --python $(PYTHON) --resolution lowest-direct --extra test \
	    --output-file $@ pyproject.toml

test-pythons:
	for python in $(PYTHONS); do \
	    $$python -m venv build/$${python##*/} && \
	    build/$${python##*/}/bin/pip install --quiet --editable ".[test]" && \
	    OPENBLAS_NUM_THREADS=1 build/$${python##*/}/bin/python -m pytest -n 2 --dist worksteal $(TESTS) || exit 1; \
	done

mutation: $(VENV)/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.mutation measure --seed $(SEED)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.mutation fixed-point --seed $(SEED)

startup: $(VENV)/demo
	$(BIN)/python benchmarks/startup.py --install

bench-compare: $(VENV)/demo
	$(BIN)/python benchmarks/results.py $(A) $(B)

$(VENV)/demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[test]"
	touch $@
