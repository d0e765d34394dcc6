# Sourced by test.sh: an nginx, for what stands behind one.

ensure_nginx() {
    if have nginx || [ -x /usr/sbin/nginx ]; then return; fi
    if ! can_apt; then
        fail "the tests behind a proxy need nginx" "Debian: sudo apt-get install nginx" \
            "Fedora: sudo dnf install nginx · Arch: sudo pacman -S nginx"
    fi
    say "installing Debian's nginx for the tests behind a proxy"
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d # it is not to be started
    chmod +x /usr/sbin/policy-rc.d
    apt_install nginx-light
    rm -f /usr/sbin/policy-rc.d
}
