import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from compose_rules import interpolate, load
from redis import Redis
from waiting import redis_answers, wait_until

from app.cli.redis_server import redis_binary


@contextmanager
def started(service: str, folder: Path) -> Iterator[Redis]:
    """A Redis with the service's own command line, on a socket in `folder`."""
    _, *options = [interpolate(word, {}) for word in load()["services"][service]["command"]]
    socket = folder / "redis.sock"
    command = [redis_binary(), *options, "--port", "0", "--unixsocket", str(socket), "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        client = Redis(unix_socket_path=str(socket))
        try:
            wait_until(lambda: redis_answers(client), "Redis answers", 10)
            yield client
        finally:
            client.close()
            process.terminate()


def configured(client: Redis, *options: str) -> list[str]:
    return [client.config_get(option)[option] for option in options]


def test_the_queue_never_loses_a_wake_up_to_make_room(tmp_path) -> None:
    with started("redis-queue", tmp_path) as client:
        assert configured(client, "maxmemory-policy", "appendonly") == ["noeviction", "yes"]
        client.lpush("preread", "wake")
    with started("redis-queue", tmp_path) as client:
        assert client.llen("preread") == 1


def test_the_kv_redis_drops_the_least_recently_used_and_keeps_nothing_on_disk(tmp_path) -> None:
    with started("redis-kv", tmp_path) as client:
        assert configured(client, "maxmemory-policy", "maxmemory") == ["volatile-lru", str(2**30)]
        assert configured(client, "appendonly", "save") == ["no", ""]
        client.set("key", "value", ex=60)
    with started("redis-kv", tmp_path) as client:
        assert client.get("key") is None


@pytest.mark.parametrize(("variables", "memory"), [({}, "1gb"), ({"REDIS_KV_MEMORY": "512mb"}, "512mb")])
def test_the_memory_of_the_kv_redis_can_be_set(variables, memory) -> None:
    words = [interpolate(word, variables) for word in load()["services"]["redis-kv"]["command"]]
    assert words[words.index("--maxmemory") + 1] == memory
