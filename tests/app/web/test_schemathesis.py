"""The API against its own OpenAPI document: generated requests, good and bad, to every operation.

Longer: PREREAD_SCHEMATHESIS_EXAMPLES=500 .venv/bin/python -m pytest tests/app/web/test_schemathesis.py
"""

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, seed, settings
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served_web import web_served
from web_harness import DEADLINE_SECONDS, PAGES, SECRET, Web

from app.core.settings import Settings
from app.web.main import create_app

EXAMPLES = int(os.environ.get("PREREAD_SCHEMATHESIS_EXAMPLES", "20"))
SCHEMA = schemathesis.openapi.from_dict(create_app(Settings(_env_file=None, state_dir="unused")).openapi())
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
]


@pytest.fixture(scope="module")
def known(engine, tmp_path_factory):
    """A server of its own: much is added to it."""
    of_the_test = Settings(
        _env_file=None,
        state_dir=tmp_path_factory.mktemp("generated"),
        engine_url=engine.url,
        internal_secret=SECRET,
        max_upload_bytes=100_000,
    )
    app = create_app(of_the_test)
    engine.behave()
    with web_served(app, of_the_test, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        web = Web(client, app.state.services, server, engine)
        for name, text in PAGES.items():
            web.add(name, text)
        yield client


@SCHEMA.parametrize()
@seed(7)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_answered_is_what_is_documented(case, known):
    address = str(known.base_url).rstrip("/")
    answer = case.call(
        base_url=address, headers=dict(known.headers), timeout=DEADLINE_SECONDS, allow_redirects=False
    )
    case.validate_response(answer, checks=CHECKS)
    assert answer.status_code < 500 or answer.status_code == 503
