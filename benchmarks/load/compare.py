"""How many requests a second one engine serves, fused and exact, with the first word in time."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from random import Random
from statistics import median
from typing import Any

from benchmarks.answer import ask
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Piece
from benchmarks.load.figures import percentile
from benchmarks.load.rate import RateSearch
from benchmarks.load.traffic import arrivals, arriving
from benchmarks.tenants import own_tenant, tenant_of
from benchmarks.ttft import QUESTION
from benchmarks.variant import EXACT, Variant
from generator.engine import EngineClient, Sampling
from generator.prompt import Prompt

_IN_TIME_PERCENT = 95
_ALONE = 3
_SHARE_OF_ALONE = 0.6


@dataclass(frozen=True)
class Step:
    """One rate that was tried. Where too many were late it was given up, and `p95_ms` is of those answered by then."""

    rps: float
    held: bool
    p95_ms: float | None
    n: int


@dataclass(frozen=True)
class Course:
    """What is asked: so many `questions` at each rate, each with `chunks` chosen by chance."""

    chunks: int
    chunk_tokens: int
    questions: int
    answer_tokens: int
    seed: int


@dataclass(frozen=True)
class Race:
    """`pool`: the chunks that questions choose from, all of them pre-read."""

    engine: BenchEngine
    pool: Sequence[Piece]
    course: Course

    async def run(self, fused: Variant, objective_s: float, step: Callable[[], object]) -> dict[str, Any]:
        """Both in turns, so that what slows the machine slows both. `objective_s` 0: twice exact's median alone.

        Raises EngineUnavailable, EngineFailed.
        """
        client = EngineClient(self.engine.client.url)
        variants = {EXACT: Variant(EXACT, fused.conditioning), fused.policy: fused}
        steps: dict[str, list[Step]] = {name: [] for name in variants}
        try:
            alone = {name: await self._alone(client, variant) for name, variant in variants.items()}
            objective = objective_s or 2 * alone[EXACT][0]
            searches = {name: RateSearch(_SHARE_OF_ALONE / whole) for name, (_, whole) in alone.items()}
            while any(search.next for search in searches.values()):
                for name, search in searches.items():
                    if search.next is not None:
                        steps[name].append(await self._try(client, variants[name], search.next, objective))
                        search.tell(steps[name][-1].held)
                        step()
        finally:
            await client.aclose()
        rates = {name: search.highest for name, search in searches.items()}
        return figures(objective, {name: first for name, (first, _) in alone.items()}, rates, steps)

    async def _alone(self, client: EngineClient, variant: Variant) -> tuple[float, float]:
        """Median seconds to the first word and to the last, one question after the other; the first warms up."""
        first, whole = [], []
        for prompt in self._prompts(variant, _ALONE + 1):
            began = time.perf_counter()
            first.append(await self._ask(client, variant, prompt))
            whole.append(time.perf_counter() - began)
        return median(first[1:]), median(whole[1:])

    async def _try(self, client: EngineClient, variant: Variant, rps: float, objective_s: float) -> Step:
        """Ask at this rate, until all have been answered or too many have been late."""
        prompts = self._prompts(variant, self.course.questions)
        allowed = self.course.questions - math.ceil(self.course.questions * _IN_TIME_PERCENT / 100)
        times: list[float] = []
        lost = asyncio.Event()

        async def one(number: int, due: float) -> None:
            behind = time.perf_counter() - due
            times.append(behind + await self._ask(client, variant, prompts[number]))
            if sum(seconds > objective_s for seconds in times) > allowed:
                lost.set()

        asking = asyncio.create_task(arriving(islice(arrivals(rps, self.course.seed), self.course.questions), one))
        losing = asyncio.create_task(lost.wait())
        await asyncio.wait((asking, losing), return_when=asyncio.FIRST_COMPLETED)
        for task in (asking, losing):
            task.cancel()
        outcome, _ = await asyncio.gather(asking, losing, return_exceptions=True)
        if isinstance(outcome, Exception):
            raise outcome
        p95 = percentile(times, _IN_TIME_PERCENT)
        return Step(round(rps, 4), not lost.is_set(), None if p95 is None else round(1000 * p95, 1), len(times))

    async def _ask(self, client: EngineClient, variant: Variant, prompt: Prompt) -> float:
        """Seconds to the first word. Exact requests find nothing in the prefix cache."""
        tenant = own_tenant() if variant.policy == EXACT else tenant_of(variant.reading)
        return (await ask(client, prompt, variant.policy, tenant, Sampling(self.course.answer_tokens))).ttft_s

    def _prompts(self, variant: Variant, number: int) -> list[Prompt]:
        """The same questions for every variant."""
        course = self.course
        chance = Random(course.seed)  # noqa: S311  (nothing secret)
        chosen = [chance.sample(self.pool, course.chunks) for _ in range(number)]
        return [
            self.engine.prompt(pieces, QUESTION, course.answer_tokens, conditioned=variant.conditioned)
            for pieces in chosen
        ]


def figures(
    objective_s: float,
    alone_s: Mapping[str, float],
    rates: Mapping[str, float | None],
    steps: Mapping[str, Sequence[Step]],
) -> dict[str, Any]:
    """`rps`: the highest rate that held, None where none did; `ratio`: fused by exact."""
    fused = next(rate for name, rate in rates.items() if name != EXACT)
    exact = rates[EXACT]
    return {
        "objective_ttft_ms": round(1000 * objective_s, 1),
        "in_time_percent": _IN_TIME_PERCENT,
        "policies": {
            name: {
                "rps": None if rate is None else round(rate, 4),
                "ttft_alone_ms": round(1000 * alone_s[name], 1),
                "steps": [asdict(each) for each in steps[name]],
            }
            for name, rate in rates.items()
        },
        "ratio": round(fused / exact, 2) if fused and exact else None,
    }
