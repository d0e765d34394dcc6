"""What a provider's claims mean: roles, tenants, names, and where a browser may go afterwards."""

import pytest
from pydantic import ValidationError

from app.core.access import Role
from app.core.oidc_roles import oidc_roles_from
from app.core.settings import Settings
from app.web.access.oidc.claims import claim_at, role_from, tenant_from
from app.web.access.oidc.client import OidcIdentity
from app.web.access.oidc.errors import NoRole, NoTenant
from app.web.access.oidc.following import own_path
from app.web.access.oidc.users import name_for

ROLES = {"preread-admins": Role.ADMIN, "staff": Role.READER, "writers": Role.EDITOR}
GIVEN = {"oidc_issuer": "https://login.example.org", "oidc_client_id": "preread", "oidc_roles": "staff=reader"}


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["staff"], Role.READER),
        (["staff", "preread-admins", "writers"], Role.ADMIN),
        (["staff", "writers", "chess"], Role.EDITOR),
        ("writers", Role.EDITOR),
    ],
    ids=["one", "the highest counts", "unknown ones do not", "not in a list"],
)
def test_the_role_is_the_highest_of_the_groups(groups, role):
    assert role_from({"groups": groups}, "groups", ROLES, None) is role


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"groups": []},
        {"groups": ["chess"]},
        {"groups": None},
        {"groups": [{"name": "staff"}, 3]},
        {"groups": "staff writers"},
    ],
    ids=["no claim", "no groups", "unknown", "null", "no names", "one name"],
)
def test_nobody_without_a_group_gets_in_unless_there_is_a_role_for_them(claims):
    with pytest.raises(NoRole):
        role_from(claims, "groups", ROLES, None)
    assert role_from(claims, "groups", ROLES, Role.READER) is Role.READER


def test_a_claim_may_lie_inside_another_and_its_name_may_hold_dots():
    claims = {"realm_access": {"roles": ["staff"]}, "https://example.org/groups": ["writers"], "a.b": 1, "a": {"b": 2}}
    assert claim_at(claims, "realm_access.roles") == ["staff"]
    assert claim_at(claims, "https://example.org/groups") == ["writers"]
    assert claim_at(claims, "a.b") == 1
    assert claim_at(claims, "realm_access.roles.none") is None


def test_the_tenant_is_ours_or_what_the_claim_names():
    assert tenant_from({"org": "other"}, "", "default") == "default"
    assert tenant_from({"org": "sales-2"}, "org", "default") == "sales-2"


@pytest.mark.parametrize("value", [None, "", "Sales", "../sales", "a" * 64, ["sales"], 3, "sales\n"])
def test_a_claim_that_names_no_tenant_is_refused(value):
    with pytest.raises(NoTenant):
        tenant_from({"org": value}, "org", "default")


def test_groups_and_roles_are_read_from_the_setting():
    assert oidc_roles_from(" a=admin; cn=staff,dc=example = reader ;") == {
        "a": Role.ADMIN,
        "cn=staff,dc=example": Role.READER,
    }


@pytest.mark.parametrize("value", ["admin", "=admin", "staff=owner", "staff=", "staff=Reader"])
def test_a_setting_that_names_no_role_is_refused(value):
    with pytest.raises(ValidationError, match="GROUP=ROLE"):
        Settings(oidc_roles=value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"oidc_client_id": ""},
        {"public_url": ""},
        {"oidc_roles": ""},
        {"oidc_issuer": "http://login.example.org"},
        {"oidc_issuer": "login.example.org"},
        {"oidc_issuer": "http://localhost.example.org@elsewhere"},
        {"oidc_scopes": "profile"},
        {"oidc_default_role": "owner"},
    ],
    ids=lambda wrong: "-".join(f"{name}={value}" for name, value in wrong.items()),
)
def test_half_a_set_up_is_refused(wrong):
    with pytest.raises(ValidationError):
        Settings(**{"public_url": "https://preread.example.org"} | GIVEN | wrong)


@pytest.mark.parametrize(
    "issuer", ["https://login.example.org/realms/a", "http://localhost:9400", "http://127.0.0.1:1/x"]
)
def test_a_provider_is_reached_by_https_or_on_this_machine(issuer):
    settings = Settings(**GIVEN | {"oidc_issuer": issuer, "public_url": "https://preread.example.org"})
    assert settings.oidc_issuer == issuer


def identity(name: str, email: str = "") -> OidcIdentity:
    return OidcIdentity("https://login.example.org", "s-1", name, email, {})


def test_a_user_is_called_by_a_name_that_a_user_may_have():
    assert name_for(identity("ada.l")) == "ada.l"
    assert name_for(identity("Ada Lovelace", "ada@example.org")) == "ada@example.org"
    nameless = name_for(identity("佐藤 花子"))
    assert nameless.startswith("user-")
    assert nameless == name_for(identity("", "not an address"))
    assert len(name_for(identity("a" * 200))) <= 90


@pytest.mark.parametrize("wanted", ["/", "/#/admin", "/?q=1#/", "/documents/doc_1/text", "/a%20b"])
def test_a_path_of_ours_is_followed(wanted):
    assert own_path(wanted) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "admin",
        "https://evil.example.org/",
        "//evil.example.org",
        "/\\evil.example.org",
        "/\t/evil.example.org",
        "/\n/evil.example.org",
        "/ok\r\nSet-Cookie: a=b",
        "javascript:alert(1)",
        "/auth/oidc/start",
        "/" + "a" * 1000,
    ],
)
def test_everywhere_else_is_not(wanted):
    assert own_path(wanted) == "/"
