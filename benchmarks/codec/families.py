"""Presets at several steps, for curves of quality over size."""

from collections.abc import Sequence
from dataclasses import replace

from kvstore.presets import ProfilePreset, profile_presets


def stepped(names: Sequence[str], factors: Sequence[float]) -> tuple[ProfilePreset, ...]:
    """Each preset with its step times each factor, named `NAMExFACTOR`. Raises: BadName."""
    return tuple(
        replace(preset, name=f"{preset.name}x{factor:g}", step=preset.step * factor)
        for preset in profile_presets(names)
        for factor in factors
    )


def family_of(name: str) -> str:
    return name.rpartition("x")[0]


__all__ = ["family_of", "stepped"]
