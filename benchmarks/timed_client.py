"""A client that knows how long the engine took over pre-reading."""

import time

from generator.engine import EngineClient
from generator.fusion_request import FusionRequest


class TimedClient(EngineClient):
    """`preread_s`: seconds spent so far in prefill, capture and staging; compression comes after."""

    preread_s = 0.0

    def preread(self, token_ids: list[int], request: FusionRequest) -> float:
        began = time.perf_counter()
        seconds = super().preread(token_ids, request)
        self.preread_s += time.perf_counter() - began
        return seconds
