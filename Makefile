# `make help` lists the targets. Each sets up what it needs, once, and no more. GNU make 3.81 or newer.

PYTHON ?= python3
VENV ?= .venv
BFCL_VENV := .venv-bfcl
ADAPTERS_VENV := .venv-adapters
FRAMEWORKS_VENV := .venv-frameworks
RETRIEVAL_VENV := .venv-retrieval
DOCS_VENV := .venv-docs
AGENTDOJO_VENV := .venv-agentdojo
# What loading and judging AgentDojo's suites needs; its other requirements are clients of providers.
AGENTDOJO := agentdojo==0.1.35 deepdiff orderly-set cachebox docstring-parser email-validator dnspython \
	idna pyyaml rich markdown-it-py mdurl pygments
# Which build of torch suits a machine is for its user to say; without a GPU the CPU's is far smaller.
TORCH ?= torch==2.13.0
# What BFCL reads Java and JavaScript with; there are no wheels for a newer Python.
BFCL_GRAMMARS := 'tree-sitter==0.21.3; python_version < "3.13"' \
	'tree-sitter-java==0.21.0; python_version < "3.13"' \
	'tree-sitter-javascript==0.21.4; python_version < "3.13"'
MUTANTS_VENV := .venv-mutants
TOOLS_VENV := .venv-tools
LOCKS := configs/locks
# What an installation is made by.
BUILD := $(wildcard configs/packaging/*.py)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The targets share environments, so no two steps run at once, whatever -j says.
.NOTPARALLEL:
# `runner` and `tests` are common names: import nothing from outside the environment.
unexport PYTHONPATH
# Without byte code, each process that a test starts would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup dev eval replay debug view test test-all pictures test-browser test-adapters test-retrieval test-agentdojo docs test-docs fuzz mutants check conformance bench bench-compare profile soak bench-live lock clean

help: ## List the targets
	@echo "make TARGET [VARIABLE=value ...]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile
	@echo "PYTHON chooses the interpreter of a new environment (python3), VENV its folder (.venv);"
	@echo "ARGS is passed on to the command behind eval, replay, test, conformance and bench."

setup: $(VENV)/.core ## Leave a ready command, .venv/bin/turnwise
	@echo "$(VENV)/bin/turnwise is ready."

# Everything but these needs a provider's library; a first word is enough to tell.
OFFLINE := oracle null replay:%
models = $(if $(filter-out $(OFFLINE),$(firstword $(MODEL))),$(VENV)/.models)
# Java and JavaScript are read with grammars of their own.
IN_LANGUAGES := simple_java simple_javascript single_turn all
comma := ,
categories = $(subst $(comma), ,$(CATEGORY))
languages = $(if $(filter $(IN_LANGUAGES),$(categories)),$(VENV)/.extras)

# Values reach the shell as environment variables, never as text of a command.
eval: .need-MODEL $(VENV)/.core $(models) $(languages) ## Run a model: MODEL=oracle [DATASET= CATEGORY= PROFILE= OUTPUT=]
	@$(VENV)/bin/turnwise eval --model "$$MODEL" $${DATASET:+--dataset "$$DATASET"} \
		$${CATEGORY:+--category "$$CATEGORY"} $${PROFILE:+--profile "$$PROFILE"} \
		$${OUTPUT:+--output "$$OUTPUT"} $(ARGS)

replay: .need-ID $(VENV)/.core ## Show one trajectory of a run, turn by turn: ID= [RUN=]
	@$(VENV)/bin/turnwise replay "$$ID" $${RUN:+--run "$$RUN"} $(ARGS)

debug: .need-ID $(VENV)/.core $(VENV)/.extras ## Step through one trajectory in the terminal: ID= [RUN=]
	@$(VENV)/bin/turnwise debug "$$ID" $${RUN:+--run "$$RUN"} $(ARGS)

view: $(VENV)/.core $(VENV)/.extras ## Show all runs of a folder in the browser: [RUNS=folder]
	@$(VENV)/bin/turnwise view $${RUNS:+"$$RUNS"} $(ARGS)

dev: $(VENV)/.dev $(VENV)/.models $(VENV)/.extras ## Set up what tests and checks need, and run nothing
	@echo "$(VENV)/bin/python -m pytest, ruff and mypy are ready."

# -m in ARGS is the last and counts: ARGS="-m slow" runs what `test` leaves out.
# Some tests wait for servers and processes, so there is one worker more than cores.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
pytest = $(VENV)/bin/python -m pytest -n $(WORKERS) --dist worksteal
test: $(VENV)/.dev $(VENV)/.models $(VENV)/.extras ## Run the test suite but for its slow part: about two and a half minutes on two cores
	@$(pytest) -m "not slow" $(ARGS)

test-all: $(VENV)/.dev $(VENV)/.models $(VENV)/.extras ## Run the whole test suite, in part against the built wheel, too
	@$(pytest) --hypothesis-profile=full $(ARGS)

test-browser: $(VENV)/.dev $(VENV)/.extras $(VENV)/.browser ## Test the pages in Chromium: [CHROMIUM=/usr/bin/chromium]
	@$(VENV)/bin/python -m pytest tests/browser $(ARGS)

pictures: $(VENV)/.extras $(VENV)/.browser ## Take the README's pictures anew, in Chromium: [CHROMIUM=/usr/bin/chromium]
	@$(VENV)/bin/python -m tests.pictures

test-adapters: $(ADAPTERS_VENV)/.adapters $(FRAMEWORKS_VENV)/.frameworks $(FRAMEWORKS_VENV)/node/.node ## Test the adapters to other libraries with those libraries
	@ADAPTERS=1 $(ADAPTERS_VENV)/bin/python -m pytest tests/extensions/adapters --ignore tests/extensions/adapters/test_node_client.py tests/extensions/loggers tests/runner/analysis/test_frames.py tests/extensions/ray/cluster tests/extensions/retrieval/ranking -m "not dense" $(ARGS)
	@$(FRAMEWORKS_VENV)/bin/python -m pytest tests/extensions/adapters/test_frameworks.py tests/extensions/adapters/test_node_client.py $(ARGS)
	@$(ADAPTERS_VENV)/bin/python -m tests.benchmarks.rollouts

test-retrieval: $(RETRIEVAL_VENV)/.retrieval ## Test retrieval with what embeds and trains, torch too: [TORCH=torch==2.13.0]
	@$(RETRIEVAL_VENV)/bin/python -m pytest tests/extensions/retrieval/ranking $(ARGS)

test-agentdojo: $(AGENTDOJO_VENV)/.agentdojo ## Compare with AgentDojo's recorded verdicts: [RECORDED=folder of packed runs]
	@$(AGENTDOJO_VENV)/bin/python -m pytest tests/extensions/injection $(ARGS)
	@$${RECORDED:+$(AGENTDOJO_VENV)/bin/python -m tests.conformance.agentdojo "$$RECORDED"}

docs: $(DOCS_VENV)/.docs ## Build the site in build/site; any warning is an error
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/python -m mkdocs build --quiet --strict
	@echo "build/site/index.html is ready."

test-docs: docs $(VENV)/.dev $(VENV)/.extras $(VENV)/.browser ## Build the site, test it, in Chromium too, and execute the notebook
	@$(DOCS_VENV)/bin/python -m pytest tests/site $(ARGS)
	@$(VENV)/bin/python -m pytest tests/browser/test_site.py $(ARGS)

fuzz: $(VENV)/.dev $(VENV)/.models $(VENV)/.extras ## Read damaged files with every command: ARGS="--changes 5000 --seed 1"
	@$(VENV)/bin/python -W error -m tests.fuzz $(ARGS)

mutants: $(VENV)/.dev $(VENV)/.models $(VENV)/.extras $(MUTANTS_VENV)/.mutants ## Change the code of verdicts and records, for tests to find: ARGS="--sample 300 --seed 1"
	@$(MUTANTS_VENV)/bin/python -m tests.mutation --python $(VENV)/bin/python $(ARGS)

check: $(VENV)/.dev $(VENV)/.models $(VENV)/.extras ## Check format, lint, types and docstrings
	@failed=; for tool in "ruff format --check ." "ruff check ." "mypy --strict" \
		"pydocstyle envs checkers trajectories runner extensions tools"; do \
		echo "$$tool"; $(VENV)/bin/$$tool || failed=1; done; test -z "$$failed"

conformance: $(VENV)/.dev $(VENV)/.models $(BFCL_VENV)/.bfcl ## Compare with BFCL itself: [RECORDED=folder of runs] [BFCL=its command] [VLLM=python that has it]
	@$(VENV)/bin/python -m tests.conformance --bfcl-python $(BFCL_VENV)/bin/python \
		$${RECORDED:+--recorded "$$RECORDED"} $${BFCL:+--bfcl "$$BFCL"} \
		$${VLLM:+--vllm-python "$$VLLM"} $(ARGS)
	@! test -d "$$RECORDED/agentdojo" || ! test -e $(AGENTDOJO_VENV)/.agentdojo \
		|| $(AGENTDOJO_VENV)/bin/python -m tests.conformance.agentdojo "$$RECORDED/agentdojo" 20

bench: $(VENV)/.core $(BFCL_VENV)/.bfcl ## Speed beside BFCL's: [RECORDED=folder of runs] [RUN=one run BFCL=its command]
	@$(VENV)/bin/python -m tests.benchmarks --bfcl-python $(BFCL_VENV)/bin/python \
		$${BFCL:+--bfcl "$$BFCL"} $${RECORDED:+--recorded "$$RECORDED"} $${RUN:+--run "$$RUN"} $(ARGS)
	@test -z "$$BFCL" || test ! -d "$$RUN/single_turn" || $(VENV)/bin/python -m tests.benchmarks.single_turn \
		--bfcl "$$BFCL" --run "$$RUN/single_turn"

bench-compare: .need-BASE $(VENV)/.core ## Speed beside an earlier revision's: BASE= [RECORDED=] [RUN=]
	@$(VENV)/bin/python -m tests.benchmarks.compare "$$BASE" \
		$${RECORDED:+--recorded "$$RECORDED"} $${RUN:+--run "$$RUN"} $(ARGS)

profile: $(VENV)/.core ## Say where the time goes: [RUN=folder of one recorded run]
	@$(VENV)/bin/python -m tests.benchmarks.hotspots $${RUN:+--run "$$RUN"} $(ARGS)

soak: $(VENV)/.core ## A million resets, ten million steps, ten thousand live sessions: minutes, Linux
	@$(VENV)/bin/python -m tests.benchmarks.soak $(ARGS)

bench-live: $(VENV)/.models ## Measure live runs beside a bare client: [BFCL=bfcl's command, fully installed]
	@$(VENV)/bin/python -m tests.benchmarks.generate $${BFCL:+--bfcl "$$BFCL"} $(ARGS)

# hatchling is the build backend that pyproject.toml names; a later lock agrees with the earlier ones.
lock: $(TOOLS_VENV)/.uv ## Write configs/locks/ anew
	@echo 'hatchling>=1.27' | $(call compile,core) - pyproject.toml
	@$(call compile,dev) pyproject.toml --extra dev --constraint $(LOCKS)/core.txt
	@$(call compile,models) pyproject.toml --extra models --constraint $(LOCKS)/dev.txt
	@$(call compile,extras) pyproject.toml --extra debug --extra serve --extra view --extra languages \
		--constraint $(LOCKS)/dev.txt --constraint $(LOCKS)/models.txt
	@$(call compile,browser) pyproject.toml --extra browser --constraint $(LOCKS)/extras.txt
	@$(call compile,docs) pyproject.toml --extra docs --constraint $(LOCKS)/dev.txt \
		--constraint $(LOCKS)/models.txt --constraint $(LOCKS)/extras.txt
	@$(call compile,adapters) pyproject.toml --extra gymnasium --extra inspect --extra langchain --extra verifiers \
		--extra frames --extra lexical --extra loggers --extra ray --extra dev \
		--constraint $(LOCKS)/dev.txt
	@$(call compile,frameworks) pyproject.toml --extra frameworks --extra dev --constraint $(LOCKS)/dev.txt
	@$(call compile,retrieval) pyproject.toml --extra retrieval --extra training --constraint $(LOCKS)/models.txt \
		--override configs/packaging/no_torch.txt
	@echo 'cosmic-ray>=8.7' | $(call compile,mutants) -
	@echo 'uv==0.13.8' | $(call compile,tools) -
	@printf '%s\n' $(AGENTDOJO) | $(call compile,agentdojo) - --no-deps --constraint $(LOCKS)/dev.txt \
		--constraint $(LOCKS)/models.txt
	@printf '%s\n' bfcl-eval==2026.3.23 mpmath==1.3.0 $(BFCL_GRAMMARS) | $(call compile,bfcl) - --no-deps

clean: ## Remove environments and caches; runs/ stays
	@rm -rf .venv .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find envs checkers trajectories runner extensions tests -name __pycache__ -prune -exec rm -rf {} +


# --- Set-up. A stamp file in an environment says what it holds; its lock file is newer when it no longer does.

$(VENV)/.core: $(LOCKS)/core.txt pyproject.toml $(BUILD) $(VENV)/.made
	@echo "Setting up $(@D) ..." >&2
	@$(call install,--require-hashes -r $(LOCKS)/core.txt)
	@$(call install,--no-build-isolation -e .)
	@touch $@

$(VENV)/.dev: $(LOCKS)/dev.txt $(VENV)/.core
	@echo "Adding the development tools to $(@D) ..." >&2
	@$(call install,--require-hashes -r $<)
	@touch $@

$(VENV)/.models: $(LOCKS)/models.txt $(VENV)/.core
	@echo "Adding the model providers' libraries to $(@D) ..." >&2
	@$(call install,--require-hashes -r $<)
	@touch $@

$(VENV)/.extras: $(LOCKS)/extras.txt $(VENV)/.core
	@echo "Adding what the debugger, the server and other languages need to $(@D) ..." >&2
	@$(call install,--require-hashes -r $<)
	@touch $@

$(VENV)/.browser: $(LOCKS)/browser.txt $(VENV)/.core
	@echo "Adding what drives a browser to $(@D) ..." >&2
	@$(call install,--require-hashes -r $<)
	@touch $@

$(ADAPTERS_VENV)/.adapters: $(LOCKS)/core.txt $(LOCKS)/adapters.txt pyproject.toml $(BUILD) $(ADAPTERS_VENV)/.made
	@echo "Setting up $(@D) ..." >&2
	@$(call install,--require-hashes -r $(LOCKS)/core.txt)
	@$(call install,--require-hashes -r $(LOCKS)/adapters.txt)
	@$(call install,--no-build-isolation -e .)
	@touch $@

# Without npm, the test of the Node client is skipped.
NODE := tests/extensions/adapters/node
$(FRAMEWORKS_VENV)/node/.node: $(NODE)/package.json $(NODE)/package-lock.json $(FRAMEWORKS_VENV)/.frameworks
	@mkdir -p $(@D) && cp $(NODE)/*.json $(@D)
	@! command -v npm >/dev/null || npm ci --loglevel=error --prefix $(@D) >/dev/null
	@touch $@

# verifiers needs other versions of openai and mcp than the OpenAI Agents SDK and the extra serve.
$(FRAMEWORKS_VENV)/.frameworks: $(LOCKS)/core.txt $(LOCKS)/frameworks.txt pyproject.toml $(BUILD) $(FRAMEWORKS_VENV)/.made
	@echo "Setting up $(@D) ..." >&2
	@$(call install,--require-hashes -r $(LOCKS)/core.txt)
	@$(call install,--require-hashes -r $(LOCKS)/frameworks.txt)
	@$(call install,--no-build-isolation -e .)
	@touch $@

$(DOCS_VENV)/.docs: $(LOCKS)/core.txt $(LOCKS)/dev.txt $(LOCKS)/docs.txt pyproject.toml $(BUILD) $(DOCS_VENV)/.made
	@echo "Setting up $(@D) ..." >&2
	@$(call install,--require-hashes $(addprefix -r $(LOCKS)/,core.txt dev.txt docs.txt))
	@$(call install,--no-build-isolation -e .)
	@touch $@

$(RETRIEVAL_VENV)/.retrieval: $(LOCKS)/core.txt $(LOCKS)/retrieval.txt pyproject.toml $(BUILD) $(RETRIEVAL_VENV)/.made
	@echo "Setting up $(@D) ..." >&2
	@$(call install,--require-hashes $(addprefix -r $(LOCKS)/,$(addsuffix .txt,core dev models extras retrieval)))
	@$(call install_with_dependencies,$(TORCH))
	@$(call install,--no-build-isolation -e .)
	@touch $@

$(AGENTDOJO_VENV)/.agentdojo: $(addprefix $(LOCKS)/,$(addsuffix .txt,core dev models agentdojo)) pyproject.toml $(BUILD) $(AGENTDOJO_VENV)/.made
	@echo "Setting up $(@D) ..." >&2
	@$(call install,--require-hashes $(addprefix -r $(LOCKS)/,$(addsuffix .txt,core dev models agentdojo)))
	@$(call install,--no-build-isolation -e .)
	@touch $@

$(BFCL_VENV)/.bfcl: $(LOCKS)/bfcl.txt $(BFCL_VENV)/.made
	@echo "Setting up $(@D) ..." >&2
	@$(call install,--require-hashes -r $<)
	@touch $@

$(MUTANTS_VENV)/.mutants: $(LOCKS)/mutants.txt $(MUTANTS_VENV)/.made
	@echo "Setting up $(@D) ..." >&2
	@$(call install,--require-hashes -r $<)
	@touch $@

$(TOOLS_VENV)/.uv: $(LOCKS)/tools.txt $(TOOLS_VENV)/.made
	@$(call install,--require-hashes -r $<)
	@touch $@

# Everything is pinned, so pip resolves nothing. While it runs, the environment counts as not made:
# one that was cut short is made anew.
install = $(call install_with_dependencies,--no-deps $(1))
install_with_dependencies = mv $(@D)/.made $(@D)/.unfinished && { \
	$(@D)/bin/python -m pip install -qq --disable-pip-version-check --no-input $(1); \
	status=$$?; mv $(@D)/.unfinished $(@D)/.made; exit $$status; }

# An environment that was never finished, was moved, or whose interpreter has gone is made anew.
stale = $(shell test "$$(cat $(1)/.made 2>/dev/null)" = "$(CURDIR)/$(1)" \
	&& $(1)/bin/python -c "" 2>/dev/null || echo .stale)

$(VENV)/.made: $(call stale,$(VENV))
$(BFCL_VENV)/.made: $(call stale,$(BFCL_VENV))
$(ADAPTERS_VENV)/.made: $(call stale,$(ADAPTERS_VENV))
$(FRAMEWORKS_VENV)/.made: $(call stale,$(FRAMEWORKS_VENV))
$(RETRIEVAL_VENV)/.made: $(call stale,$(RETRIEVAL_VENV))
$(DOCS_VENV)/.made: $(call stale,$(DOCS_VENV))
$(MUTANTS_VENV)/.made: $(call stale,$(MUTANTS_VENV))
$(AGENTDOJO_VENV)/.made: $(call stale,$(AGENTDOJO_VENV))
$(TOOLS_VENV)/.made: $(call stale,$(TOOLS_VENV))

$(VENV)/.made $(BFCL_VENV)/.made $(ADAPTERS_VENV)/.made $(FRAMEWORKS_VENV)/.made $(RETRIEVAL_VENV)/.made $(DOCS_VENV)/.made $(AGENTDOJO_VENV)/.made $(MUTANTS_VENV)/.made $(TOOLS_VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Turnwise needs Python 3.11 or newer, and $(PYTHON) is %d.%d. Name another: PYTHON=python3.12" % sys.version_info[:2])' \
		|| { test $$? = 1 || echo "$(PYTHON) does not run. Name a Python 3.11 or newer: PYTHON=python3.12" >&2; exit 1; }
	@test ! -e $(@D)/pyvenv.cfg || { echo "Making $(@D) anew ..." >&2; rm -rf $(@D); }
	@test ! -e $(@D) || rmdir $(@D) 2>/dev/null \
		|| { echo "$(@D) exists and is no virtual environment. Remove it, or name another: VENV=folder" >&2; exit 1; }
	@said=$$($(PYTHON) -m venv $(@D) 2>&1) \
		|| { echo "$$said" >&2; echo "$(PYTHON) cannot make a virtual environment; its venv module is missing or incomplete (Debian, Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@echo "$(CURDIR)/$(@D)" > $@

# Versions are at least two weeks old: mirrors have them, and a bad release has been withdrawn.
compile = UV_CUSTOM_COMPILE_COMMAND="make lock" $(TOOLS_VENV)/bin/uv pip compile --quiet --upgrade \
	--universal --python-version 3.11 --exclude-newer "2 weeks" --generate-hashes \
	--no-emit-index-url --no-annotate --output-file $(LOCKS)/$(1).txt

.PHONY: .stale .need-MODEL .need-ID .need-BFCL .need-BASE
.stale:
.need-MODEL:
	$(if $(MODEL),,$(error Say which model to run, such as MODEL=oracle))
.need-ID:
	$(if $(ID),,$(error Say which trajectory to show: ID= and its id))
.need-BASE:
	$(if $(BASE),,$(error Say which revision to compare with: BASE= and a commit, branch or tag))
.need-BFCL:
	$(if $(BFCL),,$(error Say where a fully installed BFCL is: BFCL= and the path of its command bfcl))
