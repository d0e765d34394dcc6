from datetime import timedelta

import pytest

from app.core.access import Permission, Role
from app.core.catalog import KeyNotFound, NewKey

KEY = NewKey("default", "the intranet", Role.EDITOR, frozenset({Permission.ASK}), None, 60, 2)
FIRST, SECOND = "a" * 64, "b" * 64


def test_a_key_is_found_as_it_was_made(catalog, clock) -> None:
    made = catalog.add_key(KEY, FIRST)
    assert catalog.find_key(made.id) == made
    assert (made.tenant, made.name, made.role, made.scopes) == ("default", "the intranet", Role.EDITOR, ("ask",))
    assert (made.requests_per_minute, made.concurrent_requests, made.digests) == (60, 2, (FIRST,))
    assert (made.created_at, made.expires_at, made.revoked_at, made.last_used_at) == (clock(), None, None, None)
    assert FIRST not in repr(made)


def test_a_tenant_sees_its_own_keys_alone_newest_first(catalog, clock) -> None:
    older = catalog.add_key(KEY, FIRST)
    clock.advance(1)
    newer = catalog.add_key(KEY, SECOND)
    catalog.add_key(NewKey("other", "theirs", Role.ADMIN), "c" * 64)
    assert [key.id for key in catalog.keys("default")] == [newer.id, older.id]


def test_after_a_rotation_the_former_secret_is_good_for_the_overlap_alone(catalog, clock) -> None:
    key = catalog.add_key(KEY, FIRST)
    catalog.rotate_key("default", key.id, SECOND, timedelta(minutes=5))
    assert catalog.find_key(key.id).digests == (SECOND, FIRST)
    clock.advance(301)
    assert catalog.find_key(key.id).digests == (SECOND,)


def test_without_an_overlap_the_former_secret_ends_at_once(catalog) -> None:
    key = catalog.add_key(KEY, FIRST)
    assert catalog.rotate_key("default", key.id, SECOND, timedelta(0)).digests == (SECOND,)


def test_a_revoked_key_stays_in_the_list_and_cannot_be_rotated(catalog, clock) -> None:
    key = catalog.add_key(KEY, FIRST)
    revoked_at = catalog.revoke_key("default", key.id).revoked_at
    clock.advance(10)
    assert catalog.revoke_key("default", key.id).revoked_at == revoked_at
    assert [each.revoked_at for each in catalog.keys("default")] == [revoked_at]
    with pytest.raises(KeyNotFound):
        catalog.rotate_key("default", key.id, SECOND, timedelta(0))


@pytest.mark.parametrize("tenant", ["other", "default"])
def test_another_tenants_key_is_not_there(catalog, tenant) -> None:
    key_id = catalog.add_key(KEY, FIRST).id if tenant == "other" else "key_none"
    with pytest.raises(KeyNotFound):
        catalog.revoke_key(tenant, key_id)
    with pytest.raises(KeyNotFound):
        catalog.rotate_key(tenant, key_id, SECOND, timedelta(0))


def test_the_last_use_is_written_at_most_once_a_minute(catalog, clock) -> None:
    key = catalog.add_key(KEY, FIRST)
    catalog.note_key_use(key.id)
    first = clock()
    clock.advance(59)
    catalog.note_key_use(key.id)
    assert catalog.find_key(key.id).last_used_at == first
    clock.advance(2)
    catalog.note_key_use(key.id)
    assert catalog.find_key(key.id).last_used_at == clock()


def test_somebody_is_known_once_there_is_a_key(catalog) -> None:
    assert not catalog.knows_anybody()
    catalog.add_key(KEY, FIRST)
    assert catalog.knows_anybody()
