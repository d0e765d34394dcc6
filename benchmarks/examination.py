"""A run over many questions: one engine, every variant, exact and fused paired."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Asked
from benchmarks.examiner import Examined, Examiner
from benchmarks.variant import Variant
from generator.engine import EngineClient


def examine_all(
    engine: BenchEngine,
    questions: Iterable[Asked],
    variants: Sequence[Variant],
    answer_tokens: int,
    step: Callable[[], object],
) -> list[Examined]:
    """Every question in turn; `step` is called after each. Raises QuestionFailed, NotFused."""

    async def run() -> list[Examined]:
        client = EngineClient(engine.client.url)
        examiner = Examiner(engine, client, variants, answer_tokens)
        found = []
        try:
            for asked in questions:
                found.append(await examiner.examine(asked))
                step()
        finally:
            await client.aclose()
        return found

    return asyncio.run(run())
