"""What the nightly job looks after besides pre-reading."""

from datetime import UTC, datetime, timedelta

import pytest

from app.core.catalog import DocumentState, Gone
from kvstore.tiers.disk import DiskTier
from workers.ingest import ingest
from workers.preread import preread
from workers.tending import hold_to_limits, tend, verify_sample

TENANT = "default"
NOW = datetime.now(UTC)


@pytest.fixture
def read(context, add):
    document = add("travel.md", "\n\n".join(f"Rule {n}: whoever travels is paid {n} euros a day." for n in range(9)))
    assert ingest(document.id, context)
    assert not preread(document.id, context)
    return document


def blobs(context):
    return sorted(context.settings.effective_kv_dir.rglob("*.kv"))


def test_a_damaged_blob_in_the_sample_is_removed_and_made_again(context, read):
    victim = blobs(context)[0]
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(bytes(data))
    found = verify_sample(context, NOW, "0" * 64)
    assert found == {"whole": len(blobs(context)), "corrupt": 1, "sampled": len(blobs(context)) + 1}
    assert not victim.exists()
    assert [each.gone for each in context.catalog.readings_under(TENANT, [victim.stem])] == [Gone.CORRUPT]
    assert context.catalog.get_document(TENANT, read.id).state is DocumentState.INDEXED
    assert not preread(read.id, context)
    assert victim.exists()


def test_a_sample_of_nothing_but_damage_is_left_there(context, add):
    for number in range(12):
        document = add(f"{number}.md", f"Rule {number} is short.")
        assert ingest(document.id, context)
        assert not preread(document.id, context)
    for victim in blobs(context):
        victim.write_bytes(b"damage")
    count = len(blobs(context))
    assert verify_sample(context, NOW, "0" * 64)["corrupt"] == count > 10
    assert len(blobs(context)) == count


def test_a_limit_that_was_lowered_is_held_to(context, read):
    stored = sum(path.stat().st_size for path in blobs(context))
    context.settings.__dict__["kv_disk_bytes"] = stored // 2
    assert hold_to_limits(context)["disk"]["limit_bytes"] == stored // 2
    assert 0 < sum(path.stat().st_size for path in blobs(context)) <= stored // 2


def test_the_report_tells_each_step_and_old_counts_are_merged(context, read):
    old = NOW - timedelta(days=40)
    for minutes in range(0, 50, 5):
        context.catalog.record_lookups(TENANT, {"disk": (1, 10)}, {}, {}, old.replace(minute=minutes))
    before = context.catalog.lookup_totals(TENANT)
    found = tend(context, NOW)
    assert found.keys() == {
        "verified",
        "tiers",
        "rollup_rows_merged",
        "history_removed",
        "audit_removed",
        "database_bytes_freed",
    }
    assert found["rollup_rows_merged"] == 9
    assert context.catalog.lookup_totals(TENANT) == before
    assert tend(context, NOW)["rollup_rows_merged"] == 0


def test_the_audit_log_is_kept_for_as_long_as_the_operator_says(context):
    context.catalog.note_action(TENANT, "key_1", "a key", "document.add", "doc_1")
    days = timedelta(days=context.settings.audit_days)
    assert tend(context, datetime.now(UTC) + days - timedelta(hours=1))["audit_removed"] == 0
    assert tend(context, datetime.now(UTC) + days + timedelta(hours=1))["audit_removed"] == 1


def test_history_is_kept_for_as_long_as_the_operator_says(context):
    context.catalog.count_dropped("unreadable", "{")
    days = timedelta(days=context.settings.history_days)
    assert tend(context, NOW + days - timedelta(hours=1))["history_removed"]["dropped_messages"] == 0
    assert tend(context, NOW + days + timedelta(hours=1))["history_removed"]["dropped_messages"] == 1
    assert context.catalog.dropped_messages() == {}


def test_a_step_that_cannot_be_done_is_told_and_the_others_are_done(context, read, monkeypatch):
    from kvstore.errors import TierDown

    def down(*_):
        raise TierDown("The disk does not answer.")

    monkeypatch.setattr(DiskTier, "peek", down)
    found = tend(context, NOW)
    assert found["verified"] == {"problem": "The disk does not answer."}
    assert found["tiers"]["disk"]["bytes"] > 0
