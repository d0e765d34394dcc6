"""`preread verify` against a catalog and tiers of its own; nothing else runs."""

import base64
import json
from datetime import UTC, datetime, timedelta

from kept_document import CHUNKS, TENANT, World, blob, named
from sqlalchemy import create_engine, update
from typer.testing import CliRunner

from app.cli.main import cli
from app.core.catalog import DocumentState, Gone, SchemaError
from app.core.catalog.models import StoredReading
from app.core.settings import get_settings


def verify(*arguments: str):
    return CliRunner().invoke(cli, ["verify", *arguments])


def told(*arguments: str):
    result = verify("--json", *arguments)
    return result.exit_code, json.loads(result.stdout)


def test_where_all_is_well_there_is_a_line_a_tier_and_one_for_what_is_missing(world):
    result = verify()
    assert result.exit_code == 0, result.output
    size = 3 * len(blob(1))
    assert result.stdout.splitlines() == [
        f"disk: 3 entries, {size / 1000:.1f} kB read: 3 whole, 0 corrupt, 0 unknown, 0 stale_profile",
        "missing: 0 readings",
    ]


def test_without_repair_it_only_tells(world):
    world.path(1).write_bytes(b"damaged")
    world.path(2).unlink()
    world.put_old(9)
    code, found = told()
    assert code == 1
    (disk,) = found["tiers"]
    assert (disk["entries"], disk["whole"], disk["corrupt"], disk["unknown"], disk["removed"]) == (3, 1, 1, 1, None)
    assert {(each["key"][-1], each["verdict"]) for each in disk["amiss"]} == {("1", "corrupt"), ("9", "unknown")}
    assert all(each["reason"] for each in disk["amiss"])
    assert found["missing"] == {"readings": 1, "documents": None}
    assert world.path(1).exists()
    assert world.path(9).exists()
    assert world.state is DocumentState.PREREAD


def test_repair_removes_and_has_the_documents_of_what_was_lost_pre_read_again(world):
    world.path(1).write_bytes(b"damaged")
    world.path(2).unlink()
    world.put_old(9)
    result = verify("--repair")
    assert result.exit_code == 0, result.output
    disk, missing = result.stdout.splitlines()
    assert disk.endswith("1 whole, 1 corrupt, 1 unknown, 0 stale_profile; 2 removed")
    assert missing == "missing: 2 readings; 1 documents will be pre-read again"
    assert [world.path(number).exists() for number in (1, 2, 3, 9)] == [False, False, True, False]
    assert world.state is DocumentState.INDEXED
    readings = world.catalog.readings(TENANT, [named(number) for number in CHUNKS])
    assert [reading.gone for reading in readings] == [Gone.CORRUPT, Gone.EVICTED, None]
    assert verify().exit_code == 0


def test_what_is_older_than_the_tiers_keep_it_is_told_as_expired(world, monkeypatch):
    monkeypatch.setenv("PREREAD_KV_DISK_TTL_SECONDS", "60")
    get_settings.cache_clear()
    engine = create_engine(world.settings.effective_database_url)
    with engine.begin() as connection:
        an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
        connection.execute(update(StoredReading).where(StoredReading.key == named(2)).values(updated_at=an_hour_ago))
    engine.dispose()
    for number in CHUNKS:
        world.path(number).unlink()
    verify("--repair")
    readings = world.catalog.readings(TENANT, [named(number) for number in CHUNKS])
    assert [reading.gone for reading in readings] == [Gone.EVICTED, Gone.EXPIRED, Gone.EVICTED]


def test_a_tier_that_is_down_is_told_and_the_others_are_verified(world, monkeypatch, tmp_path):
    monkeypatch.setenv("PREREAD_KV_REDIS_URL", f"unix://{tmp_path}/none.sock")
    monkeypatch.setenv("PREREAD_KV_OBJECT_URL", "ftp://bucket")
    get_settings.cache_clear()
    world.path(1).write_bytes(b"damaged")
    world.path(2).unlink()
    result = verify("--repair")
    assert result.exit_code == 1
    redis, disk, bucket, missing = result.stdout.splitlines()
    assert "Redis does not answer" in redis
    assert "PREREAD_KV_REDIS_URL" in redis
    assert disk.endswith("; 1 removed")
    assert "PREREAD_KV_OBJECT_URL" in bucket
    assert missing == "missing: not known while a tier does not answer"
    assert world.state is DocumentState.PREREAD, "it may lie in the tier that is down"
    assert told()[1]["tiers"][0]["problem"]


def set_key(monkeypatch, number: int) -> None:
    monkeypatch.setenv("PREREAD_KV_ENCRYPTION_KEY", base64.b64encode(bytes([number]) * 32).decode())
    get_settings.cache_clear()


def test_sealed_chunk_kv_is_whole_with_its_key_and_corrupt_with_another(own_state, monkeypatch):
    set_key(monkeypatch, 1)
    World().catalog.close()
    assert told()[1]["tiers"][0]["whole"] == 3
    set_key(monkeypatch, 2)
    code, found = told()
    assert (code, found["tiers"][0]["corrupt"]) == (1, 3)
    assert "another encryption key" in found["tiers"][0]["amiss"][0]["reason"]


def test_repair_with_what_seem_to_be_wrong_settings_removes_nothing(world, monkeypatch):
    for number in range(10, 20):
        world.put_old(number)
    set_key(monkeypatch, 1)
    result = verify("--repair")
    assert result.exit_code == 1
    assert "nothing was removed" in result.stdout
    assert "PREREAD_KV_ENCRYPTION_KEY" in result.stdout
    assert all(world.path(number).exists() for number in (*CHUNKS, *range(10, 20)))


def test_without_a_database_there_is_nothing_to_compare_with(own_state):
    result = verify("--repair")
    assert isinstance(result.exception, SchemaError)
    assert "preread up" in result.exception.hint
    assert not own_state.exists()
