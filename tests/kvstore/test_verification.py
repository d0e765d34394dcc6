"""What is amiss in a tier is found and told apart, and nothing else is removed."""

import time
from dataclasses import replace

import pytest
import redis
from kv_samples import make_identity, make_kv
from memory_tier import MemoryTier
from profile_samples import held_out, make_profile

from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS, Codecs
from kvstore.codecs.profiled import ProfiledCodec
from kvstore.errors import TierDown
from kvstore.levels import Level, at_level
from kvstore.profiles import Profiles
from kvstore.sealing import Seal
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.redis import RedisTier
from kvstore.tiers.sealed import SealedTier
from kvstore.verification import YOUNG_SECONDS, Judge, Verdict, absent, examine, remove

LIMIT = 10**7
SEAL, OTHER_SEAL = Seal(bytes(range(32))), Seal(bytes(32))
CODECS = Codecs(Profiles([]))


def in_an_hour() -> float:
    return time.time() + YOUNG_SECONDS + 60


def judge(*known: int, clock=in_an_hour) -> Judge:
    """Knows the blobs with these numbers."""
    keys = {make_identity(number).key for number in known}
    return Judge(CODECS, lambda tenant, identity: tenant == "t" and identity.key in keys, clock)


def blob(number: int) -> bytes:
    return encode_blob(make_kv(seed=number), make_identity(number), LOSSLESS)


def put(tier, number: int, data: bytes | None = None, tenant: str = "t") -> None:
    tier.put(tenant, make_identity(number).key, blob(number) if data is None else data)


def verdicts(tier, judge: Judge) -> dict[str, Verdict]:
    """Of the entries that are amiss, by the last digit of their key."""
    return {judgement.entry.key[-1]: judgement.verdict for judgement in examine(tier, judge).amiss}


@pytest.fixture
def disk(tmp_path):
    return DiskTier(tmp_path / "kv", LIMIT)


