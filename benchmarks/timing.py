"""Times to first token, every case once a round, so that whatever slows the machine slows all of them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from benchmarks.answer import Answer, ask
from benchmarks.tenants import own_tenant, tenant_of
from benchmarks.variant import EXACT, Variant
from generator.engine import EngineClient, Sampling
from generator.prompt import Prompt

_SAMPLING = Sampling(max_tokens=2)


@dataclass(frozen=True)
class Case:
    variant: Variant
    prompt: Prompt


def measure(url: str, cases: Sequence[Case], rounds: int, step: Callable[[], object]) -> list[list[Answer]]:
    """For each case its `rounds` answers. A first round warms up and is dropped; the order turns by one each round.

    `step` is called after each round, the first included. Raises EngineUnavailable, EngineFailed.
    """

    async def run() -> list[list[Answer]]:
        client = EngineClient(url)
        answers: list[list[Answer]] = [[] for _ in cases]
        order = list(range(len(cases)))
        try:
            for number in range(rounds + 1):
                for place in order:
                    answer = await _time(client, cases[place])
                    if number:
                        answers[place].append(answer)
                order.append(order.pop(0))
                step()
        finally:
            await client.aclose()
        return answers

    return asyncio.run(run())


async def _time(client: EngineClient, case: Case) -> Answer:
    policy = case.variant.policy
    tenant = own_tenant() if policy == EXACT else tenant_of(case.variant.reading)
    return await ask(client, case.prompt, policy, tenant, _SAMPLING)


def times(mine: Sequence[Answer], exact: Sequence[Answer]) -> dict[str, Any]:
    """Medians over rounds; `speedup` of exact ÷ this within each round."""
    ratios = [full.ttft_s / this.ttft_s for full, this in zip(exact, mine, strict=True)]
    seconds = [answer.ttft_s for answer in mine]
    return {
        "ttft_s": median(seconds),
        "ttft_quartiles_s": quartiles(seconds),
        "speedup": median(ratios),
        "speedup_quartiles": quartiles(ratios),
        "load_s": median(answer.report.load_s for answer in mine),
        "select_s": median(answer.report.select_s for answer in mine),
        "recompute_s": median(answer.report.recompute_s for answer in mine),
        "effective_recompute": median(answer.report.effective_recompute or 0.0 for answer in mine),
        "not_fused": mine[0].report.not_fused,
        "n": len(mine),
    }


def quartiles(values: Sequence[float]) -> list[float]:
    return [values[0], values[0]] if len(values) == 1 else quantiles(values, n=4)[::2]
