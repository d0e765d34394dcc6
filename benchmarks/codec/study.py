"""Presets over questions: each question's exact run is made once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from benchmarks.codec.roundtrip import RoundTrip, chunk_kv, in_dtype, replaced, round_trip
from benchmarks.codec.speed import Speed, speed_of
from benchmarks.interval import mean_of
from benchmarks.lab.data import Question
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import forced, run_exact
from benchmarks.lab.metrics import Closeness, closeness
from benchmarks.lab.packing import pack
from benchmarks.lab.study import Shape
from generator.chat import ChatTokenizer
from generator.preamble import Preamble
from kvstore.codecs.base import Codec

_SHORT_QUESTIONS = 5


class CodecStudy:
    def __init__(self, model: DenseModel, tokenizer: ChatTokenizer, preamble: Preamble, shape: Shape) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._preamble = preamble
        self._shape = shape
        self.speeds: dict[str, Speed] = {}
        self.floor: list[Closeness] = []
        """What 16-bit KV without a codec does: the least that storing in 16 bits costs."""

    def run(
        self, questions: Sequence[Question], codecs: Mapping[str, Codec], advance: Callable[[], None]
    ) -> dict[str, list[RoundTrip]]:
        """Speeds are taken of the first question's chunks."""
        found: dict[str, list[RoundTrip]] = {name: [] for name in codecs}
        shape = self._shape
        for at, question in enumerate(questions):
            chunks = pack(self._tokenizer, question.passages, shape.chunk_tokens, shape.context_tokens, shape.seed + at)
            exact = run_exact(self._model, self._tokenizer, self._preamble, chunks, question.text, shape.steps)
            kv = chunk_kv(self._model, exact)
            in_16_bits = in_dtype(kv, torch.bfloat16)
            halves = replaced(self._model, exact, in_16_bits)
            self.floor.append(closeness(exact.log_probabilities, forced(self._model, exact, halves)))
            for name, codec in codecs.items():
                if at == 0:
                    self.speeds[name] = speed_of(codec, in_16_bits)
                # What keeps every bit is given the bits that a 16-bit engine would.
                given = in_16_bits if codec.decoded_dtype(torch.float32) is torch.float32 else kv
                found[name].append(round_trip(self._model, exact, given, codec, short=at < _SHORT_QUESTIONS))
                advance()
        return found


def preset_row(trips: Sequence[RoundTrip], speed: Speed) -> dict[str, Any]:
    """One preset as `--json` shows it."""
    ratio = sum(trip.raw_bytes for trip in trips) / sum(trip.blob_bytes for trip in trips)
    short = sum(trip.short_raw_bytes for trip in trips) / sum(trip.short_blob_bytes for trip in trips)
    return {
        "ratio": ratio,
        "ratio_64_tokens": short,
        "relative_error": mean_of([trip.error for trip in trips]).to_json(),
        "encode_mb_s": speed.encode_mb_s,
        "decode_mb_s": speed.decode_mb_s,
        **closeness_row([trip.closeness for trip in trips]),
    }


def closeness_row(rows: Sequence[Closeness]) -> dict[str, Any]:
    return {
        "kl_first_token": mean_of([row.kl_first for row in rows]).to_json(),
        "kl_mean": mean_of([row.kl_mean for row in rows]).to_json(),
        "greedy_agreement": mean_of([row.agreement for row in rows]).to_json(),
        "identical": mean_of([row.identical for row in rows]).to_json(),
    }


__all__ = ["CodecStudy", "closeness_row", "preset_row"]
