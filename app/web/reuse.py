"""What chunk KV did for one answer, told from the engine's report and the catalog's readings."""

from collections.abc import Sequence

from app.core.catalog import ReadingRecord, Reuse
from generator.report import FusionReport

_FEWEST_TIMED = 64


def reuse_of(report: FusionReport, prompt_tokens: int, loaded: Sequence[ReadingRecord]) -> Reuse:
    """Bytes are those of the readings' first level; a smaller one that was loaded instead is not told apart.

    What a computed token takes, in seconds, is the recompute stage's time over the tokens that go through it: what is
    fresh of the context, and the question. That is what the report tells of this engine, under its present load. It is
    more than a token of one long prefill would take: fresh tokens are scattered, and requests that share the stage each
    report all of it. It is not measured where the stage left tokens to vLLM, which nobody times (behind the last chunk
    that was found), nor of fewer than 64 fresh tokens, where a forward's fixed cost would be most of it.

    Args:
        prompt_tokens: of the whole prompt.
        loaded: the readings that came from a tier.
    """
    timed = bool(report.chunks) and report.chunks[-1].tier is not None and report.fresh_tokens >= _FEWEST_TIMED
    known = [reading for reading in loaded if reading.bytes_in_16_bits is not None]
    return Reuse(
        reused_tokens=report.reused_tokens,
        fresh_tokens=report.fresh_tokens,
        load_seconds=report.load_s,
        loaded_bytes=sum(reading.bytes for reading in known),
        loaded_bytes_in_16_bits=sum(reading.bytes_in_16_bits or 0 for reading in known),
        timed_tokens=report.fresh_tokens + prompt_tokens - report.context_tokens if timed else 0,
        timed_seconds=report.recompute_s if timed else 0.0,
    )


__all__ = ["reuse_of"]
