"""Processes that share tiers agree about what is there, while both write and when both have ended."""

import multiprocessing
import random
import tempfile
from collections.abc import Iterator
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import pytest

from benchmarks.store.kv_redis import KVRedis
from benchmarks.store.samples import sample_identity, sample_kv
from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.store import ChunkStore, Hit
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.redis import RedisTier

TENANT = "shared"
CHUNKS = 12
ROUNDS = 150
LIMIT = 10**7


def blob(number: int, writer: int) -> bytes:
    """What a writer puts for a chunk: every writer's is of its own length."""
    return encode_blob(sample_kv(8 + writer, 1, 1, 16, number), sample_identity(number), LOSSLESS)


def open_store(folder: Path, redis_url: str) -> ChunkStore:
    return ChunkStore([RedisTier(redis_url, 600), DiskTier(folder / "kv", LIMIT)])


def work(folder: Path, redis_url: str, writer: int, problems: "Queue[str]") -> None:
    """Put, get and delete at random; whatever is got must be whole and one of the writers'."""
    store, draw = open_store(folder, redis_url), random.Random(writer)
    known = {number: {blob(number, each) for each in (0, 1)} for number in range(CHUNKS)}
    for _ in range(ROUNDS):
        number = draw.randrange(CHUNKS)
        what = draw.random()
        if what < 0.4:
            store.put(TENANT, blob(number, writer))
        elif what < 0.5:
            store.delete(TENANT, [sample_identity(number).key])
        else:
            found = store.get(TENANT, sample_identity(number))
            if isinstance(found, Hit) and bytes(found.blob.data) not in known[number]:
                problems.put(f"{number} is nobody's")
    store.settle()


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:  # short enough for a socket's path
        yield Path(name)


@pytest.fixture
def redis(folder: Path) -> Iterator[KVRedis]:
    server = KVRedis(folder, "20mb")
    yield server
    server.close()


def seen(store: ChunkStore) -> dict[str, Any]:
    keys = [sample_identity(number).key for number in range(CHUNKS)]
    got = [store.get(TENANT, sample_identity(number)) for number in range(CHUNKS)]
    return {
        "contains": store.contains(TENANT, keys),
        "blobs": [bytes(found.blob.data) if isinstance(found, Hit) else None for found in got],
        "sizes": {key: stored.nbytes for key, stored in store.sizes(TENANT, keys).items()},
    }


def test_two_writers_and_readers_of_the_same_tiers_agree(folder: Path, redis: KVRedis) -> None:
    context = multiprocessing.get_context("spawn")
    problems: Queue[str] = context.Queue()
    writers = [context.Process(target=work, args=(folder, redis.url, number, problems)) for number in (0, 1)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert problems.empty()

    one, other = open_store(folder, redis.url), open_store(folder, redis.url)
    first = seen(one)
    one.settle()
    assert seen(other) == first == seen(one)
    disk = one.stats()[-1]
    files = list((folder / "kv").glob("*/??/*.kv"))
    assert (disk.entries, disk.bytes) == (len(files), sum(file.stat().st_size for file in files))


def test_what_one_process_puts_or_deletes_the_other_sees_at_once(folder: Path, redis: KVRedis) -> None:
    one, other = open_store(folder, redis.url), open_store(folder, redis.url)
    identity = sample_identity(1)
    one.put(TENANT, blob(1, 0))
    assert isinstance(other.get(TENANT, identity), Hit)
    other.put(TENANT, blob(1, 1))
    found = one.get(TENANT, identity)
    assert isinstance(found, Hit)
    assert bytes(found.blob.data) == blob(1, 1)
    assert one.delete(TENANT, [identity.key]) == 1
    assert not isinstance(other.get(TENANT, identity), Hit)
    assert not other.contains(TENANT, [identity.key])
