# Sourced by the other scripts: where things are, how to speak, and steps that run only when something changed.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="$ROOT/.venv"
STAMPS="$VENV/.preread"
cd "$ROOT"

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }

fail() {
    printf '\033[1;31merror:\033[0m %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

have() { command -v "$1" > /dev/null 2>&1; }

can_apt() { [ "$(id -u)" = 0 ] && have apt-get; }

apt_install() {
    apt-get update -qq > /dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" > /dev/null
}

# digest PATH…: one hash over the names and contents of files and folders.
digest() {
    find "$@" -type f -not -path '*/node_modules/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}

# step NAME KEY TEXT COMMAND…: run the command unless it last succeeded with the same key.
step() {
    local stamp="$STAMPS/$1" key="$2" text="$3"
    shift 3
    if [ "$(cat "$stamp" 2> /dev/null)" = "$key" ]; then return; fi
    say "$text"
    rm -f "$stamp"
    "$@"
    mkdir -p "$STAMPS"
    printf '%s\n' "$key" > "$stamp"
}

pip() { "$VENV/bin/python" -m pip --disable-pip-version-check "$@"; }

pip_locked() { pip install -qq --no-deps --require-hashes --only-binary :all: -r "requirements/$1.lock"; }
