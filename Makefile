# make demo   sets up, trains the default experiment on the bundled data, evaluates it beside its floors
# make test   sets up and runs the tests
# make check  ruff, mypy
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --upgrade "pip>=24"
	$(BIN)/python -m pip install -c constraints.txt -e ".[train,minilm,llm,dev]"
	touch $@

demo: $(READY)
	rm -rf outputs/demo
	$(BIN)/python train.py output_dir=outputs/demo/model
	$(BIN)/python eval.py -m scheme=separate,merged,cite_separate lang=en,pl \
		verifier=citeverifier,keyword,statement_only hydra.sweep.dir=outputs/demo/eval
	$(BIN)/citeverifier report outputs/demo/eval --out outputs/demo

test: $(READY)
	$(BIN)/python -m pytest -n 2

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) outputs
