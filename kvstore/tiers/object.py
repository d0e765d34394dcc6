"""The tier for a fleet: one object a blob in a bucket of S3, Google Cloud Storage or Azure.

`<prefix>/<tenant>/<first two characters of the key>/<key>.kv`, whole or not there at all.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import obstore

from kvstore.breaker import Breaker
from kvstore.errors import TooLarge
from kvstore.names import checked_key, checked_tenant
from kvstore.tiers.base import Entry, TierStats
from kvstore.tiers.object_client import object_client
from kvstore.tiers.object_errors import OBJECT_ERRORS, is_silence, tier_down

if TYPE_CHECKING:
    from obstore import ObjectMeta

T = TypeVar("T")

_BLOB = re.compile(r"([a-z0-9][a-z0-9_-]{0,62})/([0-9a-f]{2})/(\2[0-9a-f]{62})\.kv")
_LARGEST_OBJECT = 5000 * 2**20  # Azure's limit of one request; S3's and Google's is a little more
_AT_ONCE = 32
_PAGE = 1000
_EVICT_TO = 0.9
_RECOUNT_AFTER = 1 / 32


class ObjectTier:
    """Blobs of all tenants; those put longest ago go first.

    As with several writers of one folder, each process counts the bucket anew whenever it has itself written a 32nd of
    the limit, so the limit may be exceeded by that much for every writing process. Only a recount, and whoever asks for
    it, removes what has expired; without a limit, let the bucket's own rule expire the rest.

    A store that did not answer is left alone for a while, see `kvstore.breaker`. Not to be used in a process forked
    from one that has already asked: the library's threads do not survive it.

    Args:
        url: s3://bucket/prefix, gs://bucket/prefix or az://container/prefix. Credentials, region and endpoint come from
            the environment (AWS_…, GOOGLE_…, AZURE_…) or the machine's role.
        limit_bytes: of all blobs together; None or 0: none.
        ttl_seconds: how long after it was put an object is found; 0: always.
        timeout_seconds: for one request, its retry included.
        pause_seconds: how long a store that did not answer is left alone at first.
        read_only: whether what has expired is left where it is, for `ReadOnlyTier`.
        options: in place of environment variables, spelled like them in lower case.
        clock: seconds since 1970, to compare with the store's.
        monotonic: seconds.
    Raises: TierDown when the URL or the options cannot be used.
    """

    name = "object"
    shared = True
    writable = True
    slow = True

    def __init__(
        self,
        url: str,
        *,
        limit_bytes: int | None = None,
        ttl_seconds: float = 0,
        timeout_seconds: float = 5.0,
        pause_seconds: float = 5.0,
        read_only: bool = False,
        options: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._objects = object_client(url, timeout_seconds, options or {})
        self._limit_bytes = limit_bytes or None
        self._ttl_seconds = ttl_seconds
        self._read_only = read_only
        self._clock = clock
        self._monotonic = monotonic
        self._breaker = Breaker(
            "The object store",
            "Check PREREAD_KV_OBJECT_URL and that the store can be reached.",
            is_silence,
            pause_seconds=pause_seconds,
            clock=monotonic,
        )
        self._bucket_seen = False
        self._lock = Lock()
        self._bytes_until_recount = 0
        self._leases: dict[tuple[str, str], float] = {}  # (path, reader) → monotonic seconds

    def get(self, tenant: str, key: str) -> bytes | None:
        path = _path(tenant, key)
        with self._answering():
            try:
                found = obstore.get(self._objects, path)
                if not self._expired(found.meta):
                    return found.bytes().to_bytes()
                self._remove_expired(path)
            except FileNotFoundError:
                self._need_bucket()
        return None

    def peek(self, tenant: str, key: str) -> bytes | None:
        return self.get(tenant, key)

    def put(self, tenant: str, key: str, data: bytes | memoryview, worth: float | None = None) -> None:  # noqa: ARG002
        path = _path(tenant, key)
        largest = min(self._limit_bytes or _LARGEST_OBJECT, _LARGEST_OBJECT)
        if len(data) > largest:
            raise TooLarge(f"{len(data)} bytes do not fit into the object tier's {largest}.")
        with self._answering():
            obstore.put(self._objects, path, data, use_multipart=False)
            if self._limit_bytes is not None:
                self._make_room(path, len(data), self._limit_bytes)

    def delete(self, tenant: str, key: str) -> bool:
        path = _path(tenant, key)
        with self._answering():
            return self._live_size(path) is not None and self._remove(path)

    def contains(self, tenant: str, keys: Iterable[str]) -> set[str]:
        return set(self.sizes(tenant, keys))

    def sizes(self, tenant: str, keys: Iterable[str]) -> dict[str, int]:
        paths = {key: _path(tenant, key) for key in keys}
        with self._answering():
            found = _at_once(self._live_size, list(paths.values()))
        return {key: size for key, path in paths.items() if (size := found[path]) is not None}

    def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
        """Holds for what this process evicts; others do not know of it."""
        paths = [_path(tenant, key) for key in keys]
        now = self._monotonic()
        with self._lock:
            self._leases = {lease: end for lease, end in self._leases.items() if end > now}
            self._leases |= {(path, reader): now + seconds for path in paths}

    def release(self, reader: str) -> None:
        with self._lock:
            self._leases = {lease: end for lease, end in self._leases.items() if lease[1] != reader}

    def entries(self) -> Iterator[Entry]:
        pages = iter(obstore.list(self._objects, chunk_size=_PAGE))
        while True:
            with self._answering():
                page = next(pages, None)
            if page is None:
                return
            for blob in page:
                name = _BLOB.fullmatch(blob["path"])
                if name and not self._expired(blob):
                    yield Entry(name[1], name[3], blob["size"], blob["last_modified"].timestamp())

    def stats(self) -> TierStats:
        with self._answering():
            sizes = [blob["size"] for blob in self._blobs() if not self._expired(blob)]
        return TierStats(self.name, len(sizes), sum(sizes), self._limit_bytes)

    def _live_size(self, path: str) -> int | None:
        try:
            meta = obstore.head(self._objects, path)
        except FileNotFoundError:
            self._need_bucket()
            return None
        if self._expired(meta):
            self._remove_expired(path)
            return None
        return meta["size"]

    def _need_bucket(self) -> None:
        """An object is as absent from a bucket that does not exist; only listing tells the two apart."""
        if not self._bucket_seen:
            next(iter(obstore.list(self._objects)), None)
            self._bucket_seen = True

    def _expired(self, meta: "ObjectMeta") -> bool:
        return bool(self._ttl_seconds) and meta["last_modified"].timestamp() < self._clock() - self._ttl_seconds

    def _remove_expired(self, path: str) -> None:
        if not self._read_only:
            self._remove(path)

    def _remove(self, path: str) -> bool:
        try:
            obstore.delete(self._objects, path)
        except FileNotFoundError:  # Google says so, S3 does not
            return False
        return True

    def _make_room(self, just_put: str, written: int, limit: int) -> None:
        share = int(limit * _RECOUNT_AFTER)
        with self._lock:
            self._bytes_until_recount -= written
            if self._bytes_until_recount > 0:
                return
            self._bytes_until_recount = share  # so that others do not wait for this count
            now = self._monotonic()
            kept = {path for (path, _), end in self._leases.items() if end > now} | {just_put}
        blobs = sorted(self._blobs(), key=lambda blob: blob["last_modified"])
        total = sum(blob["size"] for blob in blobs)
        goal = total if total <= limit else limit * _EVICT_TO
        surplus = []
        for blob in blobs:
            if blob["path"] not in kept and (total > goal or self._expired(blob)):
                surplus.append(blob["path"])
                total -= blob["size"]
        _at_once(self._remove, surplus)
        with self._lock:
            self._bytes_until_recount -= max(0, share - (limit - total))

    def _blobs(self) -> Iterator["ObjectMeta"]:
        """Those under the prefix that are spelled like ours."""
        pages = obstore.list(self._objects, chunk_size=_PAGE)
        return (blob for page in pages for blob in page if _BLOB.fullmatch(blob["path"]))

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            with self._breaker.asking():
                yield
        except OBJECT_ERRORS as error:
            raise tier_down(error) from error


def _at_once(ask: Callable[[str], T], paths: Sequence[str]) -> dict[str, T]:
    """What `ask` says of each path. A thread ends at its first error: a dead store costs one time-out."""
    if not paths:
        return {}
    lanes = [paths[start::_AT_ONCE] for start in range(min(_AT_ONCE, len(paths)))]
    with ThreadPoolExecutor(len(lanes)) as threads:
        answers = threads.map(lambda lane: [(path, ask(path)) for path in lane], lanes)
        return dict(chain.from_iterable(answers))


def _path(tenant: str, key: str) -> str:
    return f"{checked_tenant(tenant)}/{checked_key(key)[:2]}/{key}.kv"


__all__ = ["ObjectTier"]
