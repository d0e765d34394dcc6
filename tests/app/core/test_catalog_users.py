from datetime import timedelta

import pytest

from app.core.access import Role
from app.core.catalog import LastAdmin, UserExists, UserNotFound

LIFE, IDLE = timedelta(hours=12), timedelta(minutes=30)


@pytest.fixture
def kim(catalog):
    return catalog.add_user("default", "kim", Role.ADMIN, password_hash="hash")


def signed_in(catalog, user, digest="d" * 64):
    catalog.open_session(user.id, digest, LIFE, IDLE)
    return lambda: catalog.find_session(digest, IDLE) is not None


def test_a_user_is_found_by_name_and_by_subject(catalog, kim) -> None:
    ana = catalog.add_user("default", "ana", Role.READER, subject="https://issuer.example 42")
    assert catalog.find_user("kim") == kim
    assert catalog.user_of_subject("https://issuer.example 42") == ana
    assert catalog.user_of_subject("https://issuer.example 43") is None
    assert [user.name for user in catalog.users("default")] == ["ana", "kim"]
    assert catalog.users("other") == []
    assert "hash" not in repr(kim)


def test_a_name_is_there_once_whatever_the_tenant(catalog, kim) -> None:
    with pytest.raises(UserExists):
        catalog.add_user("other", "kim", Role.READER)


def test_somebody_is_known_once_there_is_a_user(catalog) -> None:
    assert not catalog.has_users()
    assert not catalog.knows_anybody()
    catalog.add_user("other", "kim", Role.READER)
    assert catalog.has_users()
    assert catalog.knows_anybody()


@pytest.mark.parametrize(
    "change",
    [
        lambda catalog: catalog.set_password("default", "ana", "another hash"),
        lambda catalog: catalog.change_user("default", "ana", role=Role.READER),
        lambda catalog: catalog.change_user("default", "ana", disabled=True),
    ],
    ids=["password", "role", "disabled"],
)
def test_a_change_ends_the_users_sessions_and_no_others(catalog, kim, change) -> None:
    ana = catalog.add_user("default", "ana", Role.EDITOR, password_hash="hash")
    of_ana, of_kim = signed_in(catalog, ana, "a" * 64), signed_in(catalog, kim, "b" * 64)
    assert of_ana()
    change(catalog)
    assert not of_ana()
    assert of_kim()


def test_a_change_that_changes_nothing_ends_no_session(catalog, kim) -> None:
    still = signed_in(catalog, kim)
    catalog.change_user("default", "kim", role=Role.ADMIN, disabled=False)
    assert still()


@pytest.mark.parametrize("change", [{"disabled": True}, {"role": Role.EDITOR}], ids=["disabled", "role"])
def test_the_last_admin_of_a_tenant_stays_one(catalog, kim, change) -> None:
    catalog.add_user("other", "their-admin", Role.ADMIN)
    catalog.add_user("default", "editor", Role.EDITOR)
    still = signed_in(catalog, kim)
    with pytest.raises(LastAdmin):
        catalog.change_user("default", "kim", **change)
    assert catalog.find_user("kim") == kim
    assert still()
    catalog.add_user("default", "second", Role.ADMIN)
    catalog.change_user("default", "kim", **change)


def test_a_disabled_admin_is_none_to_count_on(catalog, kim) -> None:
    catalog.add_user("default", "second", Role.ADMIN)
    catalog.change_user("default", "second", disabled=True)
    with pytest.raises(LastAdmin):
        catalog.change_user("default", "kim", disabled=True)


def test_another_tenants_user_is_not_there(catalog, kim) -> None:
    with pytest.raises(UserNotFound):
        catalog.change_user("other", "kim", disabled=True)
    with pytest.raises(UserNotFound):
        catalog.set_password("other", "kim", "hash")


def test_a_session_ends_after_its_life_however_much_it_is_used(catalog, clock, kim) -> None:
    digest, is_open = "d" * 64, signed_in(catalog, kim)
    for _ in range(12 * 60 // 20 - 1):
        clock.advance(20 * 60)
        catalog.note_session_use(digest)
        assert is_open()
    clock.advance(20 * 60)
    assert not is_open()


def test_a_session_ends_when_it_is_not_used(catalog, clock, kim) -> None:
    is_open = signed_in(catalog, kim)
    clock.advance(29 * 60)
    assert is_open()
    clock.advance(60)
    assert not is_open()


def test_who_signs_in_has_old_sessions_deleted(catalog, clock, kim) -> None:
    signed_in(catalog, kim, "a" * 64)
    clock.advance(31 * 60)
    signed_in(catalog, kim, "b" * 64)
    assert catalog.find_session("a" * 64, timedelta(days=1)) is None


def test_signing_out_ends_one_session(catalog, kim) -> None:
    here, there = signed_in(catalog, kim, "a" * 64), signed_in(catalog, kim, "b" * 64)
    catalog.end_session("a" * 64)
    assert (here(), there()) == (False, True)
