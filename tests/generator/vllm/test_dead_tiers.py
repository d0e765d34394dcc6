"""Questions are answered while every tier of chunk KV is dead, and chunk KV is used again when they are back."""

from collections.abc import Iterator

import pytest
from fusion_rig import TENANT, Rig, distance, random_ids, request_for, segments_of
from mortal_redis import MortalRedis
from object_server import BUCKET, ObjectServer
from tiny_models import save_tiny_model
from waiting import wait_until

from benchmarks.store.samples import sample_identity, sample_kv
from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import TierDown

CHUNKS = [random_ids(seed, 90) for seed in (70, 71)]
QUESTION = random_ids(72, 12)
TOKENS = 6
BLOB = encode_blob(sample_kv(8, 1, 1, 16, 0), sample_identity(0), LOSSLESS)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MortalRedis]:
    redis = MortalRedis(tmp_path_factory.mktemp("redis"))
    yield redis
    redis.kill()


@pytest.fixture(scope="module")
def objects() -> Iterator[ObjectServer]:
    server = ObjectServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def rig(redis: MortalRedis, objects: ObjectServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """An engine that keeps nothing in its own memory and starts while nothing of its tiers works."""
    state = tmp_path_factory.mktemp("llama")
    tiers = {"redis_url": redis.url, "object_url": f"s3://{BUCKET}/kv", "object_timeout_seconds": 1.0}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in objects.options.items():
            patch.setenv(name.upper(), value)
        redis.kill()
        objects.stop()
        (state / "kv").touch()
        engine = Rig.start(
            save_tiny_model("llama", state / "model"), state, kv_memory_bytes=0, other_tiers=tiers, block_size=32
        )
        redis.start()
        objects.start_again()
        (state / "kv").unlink()
        yield engine
        engine.close()


def test_a_question_is_answered_exactly_while_all_tiers_are_dead_and_from_them_when_they_are_back(
    rig: Rig, redis: MortalRedis, objects: ObjectServer, preamble: list[int]
) -> None:
    ids = [*preamble, *(token for chunk in CHUNKS for token in chunk), *QUESTION]
    exact = rig.exact(ids, TOKENS)

    def found() -> set[str | None]:
        """The tiers that its chunks come from, None for a miss."""
        report = rig.fused(ids, request_for("none", segments_of(preamble, *CHUNKS)), TOKENS).report
        assert report is not None
        return {chunk.tier for chunk in report.chunks}

    assert found() == {None}
    wait_until(lambda: takes(rig), "Redis and the disk store again after the start")
    rig.preread(preamble, *CHUNKS)
    rig.store.settle()
    wait_until(lambda: found() == {"redis"}, "chunk KV comes from Redis")

    kv = rig.kv_files()[0].parents[2]
    redis.kill()
    objects.stop()
    kv.rename(kv.with_name("away"))
    kv.touch()
    for policy in ("none", "head@8", "impact@.15"):
        answer = rig.fused(ids, request_for(policy, segments_of(preamble, *CHUNKS)), TOKENS)
        assert answer.token_ids == exact.token_ids
        assert distance(answer, exact) < 1e-4
        assert answer.report is not None
        assert {(chunk.tier, chunk.reason) for chunk in answer.report.chunks} == {(None, "tier_down")}

    kv.unlink()
    kv.with_name("away").rename(kv)
    assert found() == {"disk"}
    objects.start_again()
    redis.start()
    wait_until(lambda: found() == {"redis"}, "Redis has been filled again")


def takes(rig: Rig) -> bool:
    try:
        return rig.store.put(TENANT, BLOB) == ("redis", "disk")
    except TierDown:
        return False
