"""Prefetch: chunk KV of requests that still wait is fetched in the background, while the model runs for others."""

from collections.abc import Iterable, Sequence

from generator.arriving import Arriving, Fetched, Wanted
from generator.fetching import Fetcher

_NOTHING = Arriving.at_once(Fetched(None))


class Prefetcher:
    """Holds what is being fetched until the request is taken up or ends. Called by the thread that runs the model."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._held: dict[str, list[Arriving] | None] = {}
        self._announced: set[str] = set()

    @property
    def held(self) -> int:
        """Requests that something is held for, or being fetched."""
        return len(self._held)

    def start(self, request_id: str, tenant: str, wanted: Sequence[Wanted]) -> None:
        """Begin to fetch what the segments of a request want."""
        if request_id not in self._held:
            self._held[request_id] = self._fetcher.fetch(tenant, wanted)

    def newly_ready(self) -> list[str]:
        """Requests whose KV has all been fetched since this was last asked; fetches that failed or were given up count.
        """
        done = [name for name, held in self._held.items() if held is None or all(each.done for each in held)]
        ready = [name for name in done if name not in self._announced]
        self._announced.update(ready)
        return ready

    def take(self, request_id: str, tenant: str, wanted: Sequence[Wanted]) -> list[Arriving]:
        """What was or is being fetched for a request, once; begun now where nothing was. Nothing wanted, nothing."""
        held = self._held.pop(request_id, None)
        self._announced.discard(request_id)
        if held is None:
            return self._fetcher.fetch(tenant, wanted)
        return [arriving if each.identities else _NOTHING for arriving, each in zip(held, wanted, strict=True)]

    def forget(self, request_ids: Iterable[str]) -> None:
        """These requests ended, perhaps before they were taken up."""
        for request_id in request_ids:
            _give_up(self._held.pop(request_id, None))
            self._announced.discard(request_id)

    def forget_all(self) -> None:
        """What is held may have been deleted meanwhile; whoever is taken up next fetches again, and waits no longer."""
        for held in self._held.values():
            _give_up(held)
        self._held = dict.fromkeys(self._held)


def _give_up(held: Sequence[Arriving] | None) -> None:
    for arriving in held or ():
        arriving.give_up()
