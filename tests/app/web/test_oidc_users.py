"""Users that a provider names, in a real database."""

import pytest

from app.core.access import Role
from app.core.catalog import Catalog, LastAdmin
from app.core.settings import Settings
from app.web.access.oidc.client import OidcIdentity
from app.web.access.oidc.errors import NoRole, NoTenant, UserDisabled
from app.web.access.oidc.users import OidcUsers

ISSUER = "https://login.example.org"


@pytest.fixture
def catalog(tmp_path):
    catalog = Catalog(f"sqlite:///{tmp_path / 'preread.db'}")
    catalog.migrate()
    yield catalog
    catalog.close()


@pytest.fixture
def users(catalog):
    settings = Settings(
        public_url="https://preread.example.org",
        oidc_issuer=ISSUER,
        oidc_client_id="preread",
        oidc_roles="admins=admin;staff=reader",
        oidc_tenant_claim="org",
    )
    return OidcUsers(catalog, settings)


def identity(subject="s-1", name="ada", groups=("staff",), issuer=ISSUER, **more) -> OidcIdentity:
    return OidcIdentity(issuer, subject, name, "", {"groups": list(groups), "org": "sales", **more})


def test_somebody_new_becomes_a_user_of_the_tenant_that_the_provider_names(users, catalog):
    made = users.user_of(identity())
    assert (made.name, made.tenant, made.role, made.password_hash) == ("ada", "sales", Role.READER, None)
    assert users.user_of(identity()) == made
    assert catalog.users("sales") == [made]


def test_the_same_subject_of_another_provider_is_another_user(users):
    first = users.user_of(identity())
    second = users.user_of(identity(issuer="https://elsewhere.example.org"))
    assert second.id != first.id
    assert second.name.startswith("ada-")


def test_a_user_stays_the_same_under_another_name(users):
    first = users.user_of(identity())
    assert users.user_of(identity(name="ada.lovelace")).id == first.id


def test_the_role_is_taken_anew(users):
    users.user_of(identity("s-0", "boss", ("admins",)))
    users.user_of(identity(groups=("admins",)))
    assert users.user_of(identity()).role is Role.READER


def test_the_last_admin_of_a_tenant_is_not_made_less_by_signing_in(users, catalog):
    users.user_of(identity(groups=("admins",)))
    with pytest.raises(LastAdmin):
        users.user_of(identity())
    assert catalog.find_user("ada").role is Role.ADMIN


@pytest.mark.parametrize("org", [None, "Sales & Co", "support"], ids=["none", "no tenant", "another than before"])
def test_nobody_changes_tenants_by_signing_in(users, org):
    users.user_of(identity())
    with pytest.raises(NoTenant):
        users.user_of(identity(org=org))


def test_whoever_is_disabled_or_without_a_role_is_refused(users, catalog):
    users.user_of(identity())
    catalog.change_user("sales", "ada", disabled=True)
    with pytest.raises(UserDisabled):
        users.user_of(identity())
    with pytest.raises(NoRole):
        users.user_of(identity("s-2", "eve", ()))
    assert catalog.find_user("eve") is None
