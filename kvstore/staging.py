"""Raw captures that the engine leaves for the worker: one safetensors file a key.

    path = write_staged(settings.effective_staging_dir, identity, kv)      # engine
    identity, kv = read_staged(path)                                       # worker, which then unlinks it

Staging is short-lived and private to one host. What lasts is the blob; a capture that a power cut damages is a miss.
"""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import torch
import xxhash
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from kvstore.atomic_file import TEMPORARY_SUFFIX, remove_abandoned, replacing, temporaries
from kvstore.chunk_kv import ChunkKV
from kvstore.errors import BadChunkKV, BadName, CorruptStaging
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.names import checked_key

_SUFFIX = ".safetensors"


def staged_path(directory: Path, key: str) -> Path:
    """Where the capture of `key` lies. Raises: BadName."""
    return directory / f"{checked_key(key)}{_SUFFIX}"


def write_staged(directory: Path, identity: BlobIdentity, kv: ChunkKV) -> Path:
    """Write a capture; it appears whole or not at all, and replaces an earlier one. Raises: OSError."""
    tensors = {
        f"{kind}.{layer}": tensor.detach().clone(memory_format=torch.contiguous_format)
        for kind, of_layers in (("keys", kv.keys), ("values", kv.values))
        for layer, tensor in enumerate(of_layers)
    }
    fields = {name: str(value) for name, value in asdict(identity).items()} | {"n_layers": str(kv.n_layers)}
    directory.mkdir(parents=True, exist_ok=True)
    path = staged_path(directory, identity.key)
    with replacing(path, durable=False) as temporary:
        try:
            save_file(tensors, temporary, fields | {"checksum": _checksum(fields, tensors.values())})
        except SafetensorError as error:  # how it reports a full disk
            raise OSError(f"{path} cannot be written: {error}") from error
    return path


def read_staged(path: Path) -> tuple[BlobIdentity, ChunkKV]:
    """Read a capture and check it whole.

    Raises: CorruptStaging when the file is missing, cut short, altered or no capture.
    """
    try:
        with safe_open(path, framework="pt") as file:
            fields: dict[str, str] = dict(file.metadata() or {})
            stated_checksum = fields.pop("checksum")
            n_layers = int(fields["n_layers"])
            if len(file.keys()) != 2 * n_layers:
                raise CorruptStaging(f"{path.name} does not hold the {n_layers} layers it states.")
            keys = tuple(file.get_tensor(f"keys.{layer}") for layer in range(n_layers))
            values = tuple(file.get_tensor(f"values.{layer}") for layer in range(n_layers))
        kv = ChunkKV(keys, values)
        if _checksum(fields, (*keys, *values)) != stated_checksum:
            raise CorruptStaging(f"The checksum of {path.name} is wrong.")
        return _identity(fields), kv
    except (SafetensorError, OSError, KeyError, ValueError, BadChunkKV, BadName) as error:
        raise CorruptStaging(f"{path.name} is not a whole capture: {error}", "Pre-read the chunk again.") from error


def remove_staged(directory: Path, key: str) -> None:
    """The capture of `key`, and what an engine that was killed left of one. Raises: BadName, OSError."""
    path = staged_path(directory, key)
    remove_abandoned(path)
    path.unlink(missing_ok=True)


def is_staged(directory: Path, key: str) -> bool:
    """Whether there is a capture of `key`, whole or in part. Raises: BadName."""
    path = staged_path(directory, key)
    return path.exists() or bool(temporaries(path))


def sweep_staging(directory: Path, older_than_seconds: float, now: float) -> int:
    """Delete captures and unfinished files last written before `now - older_than_seconds` (seconds since 1970).

    Returns: how many were deleted. Raises: OSError.
    """
    swept = 0
    if not directory.is_dir():
        return swept
    for path in directory.iterdir():
        if path.name.endswith((_SUFFIX, TEMPORARY_SUFFIX)) and _written_before(path, now - older_than_seconds):
            path.unlink(missing_ok=True)
            swept += 1
    return swept


def _identity(fields: dict[str, str]) -> BlobIdentity:
    return BlobIdentity(
        key=fields["key"],
        ids_hash=fields["ids_hash"],
        model_fingerprint=fields["model_fingerprint"],
        preamble_hash=fields["preamble_hash"],
        reading=Reading(fields["reading"]),
        conditioning_hash=fields["conditioning_hash"],
        profile_id=fields["profile_id"],
    )


def _written_before(path: Path, moment: float) -> bool:
    try:
        return path.stat().st_mtime < moment
    except FileNotFoundError:  # a worker finished with it meanwhile
        return False


def _checksum(fields: dict[str, str], tensors: Iterable[Tensor]) -> str:
    digest = xxhash.xxh3_64(repr(sorted(fields.items())).encode())
    for tensor in tensors:
        digest.update(tensor.view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


__all__ = ["is_staged", "read_staged", "remove_staged", "staged_path", "sweep_staging", "write_staged"]
