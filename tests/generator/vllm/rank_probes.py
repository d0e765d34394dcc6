"""Functions that tests send into the engine's worker processes, one a rank (`LLM.collective_rpc`)."""

from collections.abc import Sequence
from typing import Any

import torch

from kvstore.blob import Blob
from kvstore.codecs.base import Codec, SectionJob
from kvstore.codecs.lossless import Lossless
from kvstore.decoded import DecodedChunks
from kvstore.errors import CorruptBlob

_SLOTS = "_slots_that_a_test_watches"


def watch_writes(worker: Any) -> None:
    """From now on keep the slots of every write into the first layer's pages: loads, fresh tokens, vLLM's own."""
    impl = worker._connector().worker_side.layers[0].impl
    if hasattr(impl, _SLOTS):
        getattr(impl, _SLOTS).clear()
        return
    seen: list[list[int]] = []
    write = impl.do_kv_cache_update

    def keep(attention: Any, key: torch.Tensor, value: torch.Tensor, cache: torch.Tensor, slots: torch.Tensor) -> None:
        seen.append(slots.tolist())
        write(attention, key, value, cache, slots)

    setattr(impl, _SLOTS, seen)
    impl.do_kv_cache_update = keep


def watched_writes(worker: Any) -> list[list[int]]:
    return list(getattr(worker._connector().worker_side.layers[0].impl, _SLOTS))


def spoil_next_read(worker: Any, rank: int, *, gone: bool) -> None:
    """On `rank` alone the next blob read is altered, or not there at all; and nothing is in that rank's memory."""
    if worker.rank != rank:
        return
    fetcher = worker._connector().worker_side._fetcher
    fetcher._decoded = DecodedChunks(10**8)
    tier = fetcher._store._tiers[-1]
    read = type(tier).get

    def spoiled(tenant: str, key: str) -> bytes | None:
        del tier.get
        data = bytearray(read(tier, tenant, key))
        data[len(data) // 2] ^= 1
        return None if gone else bytes(data)

    tier.get = spoiled


class _FailsAtLast(Lossless):
    """Decodes all layers but the last."""

    def decode(self, jobs: Sequence[SectionJob]) -> None:
        if any(job.layer == 3 for job in jobs):
            raise CorruptBlob("The last layer does not decode.")
        super().decode(jobs)


def spoil_decoding(worker: Any, rank: int, key: str) -> None:
    """On `rank` alone the last layer of this blob does not decode, once the first ones have been."""
    if worker.rank != rank:
        return
    fetcher = worker._connector().worker_side._fetcher
    codecs = fetcher._codecs

    class Spoilt:
        def of(self, blob: Blob) -> Codec:
            return _FailsAtLast() if blob.identity.key == key else codecs.of(blob)

    fetcher._codecs = Spoilt()


def held_heads(worker: Any) -> set[int]:
    """KV heads of everything in this rank's memory."""
    entries = worker._connector().worker_side._fetcher._decoded._entries.values()
    return {keys.shape[1] for _, kv in entries for keys in kv.keys}


def refuse_to_fuse(worker: Any, rank: int) -> str | None:
    """What the ranks agree on when the self-test fails on `rank` alone."""
    from generator.vllm.ranks import Ranks

    return Ranks.of_engine().any_reason("layer 3 is off" if worker.rank == rank else None)
