def note(catalog, target: str, tenant: str = "default") -> None:
    catalog.note_action(tenant, "key_1", "the intranet", "document.delete", target, "req-1", "10.0.0.7")


def test_entries_come_newest_first_page_by_page_and_of_one_tenant(catalog, clock) -> None:
    for number in range(5):
        note(catalog, f"doc_{number}")
        note(catalog, f"theirs_{number}", "other")
        clock.advance(1)
    first, second = catalog.audit_page("default", 3, 0), catalog.audit_page("default", 3, 3)
    assert (first.total, second.total) == (5, 5)
    assert [entry.target for entry in (*first.items, *second.items)] == [f"doc_{n}" for n in (4, 3, 2, 1, 0)]
    entry = second.items[-1]
    assert (entry.actor_id, entry.actor, entry.action) == ("key_1", "the intranet", "document.delete")
    assert (entry.request_id, entry.address, entry.tenant) == ("req-1", "10.0.0.7", "default")


def test_what_cannot_be_stored_is_replaced_and_what_is_long_is_cut(catalog) -> None:
    catalog.note_action("default", "", "a\0b", "sign_in.failed", "x" * 5000)
    (entry,) = catalog.audit_page("default", 1, 0).items
    assert (entry.actor, len(entry.target)) == ("a\N{REPLACEMENT CHARACTER}b", 1000)


def test_old_entries_are_forgotten(catalog, clock) -> None:
    note(catalog, "old")
    clock.advance(100)
    note(catalog, "new")
    clock.advance(1)
    before = clock.now.replace(second=30)
    assert catalog.forget_audit(before) == 1
    assert [entry.target for entry in catalog.audit_page("default", 9, 0).items] == ["new"]
