"""`preread calibrate`'s work: from texts to a profile that is in force."""

from collections.abc import Callable, Sequence
from pathlib import Path

from app.core.settings import Settings
from generator.chat import ModelTokenizer
from generator.conditioning import Conditioning, passages
from generator.errors import TooLittleText
from generator.fingerprint import model_fingerprint
from generator.preamble import build_preamble
from generator.sensitivity import CHUNK_TOKENS, LATER_TOKENS, SensitiveModel
from kvstore.calibration import calibrate
from kvstore.presets import ProfilePreset
from kvstore.profile import Profile

DTYPES = ("bfloat16", "float16", "float32")
FEWEST_CHUNKS = 4


def calibrated(
    folder: Path,
    settings: Settings,
    texts: Sequence[str],
    source: str,
    *,
    most_tokens: int,
    presets: Sequence[ProfilePreset],
    advance: Callable[[int, int], None],
) -> Profile:
    """A profile of the model in `folder`, which is loaded for it in float32.

    Every second chunk is read behind the neutral passage, as most chunks are when they are pre-read. `advance` is told
    how many chunks of how many are done.

    Raises: TooLittleText for fewer than some 2,700 tokens; ModelNotFound.
    """
    tokenizer = ModelTokenizer(folder)
    ids = [token for text in texts for token in tokenizer.encode(text + "\n\n")][: most_tokens + LATER_TOKENS]
    starts = range(0, len(ids) - CHUNK_TOKENS - LATER_TOKENS + 1, CHUNK_TOKENS)
    if len(starts) < FEWEST_CHUNKS:
        raise TooLittleText(
            f"{source} has {len(ids)} tokens; calibration needs {FEWEST_CHUNKS * CHUNK_TOKENS + LATER_TOKENS}.",
            "Name more text, or none for the bundled handbook.",
        )
    preamble = tuple(build_preamble(tokenizer, settings).ids)
    passage = passages(tokenizer, Conditioning.NEUTRAL).neutral.token_ids
    model = SensitiveModel(folder)
    samples = []
    for done, start in enumerate(starts):
        end = start + CHUNK_TOKENS
        before = preamble if done % 2 else (*preamble, *passage)
        samples.append(model.sample(before, ids[start:end], ids[end : end + LATER_TOKENS]))
        advance(done + 1, len(starts))
    fingerprints = [model_fingerprint(folder, dtype) for dtype in DTYPES]
    return calibrate(samples, presets, fingerprints, {"text": source, "tokens": str(len(starts) * CHUNK_TOKENS)})


__all__ = ["calibrated"]
