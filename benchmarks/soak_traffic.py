"""A soak's traffic: several questions at a time, while chunks are pre-read and deleted."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from random import Random

import numpy as np

from app.core.ids import new_id
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Piece
from benchmarks.divergence import LogProbs
from benchmarks.soak_turns import Turn, without_numbers
from benchmarks.tenants import tenant_of
from generator.conditioning import Conditioning
from generator.engine import EngineClient, Sampling
from generator.fusion_request import FusionRequest
from generator.prompt import Prompt
from generator.report import FusionReport
from generator.traces import trace_arguments, trace_path

READING = Conditioning.OFF
TENANT = tenant_of(READING)
_DELETIONS = 0.15
_PREAMBLES = 0.1
_QUESTION = "What do these passages say about number {number}?"


@dataclass(frozen=True)
class Answered:
    """`logprobs`: (vocabulary,) float32, those of the first token."""

    turn: Turn
    prompt: Prompt
    logprobs: LogProbs
    report: FusionReport

    @property
    def hits(self) -> list[bool]:
        """Whether each chunk's KV came out of the store; what vLLM's own cache held did not."""
        return [chunk.reading is not None for chunk in self.report.chunks]

    @property
    def found(self) -> tuple[int, ...]:
        """The places of the chunks that were hits, ascending."""
        return tuple(sorted(place for place, hit in zip(self.turn.places, self.hits, strict=True) if hit))


@dataclass
class Traffic:
    """`longest_pause_s`: between two documents that come or go. `deleted_hits`: chunks that were used although their
    deletion was over before they were asked about."""

    engine: BenchEngine
    client: EngineClient
    pieces: Sequence[Piece]
    draw: Random
    longest_pause_s: float = 0.1
    answered: list[Answered] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    deleted_hits: int = 0
    _asking: int = 0
    _readings: Counter[int] = field(default_factory=Counter)
    _absent: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self._absent = set(range(len(self.pieces)))

    async def run(self, turns: Iterable[Turn], at_once: int, step: Callable[[], object]) -> None:
        """Returns when all turns have been answered or broken off. Raises EngineUnavailable, EngineFailed."""
        left = iter(turns)
        self._asking = at_once
        await asyncio.gather(self._change(), *(self._ask_all(left, step) for _ in range(at_once)))

    async def _ask_all(self, turns: Iterator[Turn], step: Callable[[], object]) -> None:
        try:
            for turn in turns:
                await self._ask(turn)
                step()
        finally:
            self._asking -= 1

    async def _ask(self, turn: Turn) -> None:
        self.done["questions"] += 1
        question = _QUESTION.format(number=self.done["questions"])
        prompt = self.engine.prompt([self.pieces[place] for place in turn.places], question, turn.answer_tokens)
        prompt = Prompt(prompt.token_ids, without_numbers(prompt.segments))
        request = turn.request(new_id("soak"), TENANT, prompt.segments)
        absent = {place: self._readings[place] for place in self._absent}
        try:
            async with asyncio.timeout(turn.patience_s):
                found = await first_token(self.engine, self.client, prompt, request, turn.answer_tokens)
        except TimeoutError:
            self.done["aborted"] += 1
            return
        answer = Answered(turn, prompt, *found)
        self.answered.append(answer)
        for place, hit in zip(turn.places, answer.hits, strict=True):
            self.deleted_hits += hit and absent.get(place) == self._readings[place]

    async def _change(self) -> None:
        """Documents come and go, and now and then somebody repairs the preamble."""
        while self._asking:
            place = self.draw.randrange(len(self.pieces))
            kind = self.draw.random()
            if kind < _DELETIONS:
                await asyncio.to_thread(self.engine.forget, [self.pieces[place]], READING)
                self._absent.add(place)
                self.done["deleted"] += 1
            elif kind < _DELETIONS + _PREAMBLES:
                await asyncio.to_thread(self.engine.preread_fixed, 1, READING)
            else:
                self._absent.discard(place)
                self._readings[place] += 1
                await asyncio.to_thread(self.engine.preread, [self.pieces[place]], READING)
                self.done["preread"] += 1
            await asyncio.sleep(self.draw.uniform(0, self.longest_pause_s))


async def first_token(
    engine: BenchEngine, client: EngineClient, prompt: Prompt, request: FusionRequest, answer_tokens: int
) -> tuple[LogProbs, FusionReport]:
    """Ask, read the answer to its end, and give the distribution (vocabulary,) of its first token, with the report.

    Raises EngineUnavailable, EngineFailed.
    """
    path = trace_path(engine.traces, request.request_id, 0)
    sampling = Sampling(answer_tokens, extra=trace_arguments(request.request_id, 1))
    try:
        async with aclosing(client.generate(prompt.token_ids, request, sampling)) as events:
            async for _ in events:
                pass
        logprobs: LogProbs = np.load(path)
        return logprobs, await client.report(request.request_id)
    finally:
        path.unlink(missing_ok=True)
