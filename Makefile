# Each target makes what it needs first. Nothing is needed beforehand but Python 3.11 or newer, and make; what the tests need
# besides is installed on Debian and its kin, and named elsewhere.
PYTHON ?= python3
PORT ?= 8000
ENGINE ?= mkdocs
SITE = .venv/site/bin/python
TEST = .venv/test/bin/python
PYTEST = BARE_PYTHON=$(CURDIR)/.venv/bare/bin/python $(TEST) -m pytest -n 2 --dist loadfile

.PHONY: serve runtime site test test-long check bake-cpu charts test-matrix lighthouse clean

serve: ; @$(PYTHON) scripts/serve.py $(PORT)

runtime: ; @$(PYTHON) runtime/build.py

site: .venv/$(if $(filter zensical,$(ENGINE)),test,site)/ready ; $(SITE:site/bin/python=$(if $(filter zensical,$(ENGINE)),test,site)/bin/python) scripts/build_site.py --engine $(ENGINE)

test: .venv/test/ready .venv/bare/ready check ; $(PYTEST) -m "not long"

test-long: .venv/test/ready .venv/bare/ready ; $(PYTEST) -m long

check: .venv/test/ready ; $(TEST) -m ruff check . && $(TEST) -m mypy

bake-cpu: .venv/test/ready ; $(TEST) scripts/bake.py --cpu

charts: .venv/test/ready ; $(TEST) scripts/charts.py

test-matrix: .venv/test/ready $(patsubst pins/%.txt,.venv/%/ready,$(wildcard pins/triton-*.txt)) ; $(TEST) scripts/matrix.py && $(TEST) scripts/errors.py && $(TEST) scripts/versions.py

lighthouse: .venv/site/ready ; npm install --silent --prefix scripts && node scripts/lighthouse.mjs

clean: ; rm -rf build site docs/programs docs/data docs/dist docs/run docs/generated

.venv/test/ready: pins/site.txt pins/bare.txt

.venv/%/ready: pins/%.txt ; $(PYTHON) scripts/install.py $* && touch $@
