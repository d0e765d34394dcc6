"""Codecs by name, to write with, and by what a blob says, to read with."""

from pathlib import Path

from kvstore.blob import Blob
from kvstore.codecs.base import Codec
from kvstore.codecs.grouped import GroupedCodec
from kvstore.codecs.lossless import Lossless
from kvstore.codecs.profiled import ProfiledCodec
from kvstore.codecs.raw import Raw
from kvstore.errors import BadName, BadProfile, CorruptBlob, StaleProfile
from kvstore.presets import GROUP_PRESETS, PROFILE_PRESETS
from kvstore.profiles import SHIPPED_PROFILES, Profiles

RAW: Codec = Raw()
LOSSLESS: Codec = Lossless()
PLAIN: dict[str, Codec] = {codec.name: codec for codec in (RAW, LOSSLESS, *map(GroupedCodec, GROUP_PRESETS))}
NAMES = (*PLAIN, *(preset.name for preset in PROFILE_PRESETS))
_NAME_OF = {preset.number: preset.name for preset in PROFILE_PRESETS}
_PLAIN_BY_ID = {codec.id: codec for codec in PLAIN.values()}


class Codecs:
    """Thread-safe."""

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles
        self._made: dict[tuple[str, str], Codec] = {}

    @classmethod
    def beside(cls, profiles_dir: Path | None) -> "Codecs":
        """With the profiles calibrated here, in `profiles_dir` if any, before those that ship."""
        return cls(Profiles([*([profiles_dir] if profiles_dir else []), SHIPPED_PROFILES]))

    def to_write(self, name: str, fingerprint: str) -> Codec:
        """The codec of a preset for a model.

        Raises: BadName for no preset; BadProfile where it needs a profile that the model has not, or that lacks it.
        """
        if name in PLAIN:
            return PLAIN[name]
        if name not in NAMES:
            raise BadName(f"There is no preset {name!r}.", f"Use one of {', '.join(NAMES)}.")
        profile = self._profiles.of_model(fingerprint)
        if profile is None:
            raise BadProfile(
                f"The preset {name} needs a profile, and this model has none.",
                "Run `preread calibrate`, or set PREREAD_KV_PRESET to lossless.",
            )
        return self._profiled(profile.id, name)

    def has_profile(self, fingerprint: str) -> bool:
        return self._profiles.of_model(fingerprint) is not None

    def prepare(self, fingerprint: str) -> None:
        """Work out what coding with the model's profile needs now, where it has one, and not at the first question."""
        profile = self._profiles.of_model(fingerprint)
        if profile is not None:
            for preset in profile.presets:
                profile.plan(preset).prepare()

    def of(self, blob: Blob) -> Codec:
        """What decodes `blob`. Raises: StaleProfile where its profile is gone; CorruptBlob for an unknown id."""
        if blob.codec_id in _PLAIN_BY_ID:
            return _PLAIN_BY_ID[blob.codec_id]
        if blob.codec_id not in _NAME_OF or not blob.identity.profile_id:
            raise CorruptBlob(f"Codec {blob.codec_id} with profile {blob.identity.profile_id!r} cannot be.")
        try:
            return self._profiled(blob.identity.profile_id, _NAME_OF[blob.codec_id])
        except BadProfile as error:
            raise StaleProfile(error.message, error.hint) from error

    def _profiled(self, profile_id: str, preset: str) -> Codec:
        if (profile_id, preset) not in self._made:
            self._made[profile_id, preset] = ProfiledCodec(self._profiles.by_id(profile_id), preset)
        return self._made[profile_id, preset]


__all__ = ["LOSSLESS", "NAMES", "PLAIN", "RAW", "Codecs"]
