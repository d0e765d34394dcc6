# Sourced by test.sh: a Chromium for the browser tests.

find_chromium() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        if have "$name"; then return; fi
    done
    return 1
}

ensure_chromium() {
    if find_chromium; then return; fi
    if ! can_apt; then
        fail "the browser tests need Chromium" "Debian: sudo apt-get install chromium" \
            "Fedora: sudo dnf install chromium · Arch: sudo pacman -S chromium"
    fi
    say "installing Debian's chromium for the browser tests"
    apt_install chromium
}