def damaged(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_what_is_whole_and_known_is_well(disk):
    put(disk, 1)
    put(disk, 2)
    found = examine(disk, judge(1, 2))
    assert (found.entries, found.nbytes, found.amiss) == (2, len(blob(1)) + len(blob(2)), ())


@pytest.mark.parametrize(
    "data",
    [b"", b"no blob", blob(1)[:-1], damaged(blob(1), 30), damaged(blob(1), len(blob(1)) - 1), blob(2)],
    ids=["empty", "other bytes", "cut short", "header", "section", "another key's"],
)
def test_what_is_not_a_whole_blob_of_its_name_is_corrupt(disk, data):
    put(disk, 1, data)
    (judgement,) = examine(disk, judge(1, 2)).amiss
    assert judgement.verdict is Verdict.CORRUPT
    assert judgement.reason


def test_a_blob_whose_profile_is_gone_is_stale(disk, tmp_path):
    codec = ProfiledCodec(make_profile(), "default")
    put(disk, 1, encode_blob(held_out(20), make_identity(1), codec))
    assert verdicts(disk, judge(1)) == {"1": Verdict.STALE_PROFILE}


def test_what_nobody_wants_is_unknown_but_not_in_its_first_hour(disk):
    put(disk, 1)
    put(disk, 2)
    put(disk, 1, tenant="another")
    now = judge(1, clock=time.time)
    assert verdicts(disk, now) == {}
    unknown = [judgement.entry for judgement in examine(disk, judge(1)).amiss]
    assert {(entry.tenant, entry.key[-1]) for entry in unknown} == {("t", "2"), ("another", "1")}


def test_what_has_no_age_is_never_unknown():
    tier = MemoryTier(LIMIT)
    put(tier, 1)
    assert verdicts(tier, judge()) == {}


def test_repair_removes_what_is_amiss_and_nothing_else(disk):
    put(disk, 1)
    put(disk, 2, damaged(blob(2), 200))
    put(disk, 3)
    found = examine(disk, judge(1, 2))
    assert {verdict: found.verdicts[verdict] for verdict in Verdict} == {
        "whole": 1, "corrupt": 1, "unknown": 1, "stale_profile": 0,
    }  # fmt: skip
    assert remove(disk, judge(1, 2), found.amiss) == 2
    assert disk.get("t", make_identity(1).key) == blob(1)
    assert disk.stats().entries == 1


def test_what_was_put_anew_or_asked_for_meanwhile_is_not_removed(disk):
    put(disk, 1, b"damaged")
    put(disk, 2)
    found = examine(disk, judge(1))
    assert len(found.amiss) == 2
    put(disk, 1)
    assert remove(disk, judge(1, 2), found.amiss) == 0
    assert disk.stats().entries == 2


def test_what_is_deleted_during_the_scan_is_no_error_and_not_counted(disk):
    for number in range(1, 6):
        put(disk, number)
    names = [make_identity(number).key for number in range(1, 6)]
    found = examine(disk, judge(*range(1, 7)), lambda: [disk.delete("t", name) for name in names] and put(disk, 6))
    assert found.verdicts[Verdict.WHOLE] in (1, 2)
    assert found.amiss == ()
    gone = judge()(disk, replace(next(disk.entries()), key="f" * 64))
    assert gone is None


def test_a_scan_leaves_what_goes_first_as_it_was(tmp_path):
    data = blob(1)
    disk = DiskTier(tmp_path / "kv", int(len(data) * 2.5))
    put(disk, 1)
    put(disk, 2)
    disk.get("t", make_identity(2).key)
    for _ in range(3):
        examine(disk, judge(1, 2))
    put(disk, 3)
    assert {entry.key[-1] for entry in disk.entries()} == {"2", "3"}


def test_with_the_right_key_sealed_blobs_are_whole_and_with_another_corrupt(disk):
    put(SealedTier(disk, SEAL), 1)
    assert verdicts(SealedTier(disk, SEAL), judge(1)) == {}
    (judgement,) = examine(SealedTier(disk, OTHER_SEAL), judge(1)).amiss
    assert judgement.verdict is Verdict.CORRUPT
    assert "another encryption key" in judgement.reason
    assert verdicts(disk, judge(1)) == {"1": Verdict.CORRUPT}, "without a key"


def test_a_tier_of_which_nothing_is_whole_is_doubtful_unless_it_is_little(disk):
    sealed, other = SealedTier(disk, SEAL), SealedTier(disk, OTHER_SEAL)
    for number in range(1, 11):
        put(sealed, number)
    everything = judge(*range(1, 20))
    assert not examine(other, everything).doubtful
    put(sealed, 11)
    assert examine(other, everything).doubtful
    put(other, 12)
    assert not examine(other, everything).doubtful


def test_redis_is_scanned_like_any_tier(redis_url):
    tier = RedisTier(redis_url, ttl_seconds=60)
    redis.Redis.from_url(redis_url).flushall()
    put(tier, 1)
    put(tier, 2, b"damaged")
    put(tier, 3)
    assert verdicts(tier, judge(1, 2)) == {"2": Verdict.CORRUPT, "3": Verdict.UNKNOWN}
    assert remove(tier, judge(1, 2), examine(tier, judge(1, 2)).amiss) == 2
    assert [entry.key for entry in tier.entries()] == [make_identity(1).key]


def test_a_tier_that_is_down_is_told(tmp_path):
    tier = RedisTier(f"unix://{tmp_path}/none.sock", ttl_seconds=60)
    with pytest.raises(TierDown):
        examine(tier, judge())


def test_a_chunk_is_absent_if_no_tier_has_it_at_any_level(disk, tmp_path):
    memory = MemoryTier(LIMIT)
    put(disk, 1)
    compact = at_level(make_identity(2), Level.COMPACT)
    memory.put("t", compact.key, encode_blob(make_kv(), compact, LOSSLESS))
    keys = [make_identity(number).key for number in (1, 2, 3)]
    assert absent([disk, memory], "t", keys) == {keys[2]}
    assert absent([disk], "t", keys) == {*keys[1:]}
    with pytest.raises(TierDown):
        absent([disk, RedisTier(f"unix://{tmp_path}/none.sock", ttl_seconds=60)], "t", keys)
