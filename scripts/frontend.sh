# Sourced: the pages, built from frontend/ into app/web/static.

frontend_packages() { npm --prefix frontend ci --no-audit --no-fund --loglevel=error > /dev/null; }

ensure_frontend_packages() {
    use_node
    [ -d frontend/node_modules ] || rm -f "$STAMPS/frontend-packages"
    step frontend-packages "$(digest frontend/package.json frontend/package-lock.json)" \
        "installing the front end's packages" frontend_packages
}

frontend_build() {
    ensure_frontend_packages
    npm --prefix frontend run --silent build -- --logLevel warn
}

ensure_frontend() {
    [ -f app/web/static/index.html ] || rm -f "$STAMPS/frontend-build"
    step frontend-build "$(digest frontend)" "building the pages" frontend_build
}
