# The three commands of a working day: make demo, make test, make check.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-torch test-slow lint check install install-test clean

demo: install  ## train DISDAIN and unbonused skill discovery on Four Rooms, draw what they learnt
	$(BIN)/disdain demo

test: install-test  ## pass the tests
	$(BIN)/python -m pytest

lint: install-test  ## what make check would change or complain about
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python -m pyright

test-torch: $(VENV)-torch/.done  ## the bonus on real PyTorch arrays
	$(VENV)-torch/bin/python -m pytest -m torch tests/method/test_torch.py

test-slow: install-test  ## long experiments
	$(BIN)/python -m pytest -m slow

check: install-test  ## format, lint and types, without the tests
	$(BIN)/python -m ruff format .
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m pyright

install: $(VENV)/.installed  ## .venv with the disdain command in it (PYTHON=python3.12 takes another interpreter)

install-test: $(VENV)/.tested

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "disdain needs Python 3.11 or newer; $(PYTHON) is older (try: make install PYTHON=python3.12)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	@echo "installing disdain into $(VENV)"
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	@echo "installing what the tests need into $(VENV)"
	$(PIP) install --constraint constraints.txt --requirement tests/requirements.txt
	@touch $@

$(VENV)-torch/.done: pyproject.toml constraints.txt
	@echo "installing PyTorch into $(VENV)-torch"
	$(PYTHON) -m venv $(VENV)-torch
	$(VENV)-torch/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt torch==2.13.0 --editable . --requirement tests/requirements-torch.txt
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-torch dist build
