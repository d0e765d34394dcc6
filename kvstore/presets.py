"""How chunk KV may be coded: each preset is a configuration of one pipeline. docs/codec.md tells what each does.

from the model's profile                         from the section's own extremes
high, default, compact, tiny                     int8
plain, weighted, transform, cachegen (studies)   kivi4, kivi2, int4-outlier, group-int4
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kvstore.errors import BadName


class Weighting(StrEnum):
    """What decides the steps of a section's channels.

    DEVIATION: each channel's standard deviation.  EVEN: one step for all channels of a section, relative to their mean
    variance.  SENSITIVITY: how much an error in the channel was measured to change what the model says.
    """

    DEVIATION = "deviation"
    EVEN = "even"
    SENSITIVITY = "sensitivity"


@dataclass(frozen=True)
class ProfilePreset:
    """Steps, basis and tables come from the profile.

    step: in units of the weighting; for SENSITIVITY the root of the nats that an error of one step costs each later
        token, so that one number fits every model.
    transform: quantise the coefficients of the weighted principal components instead of the channels.
    levels: a token that the profile's detector takes for sensitive has steps of a half, a quarter or an eighth.
    by_depth: factors of the step for equal groups of layers, from the first.
    anchor_tokens: code channels where it is smaller as differences to the first token of groups of so many; 0: none.
    """

    name: str
    number: int
    weighting: Weighting
    step: float
    transform: bool = False
    levels: bool = False
    by_depth: tuple[float, ...] = (1.0,)
    anchor_tokens: int = 0
    always_anchored: bool = False

    def __post_init__(self) -> None:
        if self.levels and self.anchor_tokens:
            raise ValueError("A difference between tokens of different levels has no step: levels exclude anchors.")

    @property
    def basis(self) -> str:
        """Presets of one name share means, weights and basis in a profile."""
        return f"{self.weighting}{'-basis' if self.transform else ''}{'-levels' if self.levels else ''}"


@dataclass(frozen=True)
class Grouping:
    """Values that share a minimum and a scale: `size` of them along tokens (of one channel), or along channels."""

    along_tokens: bool
    size: int


@dataclass(frozen=True)
class GroupPreset:
    """Minimum and scale of each group are in the section itself.

    outliers: how many channels, those of the largest values in the section, have 8 bits instead.
    """

    name: str
    number: int
    bits: int
    keys: Grouping
    values: Grouping
    outliers: int = 0


_SENSITIVITY = Weighting.SENSITIVITY
PROFILE_PRESETS = (
    ProfilePreset("high", 16, _SENSITIVITY, 2.5e-5, transform=True, levels=True),
    ProfilePreset("default", 17, _SENSITIVITY, 5e-5, transform=True, levels=True),
    ProfilePreset("compact", 18, _SENSITIVITY, 9e-5, transform=True, levels=True),
    ProfilePreset("tiny", 19, _SENSITIVITY, 1.5e-4, transform=True, levels=True),
    ProfilePreset("plain", 20, Weighting.DEVIATION, 0.6),
    ProfilePreset("weighted", 21, _SENSITIVITY, 9e-5),
    ProfilePreset("transform", 22, Weighting.EVEN, 0.5, transform=True),
    ProfilePreset("weighted-transform", 23, _SENSITIVITY, 9e-5, transform=True),
    ProfilePreset(
        "cachegen", 24, Weighting.DEVIATION, 1.0, by_depth=(0.5, 1.0, 1.5), anchor_tokens=10, always_anchored=True
    ),
)
GROUP_PRESETS = (
    GroupPreset("int8", 32, 8, Grouping(along_tokens=True, size=128), Grouping(along_tokens=False, size=64)),
    GroupPreset("kivi4", 33, 4, Grouping(along_tokens=True, size=32), Grouping(along_tokens=False, size=32)),
    GroupPreset("kivi2", 34, 2, Grouping(along_tokens=True, size=32), Grouping(along_tokens=False, size=32)),
    GroupPreset(
        "int4-outlier", 35, 4, Grouping(along_tokens=False, size=64), Grouping(along_tokens=False, size=64), outliers=8
    ),
    GroupPreset("group-int4", 36, 4, Grouping(along_tokens=False, size=64), Grouping(along_tokens=False, size=64)),
)
SHIPPED = tuple(preset for preset in PROFILE_PRESETS if preset.levels)
"""What `preread calibrate` puts into a profile unless told otherwise."""


def step_of(preset: ProfilePreset, layer: int, layers: int) -> float:
    """The step in one of `layers` layers."""
    return preset.step * preset.by_depth[layer * len(preset.by_depth) // layers]


def profile_presets(names: Sequence[str]) -> tuple[ProfilePreset, ...]:
    """Raises: BadName for a name that no preset with a profile has."""
    known = {preset.name: preset for preset in PROFILE_PRESETS}
    for name in names:
        if name not in known:
            raise BadName(f"No preset {name!r} has a profile.", f"Those that do: {', '.join(known)}.")
    return tuple(known[name] for name in names)


__all__ = [
    "GROUP_PRESETS",
    "PROFILE_PRESETS",
    "SHIPPED",
    "GroupPreset",
    "Grouping",
    "ProfilePreset",
    "Weighting",
    "profile_presets",
    "step_of",
]
