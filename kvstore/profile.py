"""A model's profile: what the codec knows about its KV beforehand, so that no blob carries tables of its own.

    profile = load_profile(path)
    plan = profile.plan("default")
    plan.section(layer, kind).synthesis

It is calibrated once a model (`preread calibrate`) and kept as one safetensors file, named after its id. See
docs/codec.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kvstore.basis import CLASSES_PER_OCTAVE, DROPPED, MAX_LEVEL, Basis, PresetTables
from kvstore.errors import BadProfile
from kvstore.plan import Plan


@dataclass(frozen=True, eq=False)
class Profile:
    """`fingerprints`: the models it was calibrated for; a model has one a dtype. `source`: what it was calibrated on.

    Raises: BadProfile where its parts do not fit each other.
    """

    id: str
    fingerprints: tuple[str, ...]
    bases: Mapping[str, Basis]
    presets: Mapping[str, PresetTables]
    source: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, own in self.presets.items():
            basis = self.bases.get(own.preset.basis)
            if basis is None or own.tables.shape != tuple(basis.means.shape) or own.shifts.shape != own.tables.shape:
                raise BadProfile(f"The profile's preset {name} does not fit its basis.")
            kept, highest = own.tables[own.tables != DROPPED], CLASSES_PER_OCTAVE * MAX_LEVEL
            if kept.size and int(kept.max()) + highest >= own.frequencies.movable:
                raise BadProfile(f"The profile's preset {name} names a table that it does not have.")
            if int(own.shifts.max()) > len(own.frequencies.frequencies) - own.frequencies.movable:
                raise BadProfile(f"The profile's preset {name} has no table for some low bits.")

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, width)."""
        means = next(iter(self.bases.values())).means
        return means.shape[0], means.shape[2]

    def plan(self, preset: str) -> Plan:
        """Raises: BadProfile for a preset that it was not calibrated for."""
        if preset not in self.presets:
            raise BadProfile(
                f"The profile {self.id} has no preset {preset!r}, only {', '.join(sorted(self.presets))}.",
                "Run `preread calibrate --presets` with it.",
            )
        return self._plans.setdefault(preset, Plan(self.bases[self.presets[preset].preset.basis], self.presets[preset]))

    @cached_property
    def _plans(self) -> dict[str, Plan]:
        return {}


__all__ = ["Profile"]
