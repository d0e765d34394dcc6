"""Requests for chunks by Zipf's law against the disk tier's own index: how much compute each eviction saves."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kvstore.eviction import Eviction
from kvstore.tiers.disk_index import DiskIndex, Name

_TENANT = "replay"
_TOKENS = (40, 512)
_TOKEN_BYTES = 3600  # SmolLM2-135M's KV by the preset `default`
_BLOB_BYTES = 4000  # header and tables of sections
_TOKEN_SECONDS = 2.5e-3
_PAIR_SECONDS = 2e-6  # of each pair of tokens that attend to one another


@dataclass(frozen=True)
class Traffic:
    """`requests` for single chunks out of `chunks`, the i-th most popular with probability ~ 1 / i ** exponent."""

    chunks: int
    requests: int
    exponent: float
    seed: int


@dataclass(frozen=True)
class Saved:
    """What a cache saved of `of_seconds` of compute, over all requests."""

    seconds: float
    of_seconds: float
    hits: int

    @property
    def share(self) -> float:
        return self.seconds / self.of_seconds


def replay(traffic: Traffic, cached: float, eviction: Eviction, advance: Callable[[], None]) -> Saved:
    """The traffic against an empty cache with room for the share `cached` of all chunks' bytes."""
    draw = np.random.default_rng(traffic.seed)
    tokens = draw.integers(*_TOKENS, traffic.chunks)
    nbytes = (_BLOB_BYTES + tokens * _TOKEN_BYTES).tolist()
    seconds = (tokens * _TOKEN_SECONDS + tokens**2 * _PAIR_SECONDS).tolist()
    popularity = np.arange(1, traffic.chunks + 1) ** -traffic.exponent
    asked = draw.choice(traffic.chunks, traffic.requests, p=popularity / popularity.sum()).tolist()
    stored: set[Name] = set()
    saved = hits = 0.0
    clock = itertools.count(10**18, 10**7)  # a hundred requests a second
    limit = int(sum(nbytes) * cached)
    with TemporaryDirectory() as folder:
        index = DiskIndex(Path(folder) / "index.db", limit, eviction, lambda: next(clock))
        for chunk in asked:
            name = (_TENANT, f"{chunk:064x}")
            if name in stored:
                index.used(name)
                saved, hits = saved + seconds[chunk], hits + 1
            elif nbytes[chunk] <= limit:
                index.reserve(name, nbytes[chunk], seconds[chunk], stored.remove)
                stored.add(name)
            advance()
        index.close()
    return Saved(saved, sum(seconds[chunk] for chunk in asked), int(hits))


__all__ = ["Saved", "Traffic", "replay"]
