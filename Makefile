# Every target sets up what it needs by itself: the virtual environment .venv with Polysome and its tools in it.

PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
OUT ?= build
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ANTLR := 4.13.2
ANTLR_ARGS := -Dlanguage=Python3 -no-listener -no-visitor -Xexact-output-dir
# Of pytest: one more than there are cores, as some tests wait.
WORKERS := $(shell echo $$(($$(nproc) + 1)))
GRAMMARS := syntax/Polysome p4/P4
DEMO := $(BIN)/polysome run examples/load_balancer/load_balancer.nf --in clients=examples/load_balancer/clients.pcap \
	--config examples/load_balancer/config.toml --out $(OUT)/load_balancer.pcapng
DEMO_BUNDLE := $(BIN)/polysome compile examples/load_balancer/load_balancer.nf --site examples/load_balancer/site.toml \
	-o $(OUT)/load_balancer_bundle

# Tests start hundreds of Python processes: each would compile all modules anew if none kept them.
unexport PYTHONDONTWRITEBYTECODE

# A checkout that was moved or copied has an environment that still points to the old place: make it anew.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## List the targets (this text)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo '  PYTHON=...     the Python to use, 3.11 or newer'
	@echo '  ARGS=...       more arguments for pytest (test, pytest, golden) or the benchmark (bench)'

.PHONY: demo
demo: $(READY) ## Run the load balancer on its example capture, then compile the bundle of its deployment
	@mkdir -p $(OUT)
	@echo '$(DEMO)'
	@$(DEMO)
	@echo
	@echo '$(DEMO_BUNDLE)'
	@$(DEMO_BUNDLE)

.PHONY: setup
setup: $(READY) ## Make .venv and install Polysome and its tools there (the other targets do this by themselves)

.PHONY: test
test: lint types pytest ## Run everything that must pass: lint, types, then the tests

.PHONY: pytest
pytest: $(READY) ## Run the tests only, slow ones last; ARGS='-k name' picks some
ifeq ($(strip $(ARGS)),)
	@mkdir -p $(OUT)
	@$(MAKE) --no-print-directory deployment-tests >$(OUT)/deployment-tests.txt 2>&1 & deployed=$$!; \
	$(MAKE) --no-print-directory fast-tests && $(MAKE) --no-print-directory slow-tests; others=$$?; \
	wait $$deployed; deployed=$$?; cat $(OUT)/deployment-tests.txt; exit $$((others || deployed))
else
	@$(BIN)/python -m pytest -q $(ARGS)
endif

# `pytest` has deployments beside the others: they mostly wait, and there is one at a time on a machine.
.PHONY: fast-tests
fast-tests: $(READY) ## Run the tests that are not slow
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m 'not slow'

.PHONY: slow-tests
slow-tests: $(READY) ## Run the slow tests, but those of deployments
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m slow --ignore tests/up

.PHONY: deployment-tests
deployment-tests: $(READY) ## Run the tests of whole deployments; they need root
	@$(BIN)/python -m pytest -q tests/up

.PHONY: lint
lint: check-format ## Check style and format: Python with ruff, C++ with clang-format and clang-tidy
	@$(BIN)/ruff check --quiet --output-format concise
	@$(BIN)/python -m tests.lint_cpp

.PHONY: types
types: $(READY) ## Check types with mypy --strict
	@$(BIN)/mypy

.PHONY: check-format
check-format: $(READY) ## Say which files are not formatted
	@$(BIN)/ruff format --quiet --check --output-format concise

.PHONY: format
format: $(READY) ## Format the code, and mend what ruff can mend
	@$(BIN)/ruff check --fix --quiet --exit-zero
	@$(BIN)/ruff format
	@$(BIN)/python -m tests.lint_cpp --format

.PHONY: bench
bench: $(READY) ## Measure generated code beside hand-written, FastClick if FASTCLICK_DIR is set, in a Markdown table; ARGS='--nf nat --flows 65536', OUT=file.json
	@$(BIN)/python tests/bench/bench_native.py $(if $(filter build,$(OUT)),,--out $(OUT)) $(ARGS)

.PHONY: bench-full
bench-full: $(READY) ## The same with all kinds of traffic, then the software system
	@$(BIN)/python tests/bench/bench_native.py --full $(if $(filter build,$(OUT)),,--out $(OUT)) $(ARGS)
	@$(if $(strip $(ARGS)),,$(BIN)/python tests/bench/bench_system.py)

.PHONY: bench-run
bench-run: $(READY) ## Measure `polysome run` against reading the same capture with dpkt
	@$(BIN)/python tests/bench/bench_run.py $(ARGS)

