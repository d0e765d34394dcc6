"""Where chunk KV is stored, and whether it is sealed there."""

import shutil
from pathlib import Path
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import RedisError

from app.cli.checks.finding import Finding, fail, failed_by, ok, warn
from app.cli.checks.redis_url import without_password
from app.cli.memory import gib
from app.core.errors import PrereadError
from app.core.settings import Settings
from kvstore.sealing import Seal
from kvstore.tiers.configured import TierOptions, object_tier
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.probes import PART_NAMES, probe_disk

_TENANT, _KEY = "doctor", "0" * 63 + "1"
_TIMEOUT_SECONDS = 2


def check_kv_redis(settings: Settings) -> Finding:
    """It must be able to forget, which the queue's Redis must not."""
    name, url = PART_NAMES["redis"], settings.kv_redis_url
    if not url:
        return ok(name, "off")
    if _server(url) == _server(settings.effective_redis_url):
        return fail(
            name,
            f"{without_password(url)} is the queue's Redis, which must not forget.",
            "Set PREREAD_KV_REDIS_URL to another Redis server; another database of the same one is not enough.",
        )
    try:
        client = Redis.from_url(url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS)
    except ValueError as error:
        return fail(name, f"It cannot be used: {error}", "Set PREREAD_KV_REDIS_URL to redis://, rediss:// or unix://…")
    with client:
        try:
            memory = client.info("memory")
        except RedisError as error:
            return fail(
                name,
                f"{without_password(url)} does not answer: {error}",
                "Is Redis running there? Questions are answered without it.",
            )
    return _judge_memory(name, without_password(url), int(memory["maxmemory"]), memory["maxmemory_policy"])


def check_kv_disk(settings: Settings) -> Finding:
    name, options = PART_NAMES["disk"], TierOptions.from_settings(settings)
    folder, limit = Path(options.dir), options.disk_bytes
    if not limit:
        return ok(name, "off")
    try:
        probe_disk(options)
        kept = DiskTier(folder, limit, read_only=True).stats().bytes
    except PrereadError as error:
        return failed_by(name, error)
    if options.read_only:
        return ok(name, f"{folder} is only read here, {gib(kept)} kept")
    free = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free
    if free < limit - kept:
        return warn(
            name,
            f"{folder} has {gib(free)} left and keeps {gib(kept)}, but chunk KV may take {gib(limit)}.",
            "Lower PREREAD_KV_DISK_BYTES, or free some space.",
        )
    return ok(name, f"{folder}, {gib(kept)} of {gib(limit)} kept, {gib(free)} free")


def check_kv_object(settings: Settings) -> Finding:
    """Writes and deletes a few bytes: credentials that may only read would show in nothing else."""
    name = PART_NAMES["object"]
    if not settings.kv_object_url:
        return ok(name, "off")
    try:
        tier = object_tier(TierOptions.from_settings(settings))
        if settings.kv_read_only:
            tier.contains(_TENANT, [_KEY])
            return ok(name, f"{settings.kv_object_url} can be read")
        tier.put(_TENANT, _KEY, b"written by preread doctor")
        tier.delete(_TENANT, _KEY)
    except PrereadError as error:
        return failed_by(name, error)
    return ok(name, f"{settings.kv_object_url} can be written to")


def check_encryption(settings: Settings) -> Finding:
    name = "encryption of chunk KV"
    key = settings.kv_encryption_key.get_secret_value()
    if not key:
        return ok(name, "off")
    try:
        Seal.from_text(key)
    except PrereadError as error:
        return failed_by(name, error)
    return ok(name, "on")


def _judge_memory(name: str, url: str, limit: int, policy: str) -> Finding:
    mend = "Start it with --maxmemory SIZE --maxmemory-policy volatile-lru."
    if policy == "noeviction":
        return warn(name, f"{url} forgets nothing (maxmemory-policy noeviction): once full, it stores nothing.", mend)
    if not limit:
        return warn(name, f"{url} has no memory limit: it takes what the machine has.", mend)
    return ok(name, f"{url} answers, {gib(limit)} with {policy}")


def _server(url: str) -> tuple[str, int] | str:
    """Which one it is, whatever the database and the credentials."""
    parts = urlsplit(url)
    if parts.scheme in ("unix", "redis+socket"):
        return parts.path
    return parts.hostname or "localhost", parts.port or 6379


__all__ = ["check_encryption", "check_kv_disk", "check_kv_object", "check_kv_redis"]
