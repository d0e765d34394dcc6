"""A baseline from outside: vLLM's own prefix cache, on the documents of each question in another order."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from benchmarks.answer import Answer, ask
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Asked
from benchmarks.interval import mean_of, median_of
from benchmarks.variant import EXACT
from generator.engine import EngineClient, Sampling

NAME = "prefix-cache"
_TENANT = "bench-prefix-cache"


def ask_shuffled(engine: BenchEngine, questions: Sequence[Asked], step: Callable[[], object]) -> dict[str, Any]:
    """Ask exactly about documents that were all asked about before, each time in another order.

    All requests share one salt. A context is asked about in shuffled order, then in its own, which is timed: the cache
    helps as far as both begin alike. Answers are exact ones.

    Returns: `ttft` (median) and `hit_share` (mean share of the context's tokens found), with intervals.
    Raises EngineUnavailable, EngineFailed.
    """
    answers = asyncio.run(_ask_all(engine, questions, step))
    shares = [answer.report.prefix_tokens / answer.report.context_tokens for answer in answers]
    return {
        "ttft": median_of([answer.ttft_s for answer in answers]).to_json(),
        "hit_share": mean_of(shares).to_json(),
    }


async def _ask_all(engine: BenchEngine, questions: Sequence[Asked], step: Callable[[], object]) -> list[Answer]:
    client = EngineClient(engine.client.url)
    answers = []
    try:
        for asked in questions:
            await _ask(engine, client, shuffled(asked))
            answers.append(await _ask(engine, client, asked))
            step()
    finally:
        await client.aclose()
    return answers


async def _ask(engine: BenchEngine, client: EngineClient, asked: Asked) -> Answer:
    prompt = engine.prompt(asked.pieces, asked.question.text, 2)
    return await ask(client, prompt, EXACT, _TENANT, Sampling(max_tokens=2))


def shuffled(asked: Asked) -> Asked:
    """The same question with its chunks in another order, the same on every run; a single chunk stays."""
    pieces = list(asked.pieces)
    draw = Random(f"prefix cache {asked.question.name}")  # noqa: S311
    while tuple(pieces) == asked.pieces and len(set(pieces)) > 1:
        draw.shuffle(pieces)
    return replace(asked, pieces=tuple(pieces))
