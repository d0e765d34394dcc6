"""One answer of a benchmark's engine: its words, its time, and the distributions it was drawn from."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.core.ids import new_id
from benchmarks.verdict import Said
from generator.engine import Delta, EngineClient, Finished, Sampling
from generator.fusion_request import FusionRequest
from generator.prompt import Prompt
from generator.report import FusionReport
from generator.traces import trace_arguments, trace_path


@dataclass(frozen=True)
class Answer:
    """`said`: tokens, the end included. `ttft_s`: seconds to the first words, or to the end where there are none."""

    text: str
    said: int
    ttft_s: float
    report: FusionReport


async def ask(
    client: EngineClient,
    prompt: Prompt,
    policy: str,
    tenant: str,
    sampling: Sampling,
    request_id: str = "",
    layers: tuple[int, ...] = (),
) -> Answer:
    """`layers`: those whose attention `impact` sums; none: the engine's. Raises EngineUnavailable, EngineFailed."""
    request = FusionRequest(request_id or new_id("ask"), tenant, policy, prompt.segments, impact_layers=layers)
    began = time.perf_counter()
    first: float | None = None
    words: list[str] = []
    said = 0
    async for event in client.generate(prompt.token_ids, request, sampling):
        match event:
            case Delta(text):
                first = first or time.perf_counter() - began
                words.append(text)
            case Finished(completion_tokens=tokens):
                said = tokens
    ttft = first or time.perf_counter() - began
    return Answer("".join(words), said, ttft, await client.report(request.request_id))


@dataclass(frozen=True)
class Tracer:
    """Asks an engine that was started for traces, and keeps the distributions of the first `steps` steps."""

    client: EngineClient
    traces: Path
    steps: int

    async def ask(
        self,
        prompt: Prompt,
        policy: str,
        tenant: str,
        max_tokens: int,
        forced: Sequence[int] = (),
        layers: tuple[int, ...] = (),
    ) -> tuple[Answer, Said]:
        """The answer says `forced` first; its distributions are those from before a token was forced.

        Raises EngineUnavailable, EngineFailed.
        """
        name = new_id("ask")
        sampling = Sampling(max_tokens, extra=trace_arguments(name, self.steps, forced))
        try:
            answer = await ask(self.client, prompt, policy, tenant, sampling, name, layers)
            steps = range(min(answer.said, self.steps))
            logprobs = np.stack([np.load(trace_path(self.traces, name, step)) for step in steps])
            return answer, Said(answer.text, tuple(map(int, logprobs.argmax(axis=-1))), logprobs)
        finally:
            for path in self.traces.glob(f"{name}.*.npy"):
                path.unlink()
