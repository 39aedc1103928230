# Needs Python 3.11–3.13, pip and make; everything else goes into .venv.
#   make figure2               draw Figure 2 (SCALE=smoke|small|medium|paper, CORES=all)
#   make test                  run every test
#   make docs                  render docs/ from docs/templates, the tables and the catalogue
#   make <target>              any other target of the Snakefile: rtu_figure2, rtu_figure2a, rtu, all

PYTHON ?= python3
SCALE ?= small
CORES ?= all
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

# Snakemake keeps things in the home folder; the user of a container may have none.
ifeq ($(shell test -w "$(HOME)" && echo yes),)
export HOME := $(CURDIR)/.snakemake/home
endif

# One Snakemake at a time.
.NOTPARALLEL:
.PHONY: help test lint bench lock docs clean force
help:
	@sed -n 's/^#   //p' Makefile

# The stamp is made last: an installation that was cut short is gone through again. A newer lock is
# installed over the old one, so that what was installed by hand stays; `make clean` starts anew.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else f"error: {sys.executable} is Python {v[0]}.{v[1]}; 3.11 to 3.13 are supported: make PYTHON=python3.11 ...")'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
	@echo "To call snakemake and untruncated yourself: . $(VENV)/bin/activate"

test: $(READY)
	PATH="$$PWD/$(BIN):$$PATH" NPROC=1 $(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(READY)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m snakefmt --check Snakefile
	$(BIN)/python -m snakemake --lint

bench: $(READY)
	NPROC=1 $(BIN)/python -m benchmarks

# Needs uv. The lock holds no addresses, so it installs from any index.
lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra cluster --extra test \
	  --extra build --generate-hashes --no-header --quiet --output-file requirements.lock
	$(PYTHON) .ci/environment_yml.py requirements.lock > environment.yml

# A folder has this name.
docs: $(READY)
	$(BIN)/untruncated schema --output experiments/schema.json docs/fields.md
	$(BIN)/python -m snakemake docs --cores $(CORES)

clean:
	rm -rf $(VENV) .snakemake figures/smoke figures/paper figures/small/*.pdf figures/medium/*.pdf results/tables results/smoke results/checkpoints logs

# Anything else is a target of the Snakefile, also what make finds a file or a folder of that name for.
.DEFAULT_GOAL := help
Makefile requirements.lock pyproject.toml: ;
%: $(READY) force
	$(BIN)/python -m snakemake $@ --cores $(CORES) --config scale=$(SCALE)
