# make demo   sets everything up and runs the main job, with pictures
# make test   sets everything up and runs every check
# make docs   sets everything up and builds the documentation
# make exact  compares small games with exact arithmetic, in about two minutes
# make fuzz   runs damaged and extreme inputs: COUNT of them, from SEED; those that fail are saved in build/fuzzing
# make generate   rewrites schemas, lists of names, tables and pictures
# make bench-compare A=OLD B=NEW   compares the stored benchmark results of two commits
# make kills   kills run, compare, study and sweep 200 times each, and checks that nothing is lost
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
COUNT ?= 100000
SEED ?= 0

.PHONY: demo test exact fuzz docs generate kills bench-compare

demo: $(VENV)/demo
	$(BIN)/gamesim run chicken --out runs/demo --force
	@echo
	@echo "The pictures are in runs/demo/figures, the whole story is runs/demo/report.html. Next: $(BIN)/gamesim list scenarios"

test: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/check_package.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

exact: $(VENV)/test
	GAMESIM_EXACT=all OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 tests/test_exactness.py

docs: $(VENV)/test
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -b html docs docs/_build
	@echo "The documentation is in docs/_build/index.html"

fuzz: $(VENV)/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzzing --count $(COUNT) --seed $(SEED)

generate: $(VENV)/test
	$(BIN)/python docs/update.py

kills: $(VENV)/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.kill_campaign

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
