# Preread. Every target makes what it needs first and is quick when that is there.
#
#   make demo     pre-read the example handbook, ask five questions, compare with and without pre-read passages
#   make up       run the service and the pages
#   make test     lint, type checks and every test
#   make setup    the set-up alone: leaves .venv/bin/preread
#   make lint     ruff, mypy, the front end's type check
#   make lock     rewrite requirements/*.lock

MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.PHONY: demo up test setup setup-dev lint lock

demo: setup
	@.venv/bin/preread demo

up: setup
	@.venv/bin/preread up

test: setup-dev
	@scripts/test.sh $(ARGS)

setup:
	@scripts/setup.sh

setup-dev:
	@scripts/setup.sh --dev

lint: setup-dev
	@scripts/lint.sh

lock: setup
	@scripts/lock.sh $(ARGS)
