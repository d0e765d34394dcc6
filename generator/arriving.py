"""Chunk KV on its way: wanted, then found or not, then decoded layer by layer, the first ones first."""

from concurrent.futures import Future
from dataclasses import dataclass

from kvstore.chunk_kv import ChunkKV
from kvstore.identity import BlobIdentity
from kvstore.key import Reading


@dataclass(frozen=True)
class Wanted:
    """One segment of a prompt: what may serve it, what is preferred first; nothing: it is not to be fetched."""

    identities: tuple[BlobIdentity, ...]
    n_tokens: int


@dataclass(frozen=True)
class Fetched:
    """What was found for one segment: `kv` with its reading and tier, or the reason why there is none."""

    kv: ChunkKV | None
    reading: Reading | None = None
    tier: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Begun:
    """What is known once the store has answered.

    layers: for each layer what ends when it is decoded, with the seconds that took, or fails; empty: nothing is left to
        decode.
    whole: ends after all of them, with a reason in place of KV where one failed.
    """

    fetched: Fetched
    layers: tuple[Future[float], ...] = ()
    whole: Future[Fetched] | None = None


class Arriving:
    """One segment's chunk KV. Whoever asks for something waits for it."""

    def __init__(self, begun: Future[Begun]) -> None:
        self._begun = begun

    @classmethod
    def at_once(cls, fetched: Fetched) -> "Arriving":
        """Nothing is left to wait for."""
        begun: Future[Begun] = Future()
        begun.set_result(Begun(fetched))
        return cls(begun)

    @property
    def done(self) -> bool:
        """Whether nobody would wait any more."""
        if not self._begun.done():
            return False
        whole = self._begun.result().whole
        return whole is None or whole.done()

    def found(self) -> Fetched:
        """What the store said; the KV, checked by its checksums, may still be being decoded."""
        return self._begun.result().fetched

    def has(self, layer: int) -> bool:
        """Whether a layer of what was found is decoded now; False: it cannot be."""
        layers = self._begun.result().layers
        return not layers or layers[layer].exception() is None

    def whole(self) -> Fetched:
        """What was found, with every layer decoded; a reason in its place where that failed."""
        begun = self._begun.result()
        return begun.fetched if begun.whole is None else begun.whole.result()

    def give_up(self) -> None:
        """Nobody will ask for it: it is not fetched where that has not begun."""
        self._begun.cancel()


__all__ = ["Arriving", "Begun", "Fetched", "Wanted"]
