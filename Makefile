# A Runnable Primer. `make` alone prints what each target does.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PORT   ?= 8000
MUTANTS ?= 100
SITE   := _build/html
# What keeps the widgets alive on the site, what renders its formulas, and what stands for torch in
# the pages' Python: packages of their own.
HOST   := packages/sphinx-widget-host
KATEX  := packages/sphinx-katex-prerender
TORCH  := packages/torch-in-page
# What lets the cells of the pages run.
RUN    := packages/sphinx-run-in-page

READY   := $(VENV)/.ready
MODULES := node_modules/.ready
NODE    := $(BIN)/python -m press.workshop.node run
# Python compiles what it imports; compiling all that is installed takes as long as installing it.
# Where it may not keep that (containers often say so), each of a hundred kernels and tests would
# compile torch anew.
export PYTHONDONTWRITEBYTECODE :=
PIP     := $(BIN)/pip install --disable-pip-version-check --no-compile
UV      := $(BIN)/uv pip install --python $(BIN)/python
# Every file is the one that was pinned, and none is compiled here; nothing is left to resolve.
PINNED  := --no-deps --only-binary :all: --require-hashes

.DEFAULT_GOAL := help
.PHONY: help book next executed site pdf editions term terms slides serve lab student grade quiz test browser beside tests-on-the-site packages-own typed fuzz mutants soak thorough \
        packages-test lint format chapter contents widgets widget notebooks bench pin clean

help:  ## print this list
	@echo "A Runnable Primer"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "On a new machine 'make book' and 'make test' install everything they need into $(VENV)."

# ---------------------------------------------------------------- what a fresh machine needs

$(READY): requirements.txt requirements-hashed.txt pyproject.toml lib/press/pyproject.toml \
  $(HOST)/pyproject.toml $(KATEX)/pyproject.toml $(TORCH)/pyproject.toml \
  $(RUN)/pyproject.toml binder/ipython_kernel_config.py
	@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON) here; name a Python" \
	  "with 'make book PYTHON=/path/to/python3.12'."; exit 1; }
	@$(PYTHON) tests/tools/interpreter.py
	@echo "Installing the pinned packages into $(VENV) (a few minutes on the first run) …"
	$(PYTHON) -m venv $(VENV)
	@# uv unpacks the packages on all cores; pip does so where only pip was told of a way to them
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-hashed.txt > $(VENV)/uv.txt
	$(PIP) $(PINNED) -r $(VENV)/uv.txt
	$(UV) $(PINNED) -r requirements-hashed.txt || $(PIP) $(PINNED) -r requirements-hashed.txt
	@# torch alone may come from an index of its own; what it needs is there by now, but for CUDA
	$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $$(grep '^torch==' requirements.txt)
	$(PIP) --quiet --no-deps --no-build-isolation -e . -e $(HOST) -e $(KATEX) -e $(TORCH) -e $(RUN) lib/press
	@mkdir -p $(VENV)/etc/ipython && cp binder/ipython_kernel_config.py $(VENV)/etc/ipython/
	@touch $@

$(MODULES): package-lock.json | $(READY)
	@echo "Installing KaTeX, axe-core, esbuild and the checks of JavaScript …"
	$(BIN)/python -m press.workshop.node ci --no-audit --no-fund --loglevel=error
	@touch $@

# ---------------------------------------------------------------- read

book: $(READY) $(MODULES)  ## build the site (installs, executes what changed, warnings are errors)
	@$(MAKE) --no-print-directory executed
	@$(MAKE) --no-print-directory site

executed: $(READY)
	$(BIN)/python -m press.execution.execute

site: $(READY) $(MODULES)
	$(BIN)/jupyter-book build -W -n --keep-going --quiet .
	@echo "The book stands in $(SITE)/index.html: open it by double-click, or run 'make serve'."

next: $(READY) $(MODULES)  ## build the site with the newest Sphinx and MyST, into _build/next/html
	@$(MAKE) --no-print-directory executed
	$(BIN)/python -m press.workshop.newest

serve: $(READY)  ## show the built site on http://127.0.0.1:8000 (PORT=… for another)
	@$(BIN)/python -m press.site $(PORT)

pdf: $(READY)  ## print the built site: a PDF of each chapter and of the whole (CHAPTER=08-positions: of one)
	@test -f $(SITE)/index.html || { echo "There is no site yet: building it first."; $(MAKE) --no-print-directory book; }
	@$(BIN)/python tests/tools/chromium.py > /dev/null || true
	$(BIN)/python -m press.downloads.pdf $(CHAPTER)

editions: $(READY)  ## PDFs and an EPUB of the built site, offered on its page "On paper, and as an e-book"
	@$(MAKE) --no-print-directory pdf CHAPTER=
	$(BIN)/python -m press.downloads.epub
	$(BIN)/python -m press.downloads.editions

term: $(READY)  ## keep the built site for a course, beside the newest: make term TERM=2027-spring
	@test -n "$(TERM)" || { echo "Name the term: make term TERM=2027-spring"; exit 1; }
	@test -f $(SITE)/index.html || { echo "There is no site yet: building it first."; $(MAKE) --no-print-directory book; }
	@$(BIN)/python -m press.downloads.terms "$(TERM)"

terms: $(READY)  ## show on the built site the terms that are kept
	@$(BIN)/python -m press.downloads.terms

lab: $(READY)  ## open the chapters in JupyterLab
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/chapters --LabApp.app_settings_dir=binder/lab

# ---------------------------------------------------------------- teach

slides: $(READY) $(MODULES)  ## a deck for each lecture of the page for teachers (CHAPTER=08: of those that read it)
	@test -f $(SITE)/index.html || { echo "There is no site yet: building it first."; $(MAKE) --no-print-directory book; }
	$(BIN)/python -m press.slides.write $(CHAPTER)