.PHONY: campaign
campaign: $(READY) ## Test every example for a minute, with coverage of its lines and its P4, then its deployment's links against the plan; ARGS='--seed 7' goes on elsewhere
	@for spec in examples/*/*.nf; do \
	    $(BIN)/polysome test "$$spec" --seconds 60 --out $(OUT)/counterexamples --database $(OUT)/failed $(ARGS) && \
	    $(BIN)/polysome test "$$spec" --coverage --seconds 60 | tail -3 && \
	    $(BIN)/polysome test "$$spec" --coverage --engine system --seconds 60 | head -7 || exit 1; \
	done
	@POLYSOME_ALL_DEPLOYMENTS=1 $(BIN)/python -m pytest -q tests/up/test_as_planned.py

.PHONY: fuzz
fuzz: $(READY) ## Give a million mutated frames to each part that reads some, with sanitizers; ARGS='--frames 100000 --only switch --seed 7'
	@$(BIN)/python -m tests.fuzz $(ARGS)

.PHONY: trouble
trouble: $(READY) ## Kill, stop and starve the parts of a deployment under load, for ten minutes; needs root; ARGS='--minutes 60 --seed 7'
	@$(BIN)/python -m tests.up.trouble $(ARGS)

.PHONY: proofs
proofs: $(READY) ## Prove the switch's program of every example, for every chip and everything that may be carried
	@$(BIN)/python -m tests.prove.every

.PHONY: mutants
mutants: $(READY) ## Try every seeded fault and say which property catches it (takes an hour); ARGS='nat: --first', ARGS=native or ARGS=system tries some, ARGS=prove those of the emitted P4
	@$(BIN)/python -m tests.properties.mutants.report $(ARGS)

.PHONY: golden
golden: $(READY) ## Write the expected outputs of the golden tests anew; read the diff before you commit it
	@$(BIN)/python -m pytest -q --update-golden $(ARGS)

.PHONY: parser
parser: $(READY) ## Generate the parsers from Polysome.g4 and P4.g4; needs Java, and ANTLR_JAR=antlr-4.13.2-complete.jar if at hand
	@java -version >/dev/null 2>&1 || { echo 'ANTLR needs Java. Debian, Ubuntu: apt install default-jre-headless' >&2; exit 1; }
ifdef ANTLR_JAR
	@for g in $(GRAMMARS); do \
	    java -jar '$(ANTLR_JAR)' $(ANTLR_ARGS) -o compiler/polysome/$${g%/*}/generated compiler/polysome/$$g.g4 || exit 1; \
	done
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[parser]'
	@for g in $(GRAMMARS); do \
	    $(BIN)/antlr4 -v $(ANTLR) $(ANTLR_ARGS) -o compiler/polysome/$${g%/*}/generated compiler/polysome/$$g.g4 || exit 1; \
	done
endif
	@rm -f compiler/polysome/*/generated/*.interp compiler/polysome/*/generated/*.tokens

.PHONY: messages
messages: ## Generate the Python of runtime/control/control.proto; needs protoc 3.21 (Debian: protobuf-compiler)
	@protoc -I runtime/control --python_out=runtime/controller/polysome_controller \
	    --pyi_out=runtime/controller/polysome_controller runtime/control/control.proto

.PHONY: protocol
protocol: $(READY) ## Write what follows from runtime/protocol/polysome_protocol/protocol.toml: its C++ header, the tables of PROTOCOL.md
	@$(BIN)/python -m polysome_protocol.write

.PHONY: clean
clean: ## Remove everything that make has made, .venv too
	@rm -rf $(OUT) $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find compiler runtime tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@for python in $(PYTHON); do \
	    "$$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	    python=; \
	done; \
	if [ -z "$$python" ]; then \
	    for found in $(PYTHON); do \
	        "$$found" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	        echo "$$found has no venv module. Debian, Ubuntu: apt install python3-venv" >&2; \
	        exit 1; \
	    done; \
	    echo 'Polysome needs Python 3.11 or newer; tried: $(PYTHON).' >&2; \
	    echo 'Debian, Ubuntu: apt install python3 python3-venv. If it is elsewhere: make PYTHON=/path/to/python3.11' >&2; \
	    exit 1; \
	fi; \
	echo 'Setting up $(VENV): needed once, and after a change of pyproject.toml; takes about a minute.'; \
	if [ "$$(cat $@ 2>/dev/null)" != '$(CURDIR)' ]; then "$$python" -m venv --clear $(VENV) || exit 1; fi; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input -e '.[test]' || { \
	    echo 'pip could not install what Polysome needs: see above. It must reach the package index, or a mirror of it.' >&2; \
	    exit 1; }
	@echo '$(CURDIR)' >$@
