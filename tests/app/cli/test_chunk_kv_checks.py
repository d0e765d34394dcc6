"""`doctor` tells whether chunk KV can be stored elsewhere, and whether its key is one."""

import base64

import pytest
from object_server import ObjectServer
from pydantic import SecretStr

from app.cli.checks.chunk_kv import check_encryption, check_kv_object
from app.cli.checks.finding import Level


@pytest.fixture
def server(monkeypatch):
    server = ObjectServer()
    for name, value in server.options.items():
        monkeypatch.setenv(name.upper(), value)
    yield server
    server.stop()


def test_what_is_off_is_fine(settings):
    assert (check_kv_object(settings).message, check_encryption(settings).message) == ("off", "off")


def test_a_bucket_that_can_be_written_to_is_fine_and_left_empty(settings, server):
    finding = check_kv_object(settings.model_copy(update={"kv_object_url": "s3://bucket/kv"}))
    assert finding.level is Level.OK, finding
    assert server.names() == []


def test_a_bucket_that_is_not_there_is_named(settings, server):
    finding = check_kv_object(settings.model_copy(update={"kv_object_url": "s3://another/kv"}))
    assert finding.level is Level.FAIL
    assert "PREREAD_KV_OBJECT_URL" in finding.hint


def test_a_url_that_is_none_is_named(settings):
    assert check_kv_object(settings.model_copy(update={"kv_object_url": "bucket"})).level is Level.FAIL


def test_a_key_is_one_or_is_refused_without_being_shown(settings):
    good = base64.b64encode(bytes(32)).decode()
    assert check_encryption(settings.model_copy(update={"kv_encryption_key": SecretStr(good)})).message == "on"
    finding = check_encryption(settings.model_copy(update={"kv_encryption_key": SecretStr("hunter2")}))
    assert finding.level is Level.FAIL
    assert "hunter2" not in finding.message + finding.hint
