#!/usr/bin/env bash
# make test: lint, the front end's tests, then pytest in two parts (the marker `alone`), but for what is `long`.
# With ARGS: one run of pytest with them.
source "$(dirname "$0")/common.sh"
source scripts/node.sh
source scripts/frontend.sh
source scripts/chromium.sh
source scripts/nginx.sh

ensure_chromium
ensure_nginx
scripts/lint.sh
say "front end: tests"
use_node
npm --prefix frontend run --silent test
if [ "$#" -gt 0 ]; then
    say "pytest $*"
    exec "$VENV/bin/python" -m pytest "$@"
fi
passed=0
say "pytest: two at a time"
OMP_NUM_THREADS=1 "$VENV/bin/python" -m pytest -m "not alone and not long" -n 2 --dist loadfile --durations=20 || passed=$?
say "pytest: one at a time"
"$VENV/bin/python" -m pytest -m "alone and not long" --durations=20 || passed=$?
exit "$passed"
