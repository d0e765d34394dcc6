# Sourced by test.sh: an nginx, for what stands behind one.

ensure_nginx() {
    if have nginx || [ -x /usr/sbin/nginx ]; then return; fi
    if ! can_apt; then
        fail "the tests behind a proxy need nginx" "Debian: sudo apt-get install nginx" \
            "Fedora: sudo dnf install nginx · Arch: sudo pacman -S nginx"
    fi
    say "installing Debian's nginx for the tests behind a proxy"
    local policy=/usr/sbin/policy-rc.d
    if [ -e "$policy" ]; then
        apt_install nginx-light
        return
    fi
    printf '#!/bin/sh\nexit 101\n' > "$policy" # Debian would start it, on port 80
    chmod +x "$policy"
    apt_install nginx-light || { rm -f "$policy"; return 1; }
    rm -f "$policy"
}
