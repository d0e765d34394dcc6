"""Prefetch: chunk KV of requests that still wait is fetched in the background, while the model runs for others."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from generator.vllm.fetching import Fetched, Fetcher
from kvstore.identity import BlobIdentity

_NOTHING = Fetched(None)


class Prefetcher:
    """Holds what was fetched until the request is taken up or ends. Called by the thread that runs the model."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._pool = ThreadPoolExecutor(1, "preread-prefetch")
        self._held: dict[str, Future[list[Fetched]] | None] = {}
        self._announced: set[str] = set()

    @property
    def held(self) -> int:
        """Requests that something is held for, or being fetched."""
        return len(self._held)

    def start(self, request_id: str, tenant: str, wanted: Sequence[Sequence[BlobIdentity]]) -> None:
        """Fetch for each segment of a request the first of its identities that there is."""
        if request_id not in self._held:
            self._held[request_id] = self._pool.submit(self._fetcher.fetch, tenant, wanted)

    def newly_ready(self) -> list[str]:
        """Requests whose KV has all been fetched since this was last asked; fetches that failed or were given up count.
        """
        done = [name for name, held in self._held.items() if held is None or held.done()]
        ready = [name for name in done if name not in self._announced]
        self._announced.update(ready)
        return ready

    def take(self, request_id: str, tenant: str, wanted: Sequence[Sequence[BlobIdentity]]) -> list[Fetched]:
        """What was fetched for a request, once; fetched now where nothing was. No identities, nothing."""
        held = self._held.pop(request_id, None)
        self._announced.discard(request_id)
        if held is None:
            return self._fetcher.fetch(tenant, wanted)
        return [found if names else _NOTHING for found, names in zip(held.result(), wanted, strict=True)]

    def forget(self, request_ids: Iterable[str]) -> None:
        """These requests ended, perhaps before they were taken up."""
        for request_id in request_ids:
            self._held.pop(request_id, None)
            self._announced.discard(request_id)

    def forget_all(self) -> None:
        """What is held may have been deleted meanwhile; whoever is taken up next fetches again, and waits no longer."""
        self._held = dict.fromkeys(self._held)

    def close(self) -> None:
        self._pool.shutdown()
