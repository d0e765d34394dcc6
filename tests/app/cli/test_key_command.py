import json
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from app.cli.main import cli
from app.core.catalog import Catalog
from app.core.key_token import digest_of, parts_of
from app.core.settings import get_settings


@pytest.fixture
def catalog(own_state):
    catalog = Catalog(get_settings().effective_database_url)
    catalog.migrate()
    yield catalog
    catalog.close()


def preread(*arguments, code=0):
    result = CliRunner().invoke(cli, ["key", *arguments])
    assert result.exit_code == code, result.output
    return result


def test_a_key_is_made_without_anything_running_and_its_secret_stands_alone_on_stdout(own_state) -> None:
    result = preread("create", "search box", "--role", "editor", "--scope", "ask", "--scope", "documents:read")
    key_id, secret = parts_of(result.stdout.strip())
    catalog = Catalog(get_settings().effective_database_url)
    key = catalog.find_key(key_id)
    catalog.close()
    assert (key.name, key.tenant, key.role) == ("search box", "default", "editor")
    assert key.scopes == ("ask", "documents:read")
    assert key.digests == (digest_of(secret),)
    assert secret not in result.stderr
    assert "not shown again" in result.stderr


def test_all_that_a_key_may_have_can_be_given(catalog) -> None:
    given = ("--tenant", "acme", "--expires-days", "30", "--per-minute", "60", "--concurrent", "4")
    preread("create", "acme's", *given)
    (key,) = catalog.keys("acme")
    assert (key.requests_per_minute, key.concurrent_requests) == (60, 4)
    assert abs(key.expires_at - datetime.now(UTC) - timedelta(days=30)) < timedelta(minutes=5)
    assert catalog.keys("default") == []


def test_keys_are_listed_with_their_state(catalog) -> None:
    preread("create", "one")
    preread("create", "[two]", "--role", "admin", "--scope", "metrics", "--expires-days", "1")
    preread("revoke", catalog.keys("default")[-1].id)
    shown = preread("ls").stdout
    assert "[two]" in shown
    assert "revoked" in shown
    assert "admin: metrics" in shown
    states = {key["name"]: key["state"] for key in json.loads(preread("ls", "--json").stdout)["keys"]}
    assert states["one"] == "revoked"
    assert states["[two]"].startswith("good until")


def test_a_rotated_key_has_another_secret_and_the_old_one_for_as_long_as_was_said(catalog) -> None:
    first = preread("create", "one").stdout.strip()
    (key,) = catalog.keys("default")
    second = preread("rotate", key.id, "--overlap-minutes", "5").stdout.strip()
    digests = [digest_of(parts_of(token)[1]) for token in (second, first)]
    assert list(catalog.find_key(key.id).digests) == digests
    preread("rotate", key.id)
    assert len(catalog.find_key(key.id).digests) == 1


@pytest.mark.parametrize(
    "arguments",
    [("create", "x", "--scope", "documents:write"), ("create", " "), ("revoke", "key_none"), ("rotate", "key_none")],
    ids=["scope", "name", "revoke", "rotate"],
)
def test_what_cannot_be_done_is_an_error(catalog, arguments) -> None:
    assert CliRunner().invoke(cli, ["key", *arguments]).exit_code == 1
    assert catalog.keys("default") == []


def test_a_tenant_that_cannot_be_is_refused(own_state) -> None:
    preread("create", "x", "--tenant", "../acme", code=2)


def test_what_is_done_on_the_command_line_is_in_the_audit_log(catalog) -> None:
    token = preread("create", "one").stdout.strip()
    preread("rotate", catalog.keys("default")[0].id)
    preread("revoke", catalog.keys("default")[0].id)
    entries = catalog.audit_page("default", 9, 0).items
    assert [entry.action for entry in entries] == ["key.revoke", "key.rotate", "key.create"]
    assert {entry.actor_id for entry in entries} == {"command-line"}
    assert parts_of(token)[1] not in str(entries)
