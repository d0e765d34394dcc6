"""A profile as one safetensors file; its description is JSON in the file's metadata. No pickle."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from kernels.errors import BadShape
from kernels.rans.tables import Tables
from kvstore.atomic_file import replacing
from kvstore.basis import Basis, PresetTables
from kvstore.errors import BadProfile
from kvstore.presets import PROFILE_PRESETS
from kvstore.profile import Profile
from kvstore.profile_id import profile_id

FORMAT = 1
SUFFIX = ".safetensors"
_BASIS = ("means", "weights", "vectors", "detector", "bias")
_TABLES = ("tables", "shifts", "anchored")
_HINT = "Delete the file, or run `preread calibrate` again."


def write_profile(directory: Path, profile: Profile) -> Path:
    """Write `profile` under its id; it appears whole or not at all. Raises: OSError."""
    tensors: dict[str, Tensor] = {}
    for name, basis in profile.bases.items():
        parts = {part: getattr(basis, part) for part in _BASIS}
        tensors |= {f"basis.{name}.{part}": each.contiguous() for part, each in parts.items() if each is not None}
    for name, own in profile.presets.items():
        tensors |= {f"preset.{name}.{part}": torch.from_numpy(getattr(own, part)) for part in _TABLES}
        tensors[f"preset.{name}.frequencies"] = torch.from_numpy(own.frequencies.frequencies.astype(np.int16))
    described = {
        "format": FORMAT,
        "id": profile.id,
        "fingerprints": profile.fingerprints,
        "source": dict(profile.source),
        "movable": {name: own.frequencies.movable for name, own in profile.presets.items()},
        "presets": {name: asdict(own.preset) for name, own in profile.presets.items()},
    }
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{profile.id}{SUFFIX}"
    with replacing(path) as temporary:
        save_file(tensors, temporary, {"profile": json.dumps(described)})
    return path


def described_fingerprints(path: Path) -> tuple[str, ...]:
    """The models a profile file says it is for; its tensors are not read. Raises: BadProfile."""
    return tuple(_described(path)["fingerprints"])


def read_profile(path: Path) -> Profile:
    """Raises: BadProfile where the file is missing, damaged, of another format, or of presets that are not known."""
    described = _described(path)
    known = {preset.name: preset for preset in PROFILE_PRESETS}
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
        bases = {
            name: Basis(
                *(tensors[f"basis.{name}.{part}"] for part in _BASIS[:2]),
                *(tensors.get(f"basis.{name}.{part}") for part in _BASIS[2:]),
            )
            for name in sorted({key.split(".")[1] for key in tensors if key.startswith("basis.")})
        }
        presets = {}
        for name, stated in described["presets"].items():
            if name not in known or json.loads(json.dumps(asdict(known[name]))) != stated:
                raise BadProfile(f"{path.name} has another preset {name!r} than this version.", _HINT)
            parts = {part: tensors[f"preset.{name}.{part}"].numpy() for part in _TABLES}
            frequencies = tensors[f"preset.{name}.frequencies"].numpy().astype(np.uint16)
            tables = Tables(frequencies, described["movable"][name])
            presets[name] = PresetTables(known[name], **parts, frequencies=tables)
        found = Profile(described["id"], tuple(described["fingerprints"]), bases, presets, described["source"])
    except (SafetensorError, OSError, KeyError, ValueError, TypeError, BadShape) as error:
        raise BadProfile(f"{path} is not a whole profile: {error}", _HINT) from error
    if profile_id(found.fingerprints, bases, presets) != found.id:
        raise BadProfile(f"{path} has been altered: its id does not fit its content.", _HINT)
    return found


def _described(path: Path) -> dict[str, Any]:
    try:
        with safe_open(path, framework="pt") as file:
            described: dict[str, Any] = json.loads((file.metadata() or {})["profile"])
        stated = described["format"]
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        raise BadProfile(f"{path} is not a profile: {error}", _HINT) from error
    if stated != FORMAT:
        raise BadProfile(f"{path} is a profile of format {stated}, not {FORMAT}.", _HINT)
    return described


__all__ = ["SUFFIX", "described_fingerprints", "read_profile", "write_profile"]
