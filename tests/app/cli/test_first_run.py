"""The first start leaves an admin and a key for the command line; later ones leave them as they are."""

import stat
import sys

import pytest
from pydantic import SecretStr

from app.cli.first_run import provide_access
from app.cli.operator_key import command_line_key
from app.core.access import Role
from app.core.catalog import Catalog
from app.core.key_token import digest_of, parts_of
from app.web.access.passwords import is_password


@pytest.fixture
def catalog(settings):
    settings.state_dir.mkdir()
    catalog = Catalog(settings.effective_database_url)
    catalog.migrate()
    yield catalog
    catalog.close()


def on_a_terminal(monkeypatch, yes):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: yes)


def test_the_password_is_told_once_on_a_terminal(settings, catalog, capsys, monkeypatch) -> None:
    on_a_terminal(monkeypatch, True)
    provide_access(settings, catalog)
    told = capsys.readouterr().out
    admin = catalog.find_user("admin")
    assert (admin.tenant, admin.role) == (settings.tenant, Role.ADMIN)
    assert any(is_password(word, admin.password_hash) for word in told.split())
    provide_access(settings, catalog)
    assert capsys.readouterr().out == ""


def test_where_it_may_be_a_log_no_password_is_written(settings, catalog, capsys, monkeypatch) -> None:
    on_a_terminal(monkeypatch, False)
    provide_access(settings, catalog)
    told = capsys.readouterr().out
    assert "preread user password admin" in told
    assert not any(is_password(word, catalog.find_user("admin").password_hash) for word in set(told.split()))


def test_the_command_lines_key_is_an_admins_and_for_the_owner_of_the_folder_alone(settings, catalog) -> None:
    provide_access(settings, catalog)
    path = settings.operator_key_file
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in settings.state_dir.iterdir() if "key" in file.name] == ["operator.key"]
    key_id, secret = parts_of(path.read_text().strip())
    key = catalog.find_key(key_id)
    assert (key.role, key.tenant, key.digests) == (Role.ADMIN, settings.tenant, (digest_of(secret),))
    assert (key.requests_per_minute, key.concurrent_requests) == (0, 0)


def test_a_good_key_stays_and_one_that_is_gone_or_ended_is_replaced(settings, catalog) -> None:
    provide_access(settings, catalog)
    path = settings.operator_key_file
    first = path.read_text()
    provide_access(settings, catalog)
    assert path.read_text() == first
    catalog.revoke_key(settings.tenant, parts_of(first.strip())[0])
    provide_access(settings, catalog)
    second = path.read_text()
    assert second != first
    path.unlink()
    provide_access(settings, catalog)
    assert path.read_text() not in (first, second)


def test_users_who_are_there_are_left_alone(settings, catalog) -> None:
    catalog.add_user("acme", "kim", Role.READER)
    provide_access(settings, catalog)
    assert catalog.users(settings.tenant) == []


def test_a_key_that_is_set_goes_before_the_one_of_the_folder(settings, catalog) -> None:
    provide_access(settings, catalog)
    assert command_line_key(settings) == settings.operator_key_file.read_text().strip()
    assert command_line_key(settings.model_copy(update={"api_key": SecretStr("prk_a_b")})) == "prk_a_b"


@pytest.mark.parametrize(
    ("web_url", "sent"),
    [("http://localhost:8100", True), ("http://[::1]:8100", True), ("https://preread.example.org", False)],
)
def test_the_folders_key_is_sent_to_this_machine_alone(settings, catalog, web_url, sent) -> None:
    provide_access(settings, catalog)
    assert bool(command_line_key(settings.model_copy(update={"web_url": web_url}))) is sent


def test_without_a_key_there_is_none(settings) -> None:
    assert command_line_key(settings) == ""
