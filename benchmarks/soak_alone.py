"""The same requests again, each alone in the engine and with the same hits."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.ids import new_id
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Piece
from benchmarks.divergence import LogProbs
from benchmarks.soak_traffic import READING, TENANT, Answered, first_token
from benchmarks.soak_turns import pinned
from generator.engine import EngineClient
from generator.errors import EngineFailed


@dataclass
class Alone:
    engine: BenchEngine
    client: EngineClient
    pieces: Sequence[Piece]
    _stored: set[int] = field(default_factory=set)

    def begin(self) -> None:
        """Forget what the traffic left, so that the little room there is never costs a chunk that is needed."""
        self.engine.forget(self.pieces, READING)
        self.engine.preread_fixed(1, READING)

    async def difference(self, answered: Answered) -> float:
        """The most that a probability of the first token differs from that of the request alone.

        A report does not say whether the preamble's KV was there, but how many tokens were reused does.
        Raises EngineFailed where the request alone reuses other tokens.
        """
        self._store(set(answered.found))
        reused = []
        for preamble in (True, False):
            segments = pinned(answered.prompt.segments, answered.hits, preamble)
            request = answered.turn.request(new_id("alone"), TENANT, segments)
            logprobs, report = await first_token(self.engine, self.client, answered.prompt, request, 1)
            if request.policy == "exact" or report.reused_tokens == answered.report.reused_tokens:
                return apart(answered.logprobs, logprobs)
            reused.append(report.reused_tokens)
        raise EngineFailed(
            f"{answered.report.request_id} alone, with and without the preamble, reuses {reused} tokens; "
            f"under load it was {answered.report}."
        )

    def _store(self, places: set[int]) -> None:
        if places <= self._stored:
            return
        self.engine.forget([self.pieces[place] for place in self._stored - places], READING)
        for place in places - self._stored:
            self.engine.preread([self.pieces[place]], READING)
        self.engine.preread_fixed(1, READING)
        self._stored = places


def apart(one: LogProbs, other: LogProbs) -> float:
    """The largest difference of probabilities; log-probabilities in, (vocabulary,) float32."""
    return float(np.abs(np.exp(one) - np.exp(other)).max())
