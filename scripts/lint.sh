#!/usr/bin/env bash
# make lint: ruff and mypy over the Python, the type check of the front end.
source "$(dirname "$0")/common.sh"
source scripts/node.sh
source scripts/frontend.sh

say "ruff"
"$VENV/bin/ruff" check .
say "mypy --strict"
"$VENV/bin/mypy" --strict
say "front end: type check"
ensure_frontend_packages
npm --prefix frontend run --silent typecheck
