# Preread. Every target makes what it needs first and is quick when that is there.
#
#   make demo     pre-read the example handbook, ask five questions, compare with and without pre-read passages
#   make up       run the service and the pages
#   make test     lint, type checks and the tests
#   make test-long  those that wait minutes for killed processes of the scaled shape
#   make setup    the set-up alone: leaves .venv/bin/preread
#   make lint     ruff, mypy, the front end's type check
#   make lock     rewrite requirements/*.lock

MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.PHONY: demo up test test-long setup setup-dev lint lock

demo: setup
	@.venv/bin/preread demo

up: setup
	@.venv/bin/preread up

test: setup-dev
	@scripts/test.sh $(ARGS)

test-long: setup-dev
	@scripts/test.sh -m long

setup:
	@scripts/setup.sh

setup-dev:
	@scripts/setup.sh --dev

lint: setup-dev
	@scripts/lint.sh

lock: setup
	@scripts/lock.sh $(ARGS)
