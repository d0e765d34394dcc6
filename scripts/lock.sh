#!/usr/bin/env bash
# make lock: rewrite requirements/*.lock, see requirements/README.md.
source "$(dirname "$0")/common.sh"

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
say "getting uv"
"$VENV/bin/python" -m venv "$folder"
"$folder/bin/python" -m pip --disable-pip-version-check install --quiet uv
PATH="$folder/bin:$PATH" "$VENV/bin/python" scripts/lock.py "$@"
