"""Which codec ids there are, and how much their sections may expand: all that a blob is checked for before decoding."""

from kvstore.errors import CorruptBlob
from kvstore.presets import GROUP_PRESETS, PROFILE_PRESETS

RAW, LOSSLESS = 0, 1
_MOST_EXPANSION = {
    RAW: 1,
    LOSSLESS: 1 << 15,
    **{preset.number: 1 << 20 for preset in PROFILE_PRESETS},
    **{preset.number: 1 << 6 for preset in GROUP_PRESETS},
}


def most_expansion(codec_id: int) -> int:
    """A section of n bytes never decodes to more than n times this. Raises: CorruptBlob for an id that no codec has."""
    if codec_id not in _MOST_EXPANSION:
        raise CorruptBlob(f"No codec has the id {codec_id}.", "A newer Preread may have written this blob.")
    return _MOST_EXPANSION[codec_id]


__all__ = ["LOSSLESS", "RAW", "most_expansion"]