student: $(READY)  ## homework without solutions, with new numbers (TERM=2027-spring; CHAPTER=08: of one)
	@$(BIN)/python -m press.homework.handout $(CHAPTER) --term "$(TERM)"

quiz: $(READY)  ## what the chapters ask, for Canvas and Moodle (CHAPTER=08: of one; TERM=2027-spring: new numbers)
	@test -f $(SITE)/index.html || { echo "There is no site yet: building it first."; $(MAKE) --no-print-directory book; }
	@$(BIN)/python -m press.quiz.write $(CHAPTER) $(if $(TERM),--term "$(TERM)")

grade: $(READY)  ## grade handed-in homework: make grade FOLDER=in TERM=2027-spring DUE="2027-03-01 18:00"
	@test -n "$(FOLDER)" || { echo "Name the folder of notebooks: make grade FOLDER=… TERM=…"; exit 1; }
	@$(BIN)/python -m press.homework.grade "$(FOLDER)" --term "$(TERM)" $(if $(DUE),--due "$(DUE)")

# ---------------------------------------------------------------- check

PYTEST := $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal
CHECK  := $(PYTEST) --doctest-modules --nbval --nbval-sanitize-with=tests/tools/nbval.cfg \
	  -m "not seeds and not thorough"

test: $(READY)  ## the tests: library, docstrings, stored numbers, widgets, site (CHAPTER=08: of one)
	@echo "1 of 2: the notebooks that changed, and beside them a browser and what is in JavaScript"
	@$(MAKE) --no-print-directory --jobs=3 executed browser $(MODULES)
	@echo "2 of 2: the site, then the tests; beside them style, types, packages and docstrings"
	@$(MAKE) --no-print-directory --jobs=2 beside tests-on-the-site

tests-on-the-site: site
ifdef CHAPTER
	@$(BIN)/python tests/tools/chapter.py $(CHAPTER) > _build/chapter.txt
	$(CHECK) @_build/chapter.txt
else
	@# the browser's tests first: a process that ends early takes over what waits at their end
	$(CHECK) tests/press/test_site.py chapters tests
endif

browser: $(READY)
	$(BIN)/python tests/tools/chromium.py

beside: $(READY) $(MODULES)
	@$(MAKE) --no-print-directory lint $(if $(CHAPTER),,packages-own typed)

packages-own: $(READY)
	$(BIN)/python -m pytest $(HOST)
	$(BIN)/python -m pytest $(KATEX)
	$(BIN)/python -m pytest $(TORCH)
	$(BIN)/python -m pytest $(RUN)

typed: $(READY)  # the docstrings' examples and the wrong calls, each call held against its hints
	PYTHONPATH=tests/tools $(BIN)/python -m pytest -p typed --doctest-modules lib tests/library/test_hints.py

thorough: $(READY) $(MODULES) browser  ## what 'make test' leaves out: all of a kind, long trainings, JupyterLab
	@test -f $(SITE)/index.html || { echo "There is no site yet: building it first."; $(MAKE) --no-print-directory book; }
	$(PYTEST) -m thorough tests
	$(BIN)/python -m pytest -m thorough $(TORCH)

fuzz: $(READY)  ## properties and simulations with five fresh seeds (SEEDS="17 42" for these)
	$(BIN)/python tests/tools/fuzz.py $(SEEDS)

mutants: $(READY) $(MODULES) browser  ## two hundred small errors; tell which no test notices (SEED=17 MUTANTS=20)
	$(BIN)/python tests/tools/mutants.py $(if $(SEED),--seed $(SEED)) --number $(MUTANTS)

soak: $(READY) browser  ## move every control of every widget for two minutes: memory must not grow
	SOAK_SECONDS=120 $(PYTEST) tests/widgets/test_soak.py

packages-test: $(READY)  ## build the packages' example books in environments of their own, without torch
	$(BIN)/python $(HOST)/tests/fresh.py
	$(BIN)/python $(KATEX)/tests/fresh.py
	$(BIN)/python $(RUN)/tests/fresh.py

lint: $(READY) $(MODULES)  ## formatting, style, docstrings and types, of notebooks and JavaScript too
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(NODE) node_modules/@biomejs/biome/bin/biome check --error-on-warnings
	$(NODE) node_modules/typescript/bin/tsc --project lib/primer/widgets

format: $(READY) $(MODULES)  ## repair formatting and what ruff can mend by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NODE) node_modules/@biomejs/biome/bin/biome format --write

bench: $(READY) $(MODULES)  ## one table of our speed against peers on the same work
	PYTHONPATH=tests/tools $(BIN)/python -m benchmarks

# ---------------------------------------------------------------- write

chapter: $(READY)  ## begin a chapter of the registry: make chapter NAME=05-language-models
	$(BIN)/python -m press.workshop.skeleton $(NAME)

contents: $(READY)  ## write table of contents and README's table from chapters/book.toml
	$(BIN)/python -m press.registry

widgets: $(READY) $(MODULES)  ## bundle the widgets' JavaScript and styles; commit what it writes
	$(BIN)/python -m press.workshop.bundle

widget: $(READY) $(MODULES)  ## show one widget alone, following its files: make widget NAME=rope
	$(BIN)/python -m press.workshop.live_widget $(NAME)

notebooks: $(READY)  ## execute every chapter from a clean kernel and store its normalized outputs
	$(BIN)/python -m press.execution.normalize --execute

pin: $(READY)  ## write requirements.txt from the bounds in pyproject.toml; what is pinned stays if it may
	$(BIN)/python -m press.workshop.pin

clean:  ## remove what was built; keep the installed packages
	rm -rf _build .pytest_cache .hypothesis .mypy_cache .ruff_cache
