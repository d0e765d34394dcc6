"""Asks one question exactly and under every variant, and compares: all of it in one engine, one after the other."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

from app.core.errors import PrereadError
from app.core.ids import new_id
from benchmarks.answer import Answer, Tracer
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Asked
from benchmarks.divergence import LogProbs
from benchmarks.errors import NotFused, QuestionFailed
from benchmarks.tenants import own_tenant, tenant_of
from benchmarks.variant import EXACT, Variant
from benchmarks.verdict import Said, Verdict, verdict
from generator.conditioning import Conditioning
from generator.engine import EngineClient, Sampling
from generator.errors import EngineFailed
from generator.fusion_request import FusionRequest
from generator.prompt import Prompt

STEPS = 32
"""How many of the exact run's tokens are compared, as distributions and as greedy tokens."""


@dataclass(frozen=True)
class Examined:
    """`floor` compares two exact runs, the second batched with another request."""

    asked: Asked
    floor: Verdict
    verdicts: dict[Variant, Verdict]


class Examiner:
    """`exact` is among `variants`. Raises NotFused where the engine serves everything exactly."""

    def __init__(
        self, engine: BenchEngine, client: EngineClient, variants: Sequence[Variant], answer_tokens: int
    ) -> None:
        if not engine.status.fusion:
            raise NotFused(f"This model is served exactly: {engine.status.fusion_reason}.", "Choose another model.")
        self._engine = engine
        self._client = client
        self._variants = variants
        self._answer_tokens = answer_tokens
        self._tracer = Tracer(client, engine.traces, STEPS)
        self._readings = sorted({variant.reading for variant in variants})
        self._chunks = 0
        self._turn = 0

    async def examine(self, asked: Asked) -> Examined:
        """Raises QuestionFailed, which names the question."""
        try:
            return await self._examine(asked)
        except PrereadError as error:
            raise QuestionFailed(f"Question {asked.question.name}: {error.message}", error.hint) from error
        except Exception as error:
            error.add_note(f"while asking question {asked.question.name}")
            raise

    async def _examine(self, asked: Asked) -> Examined:
        golds = asked.question.answers
        prompt = self._prompt(asked, conditioned=False)
        answer, exact = await self._ask(prompt, EXACT, own_tenant())
        async with self._company(asked):
            _, again = await self._ask(prompt, EXACT, own_tenant())
            forced = await self._forced(exact, again, prompt, EXACT, own_tenant())
        floor = verdict(golds, exact, again, forced)
        verdicts = {}
        try:
            await self._preread(asked)
            for variant in self._in_turn():
                if variant.policy == EXACT:
                    verdicts[variant] = _costing(verdict(golds, exact, exact, exact.logprobs), answer)
                else:
                    verdicts[variant] = await self._judge(asked, exact, variant)
        finally:
            for reading in self._readings:
                self._engine.forget(asked.pieces, reading)
        return Examined(asked, floor, {variant: verdicts[variant] for variant in self._variants})

    async def _judge(self, asked: Asked, exact: Said, variant: Variant) -> Verdict:
        prompt, tenant = self._prompt(asked, conditioned=variant.conditioned), tenant_of(variant.reading)
        answer, free = await self._ask(prompt, variant.policy, tenant, variant.layers)
        missing = [chunk.reason for chunk in answer.report.chunks if chunk.tier is None]
        if missing:
            raise EngineFailed(f"{len(missing)} chunks had no KV under {variant.policy}: {missing[0]}.")
        forced = await self._forced(exact, free, prompt, variant.policy, tenant, variant.layers)
        return _costing(verdict(asked.question.answers, exact, free, forced), answer)

    async def _ask(
        self, prompt: Prompt, policy: str, tenant: str, layers: tuple[int, ...] = ()
    ) -> tuple[Answer, Said]:
        return await self._tracer.ask(prompt, policy, tenant, self._answer_tokens, layers=layers)

    async def _forced(
        self, exact: Said, free: Said, prompt: Prompt, policy: str, tenant: str, layers: tuple[int, ...] = ()
    ) -> LogProbs:
        """The distributions when made to say what `exact` said: the free answer's, where it said just that."""
        if free.tokens == exact.tokens:
            return free.logprobs
        _, said = await self._tracer.ask(prompt, policy, tenant, len(exact.tokens), exact.tokens, layers)
        return said.logprobs

    async def _preread(self, asked: Asked) -> None:
        """Pre-read the chunks, and ask once so that their KV is in the engine's memory for the first that is timed."""
        for reading in self._readings:
            if len(asked.pieces) > self._chunks:
                self._engine.preread_fixed(len(asked.pieces), reading)
            self._engine.preread(asked.pieces, reading)
            prompt = self._prompt(asked, conditioned=reading is not Conditioning.OFF)
            await self._tracer.ask(prompt, "none", tenant_of(reading), 1)
        self._chunks = max(self._chunks, len(asked.pieces))

    @asynccontextmanager
    async def _company(self, asked: Asked) -> AsyncIterator[None]:
        """Another request answers meanwhile, so that prefill is cut and every step is batched differently."""
        prompt = self._engine.prompt(asked.pieces[:1], "Tell a long story.", self._answer_tokens)
        request = FusionRequest(new_id("ask"), own_tenant(), EXACT, prompt.segments)
        story = self._client.generate(prompt.token_ids, request, Sampling(self._answer_tokens))
        async with aclosing(story):
            await anext(story)
            yield

    def _prompt(self, asked: Asked, *, conditioned: bool) -> Prompt:
        return self._engine.prompt(asked.pieces, asked.question.text, self._answer_tokens, conditioned=conditioned)

    def _in_turn(self) -> Sequence[Variant]:
        """Starting one further for each question, so that no variant always comes first."""
        self._turn = (self._turn + 1) % len(self._variants)
        return [*self._variants[self._turn :], *self._variants[: self._turn]]


def _costing(found: Verdict, answer: Answer) -> Verdict:
    return replace(found, ttft_s=answer.ttft_s, effective_recompute=answer.report.effective_recompute)
