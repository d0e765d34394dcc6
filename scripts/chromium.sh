# Sourced by test.sh, and asked by the browser tests: a Chromium.

# Prints its path.
find_chromium() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        if command -v "$name"; then return; fi
    done
    return 1
}

ensure_chromium() {
    if find_chromium > /dev/null; then return; fi
    if ! can_apt; then
        fail "the browser tests need Chromium" "Debian: sudo apt-get install chromium" \
            "Fedora: sudo dnf install chromium · Arch: sudo pacman -S chromium"
    fi
    say "installing Debian's chromium for the browser tests"
    apt_install chromium
}
