"""Blobs that are not what was stored, put where the store looks: none may come out, crash it, or take long."""

import random
import struct
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import torch
import xxhash

from app.core.errors import PrereadError
from benchmarks.store.samples import same_kv, sample_identity, sample_kv
from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import Codec
from kvstore.codecs.codecs import Codecs
from kvstore.header import FIXED_BYTES, LAYER_BYTES
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.sections import ENTRY_BYTES
from kvstore.store import ChunkStore, Hit
from kvstore.tiers.base import Tier

_TENANT = "examined"
_VERSION_AT = 8
_OTHER = "e" * 64


@dataclass
class Findings:
    """tried, refused, harmless: by kind of mutation; harmless are those that came out with the very KV that was stored,
    as where a resealed header names a profile that nothing asks for. wrong: that came out with other KV. kept: refused,
    and left in their tier. crashed: errors other than a miss. slowest_s: of all look-ups."""

    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    harmless: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    slowest_s: float = 0.0


@dataclass(frozen=True)
class Original:
    """A blob, what it is of, its KV as it decodes, and blobs of other chunk KV under the same key."""

    data: bytes
    identity: BlobIdentity
    kv: ChunkKV
    foreign: Mapping[str, bytes]


def examine(tier: Tier, codecs: Codecs, codec: Codec, shape: tuple[int, int, int], count: int, seed: int) -> Findings:
    """Mutate a blob of made-up KV `count` times and ask a store on `tier` for it each time.

    shape: layers, kv_heads, head_dim.
    """
    draw = random.Random(seed)  # noqa: S311
    store = ChunkStore([tier])
    originals = [_original(codec, shape, draw) for _ in range(4)]
    kinds = list(_MUTATIONS)
    findings = Findings()
    for number in range(count):
        original = draw.choice(originals)
        kind = kinds[number % len(kinds)]
        mutated = _MUTATIONS[kind](original, draw)
        if mutated == original.data:
            continue
        findings.tried[kind] += 1
        tier.put(_TENANT, original.identity.key, mutated)
        began = time.perf_counter()
        try:
            _look(store, tier, codecs, original, kind, findings)
        except Exception as error:  # noqa: BLE001 - that there is none is what is examined
            findings.crashed.append(f"{kind}: {error!r}")
        findings.slowest_s = max(findings.slowest_s, time.perf_counter() - began)
    return findings


def _look(store: ChunkStore, tier: Tier, codecs: Codecs, original: Original, kind: str, findings: Findings) -> None:
    found = store.get(_TENANT, original.identity)
    if not isinstance(found, Hit):
        findings.refused[kind] += 1
        if tier.contains(_TENANT, [original.identity.key]):
            findings.kept.append(kind)
        return
    if not found.blob.dtypes <= {torch.bfloat16, torch.float32}:  # as the engine refuses it
        findings.refused[kind] += 1
        return
    try:
        kv = found.blob.decode(codecs.of(found.blob))
    except PrereadError:
        findings.refused[kind] += 1
        return
    if same_kv(kv, original.kv):
        findings.harmless[kind] += 1
    else:
        findings.wrong.append(kind)


def _original(codec: Codec, shape: tuple[int, int, int], draw: random.Random) -> Original:
    identity = replace(sample_identity(draw.getrandbits(32)), profile_id=codec.profile_id)
    tokens = draw.randrange(1, 600)
    data = encode_blob(sample_kv(tokens, *shape, draw.getrandbits(32)), identity, codec)
    others = {
        "of another chunk": replace(identity, key=_OTHER, ids_hash=_OTHER),
        "of other tokens": replace(identity, ids_hash=_OTHER),
        "by another model": replace(identity, model_fingerprint=_OTHER),
        "behind another preamble": replace(identity, preamble_hash=_OTHER),
        "of another reading": replace(identity, reading=Reading.CONDITIONED, conditioning_hash=_OTHER),
    }
    foreign = {
        kind: encode_blob(sample_kv(tokens, *shape, draw.getrandbits(32)), other, codec)
        for kind, other in others.items()
    }
    return Original(data, identity, Blob.parse(data).decode(codec), foreign)


def _flipped(original: Original, draw: random.Random) -> bytes:
    mutated = bytearray(original.data)
    for _ in range(draw.choice((1, 1, 2, 16))):
        mutated[draw.randrange(len(mutated))] ^= 1 << draw.randrange(8)
    return bytes(mutated)


def _flipped_header(original: Original, draw: random.Random) -> bytes:
    """With its checksum made right again, except where the tables say what the sections' own checksums are."""
    mutated = bytearray(original.data)
    mutated[draw.randrange(FIXED_BYTES + 2 * LAYER_BYTES)] ^= 1 << draw.randrange(8)
    return _resealed(mutated, original)


def _overwritten(original: Original, draw: random.Random) -> bytes:
    mutated = bytearray(original.data)
    first = draw.randrange(len(mutated))
    run = min(draw.randrange(1, 5000), len(mutated) - first)
    mutated[first : first + run] = draw.choice((bytes(run), draw.randbytes(run)))
    return bytes(mutated)


def _truncated(original: Original, draw: random.Random) -> bytes:
    return original.data[: draw.randrange(len(original.data))]


def _extended(original: Original, draw: random.Random) -> bytes:
    return original.data + draw.randbytes(draw.randrange(1, 5000))


def _spliced(original: Original, draw: random.Random) -> bytes:
    other = draw.choice(list(original.foreign.values()))
    at = draw.randrange(min(len(original.data), len(other)))
    return original.data[:at] + other[at:]


def _noise(original: Original, draw: random.Random) -> bytes:
    return draw.randbytes(draw.randrange(2 * len(original.data)))


def _foreign(original: Original, draw: random.Random) -> bytes:
    return draw.choice(list(original.foreign.values()))


def _of_another_version(original: Original, draw: random.Random) -> bytes:
    mutated = bytearray(original.data)
    struct.pack_into("<H", mutated, _VERSION_AT, draw.choice((0, 2, 3, 65535)))
    return _resealed(mutated, original)


def _resealed(mutated: bytearray, original: Original) -> bytes:
    layers = len(original.kv.keys)
    sections = 2 * layers * -(-original.kv.n_tokens // 256)
    end = FIXED_BYTES + layers * LAYER_BYTES + sections * ENTRY_BYTES
    struct.pack_into("<Q", mutated, end, xxhash.xxh3_64_intdigest(memoryview(mutated)[:end]))
    return bytes(mutated)


_MUTATIONS: dict[str, Callable[[Original, random.Random], bytes]] = {
    "bits flipped": _flipped,
    "header changed and resealed": _flipped_header,
    "overwritten": _overwritten,
    "truncated": _truncated,
    "extended": _extended,
    "spliced": _spliced,
    "noise": _noise,
    "foreign": _foreign,
    "another version": _of_another_version,
}


__all__ = ["Findings", "examine"]
