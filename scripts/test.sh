#!/usr/bin/env bash
# make test: lint, the front end's tests, then pytest, whose summary is the last line. ARGS go to pytest.
source "$(dirname "$0")/common.sh"
source scripts/node.sh
source scripts/frontend.sh
source scripts/chromium.sh

ensure_chromium
scripts/lint.sh
say "front end: tests"
use_node
npm --prefix frontend run --silent test
say "pytest"
exec "$VENV/bin/python" -m pytest --durations=20 "$@"
