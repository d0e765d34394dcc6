import json

import pytest
from typer.testing import CliRunner

from app.cli.main import cli
from app.core.access import Role
from app.core.catalog import Catalog
from app.core.settings import get_settings
from app.web.access.passwords import is_password


@pytest.fixture
def catalog(own_state):
    catalog = Catalog(get_settings().effective_database_url)
    catalog.migrate()
    yield catalog
    catalog.close()


def preread(*arguments, given=None, code=0):
    result = CliRunner().invoke(cli, ["user", *arguments], input=given)
    assert result.exit_code == code, result.output
    return result


def test_a_user_is_added_without_anything_running_and_the_password_stands_alone_on_stdout(own_state) -> None:
    result = preread("create", "kim", "--role", "admin", "--tenant", "acme")
    catalog = Catalog(get_settings().effective_database_url)
    user = catalog.find_user("kim")
    catalog.close()
    assert (user.tenant, user.role) == ("acme", Role.ADMIN)
    assert is_password(result.stdout.strip(), user.password_hash)
    assert result.stdout.strip() not in result.stderr


def test_a_password_may_come_from_standard_input_and_is_not_printed(catalog) -> None:
    result = preread("create", "kim", "--password-stdin", given="correct horse battery\n")
    assert is_password("correct horse battery", catalog.find_user("kim").password_hash)
    assert "correct horse" not in result.output
    preread("password", "kim", "--password-stdin", given="another horse battery\n")
    assert is_password("another horse battery", catalog.find_user("kim").password_hash)


def test_another_password_takes_the_place_of_the_first(catalog) -> None:
    first = preread("create", "kim").stdout.strip()
    second = preread("password", "kim").stdout.strip()
    kept = catalog.find_user("kim").password_hash
    assert (is_password(first, kept), is_password(second, kept)) == (False, True)


def test_users_are_listed_and_disabled(catalog) -> None:
    preread("create", "ana", "--role", "editor")
    preread("disable", "ana")
    assert catalog.find_user("ana").disabled
    users = json.loads(preread("ls", "--json").stdout)["users"]
    assert users == [{"name": "ana", "role": "editor", "disabled": True}]
    assert "disabled" in preread("ls").stdout


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("create", "kim kim"), None),
        (("create", "kim", "--password-stdin"), "short\n"),
        (("password", "nobody"), None),
        (("disable", "nobody"), None),
    ],
    ids=["name", "short", "password", "disable"],
)
def test_what_cannot_be_done_is_an_error(catalog, arguments, given) -> None:
    assert CliRunner().invoke(cli, ["user", *arguments], input=given).exit_code == 1
    assert catalog.users("default") == []
