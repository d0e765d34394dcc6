"""At which levels chunk KV is fetched, told from a deadline, what lies where, and how fast it came lately."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from math import inf

from generator.adaptation import Choice, ChunkOffers, Costs, Offer, choose
from generator.arriving import Wanted
from generator.throughput import Throughput
from kvstore.decoded import DecodedChunks
from kvstore.levels import Level, at_level
from kvstore.store import ChunkStore, Stored

BEST_FIRST = tuple(Level)


class Chooser:
    """Learns from all requests. Thread-safe.

    Args:
        deadline_s: from when a request's KV is asked for until it should be there; 0: there is none.
        recompute_token_s: seconds to compute a token of a chunk; None while that is not known.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        store: ChunkStore,
        decoded: DecodedChunks,
        deadline_s: float = 0.0,
        recompute_token_s: Callable[[], float | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.decoded = decoded
        self.deadline_s = deadline_s
        self.clock = clock
        self._recompute_token_s = recompute_token_s
        self._fetched: dict[str, Throughput] = defaultdict(lambda: Throughput(clock))
        self._decoded = Throughput(clock)

    def begin(self, tenant: str, wanted: Sequence[Wanted]) -> "RequestLevels":
        """A request's KV is asked for now."""
        return RequestLevels(self, tenant, wanted)

    def saw_fetched(self, tier: str, nbytes: int, seconds: float) -> None:
        """A blob came out of a tier."""
        self._fetched[tier].observe(nbytes, seconds)

    def saw_decoded(self, nbytes: int, seconds: float) -> None:
        """A blob was decoded, on all threads together."""
        self._decoded.observe(nbytes, seconds)

    def bytes_per_second(self, tier: str) -> float | None:
        return self._fetched[tier].bytes_per_second

    @property
    def costs(self) -> Costs:
        decoding = self._decoded.bytes_per_second
        token_s = self._recompute_token_s()
        return Costs(1 / decoding if decoding else 0.0, inf if token_s is None else token_s)


class RequestLevels:
    """What to fetch the chunks of one request at. They are asked about in their order, from one thread."""

    def __init__(self, chooser: Chooser, tenant: str, wanted: Sequence[Wanted]) -> None:
        self._chooser = chooser
        self._tenant = tenant
        self._wanted = wanted
        self._began = chooser.clock()

    def of(self, number: int) -> tuple[Level, ...]:
        """The levels to look for the chunk at, one after the other; none: it is sooner computed."""
        if not self._chooser.deadline_s or not self._offers(number):
            return BEST_FIRST
        coming = [
            ChunkOffers(each.n_tokens, offers)
            for later, each in enumerate(self._wanted[number:], start=number)
            if (offers := self._offers(later))
        ]
        left = self._chooser.deadline_s - (self._chooser.clock() - self._began)
        choice = choose(coming, self._chooser.costs, left)[0]
        return () if choice is Choice.RECOMPUTE else BEST_FIRST[BEST_FIRST.index(Level(choice)) :]

    def _offers(self, number: int) -> tuple[Offer, ...]:
        """The levels of the first of its identities that there is at any."""
        for identity in self._wanted[number].identities:
            offers = []
            for level in Level:
                wanted = at_level(identity, level)
                if self._chooser.decoded.get(self._tenant, wanted) is not None:
                    offers.append(Offer(level, 0, None))
                elif stored := self._stored.get(wanted.key):
                    offers.append(Offer(level, stored.nbytes, self._chooser.bytes_per_second(stored.tier)))
            if offers:
                return tuple(offers)
        return ()

    @cached_property
    def _stored(self) -> dict[str, Stored]:
        keys = [
            at_level(identity, level).key for each in self._wanted for identity in each.identities for level in Level
        ]
        return self._chooser.store.sizes(self._tenant, keys)


__all__ = ["Chooser", "RequestLevels"]
