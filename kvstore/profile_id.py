"""What a profile is called: a hash of all that decides how its blobs are read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b

import torch

from kvstore.basis import Basis, PresetTables


def profile_id(fingerprints: Sequence[str], bases: Mapping[str, Basis], presets: Mapping[str, PresetTables]) -> str:
    """32 hex characters."""
    digest = blake2b(digest_size=16, person=b"preread.profile")
    digest.update(json.dumps(sorted(fingerprints)).encode())
    for name in sorted(bases):
        basis = bases[name]
        digest.update(name.encode())
        for tensor in (basis.means, basis.weights, basis.vectors, basis.detector, basis.bias):
            if tensor is not None:
                digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    for name in sorted(presets):
        own = presets[name]
        digest.update(json.dumps(asdict(own.preset), sort_keys=True).encode())
        for array in (own.tables, own.shifts, own.anchored, own.frequencies.frequencies):
            digest.update(array.tobytes())
    return digest.hexdigest()


__all__ = ["profile_id"]
