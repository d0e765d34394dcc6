# Sourced by setup.sh: a virtual environment in .venv, made with a Python that the locks support.

supported() {
    "$1" -c 'import sys; sys.exit(not (3, 11, 2) <= sys.version_info[:3] < (3, 15))' > /dev/null 2>&1
}

find_python() {
    local name
    for name in ${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3}; do
        if have "$name" && supported "$name"; then
            command -v "$name"
            return
        fi
    done
    fail "no Python between 3.11.2 and 3.14 found (looked for: ${PYTHON:-python3.11 … python3.14, python3})" \
        "Debian and Ubuntu: apt-get install python3 python3-venv" \
        "or name one: PYTHON=/path/to/python make setup"
}

ensure_venv() {
    local python
    if [ -x "$VENV/bin/python" ] && supported "$VENV/bin/python"; then return; fi
    python="$(find_python)"
    say "creating .venv with $("$python" --version)"
    rm -rf "$VENV"
    if "$python" -c 'import ensurepip' > /dev/null 2>&1 && "$python" -m venv "$VENV"; then return; fi
    rm -rf "$VENV"
    if ! can_apt; then
        fail "this Python cannot make virtual environments" "Debian and Ubuntu: apt-get install python3-venv"
    fi
    say "installing Debian's python3-venv"
    apt_install python3-venv
    "$python" -m venv "$VENV"
}
