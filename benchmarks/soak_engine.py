"""The engine under a soak, as seen from outside: its gauges, its memory, what it left in the staging folder."""

import re
import time
from random import Random
from typing import Any

import httpx
import psutil

from app.core.ids import new_id
from benchmarks.bench_engine import BenchEngine
from benchmarks.tenants import own_tenant
from generator.engine import EngineClient, Sampling
from generator.errors import EngineFailed
from generator.fusion_request import FusionRequest

GAUGES = {
    "running": "vllm:num_requests_running",
    "waiting": "vllm:num_requests_waiting",
    "kv_cache_usage": "vllm:kv_cache_usage_perc",
}
_SETTLED_SECONDS = 15.0


def gauge(metrics: str, name: str) -> float:
    """The sum of a metric over its labels, from Prometheus text. Raises EngineFailed where there is none."""
    found = re.findall(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? (\S+)$", metrics, re.MULTILINE)
    if not found:
        raise EngineFailed(f"The engine has no metric {name}.")
    return sum(map(float, found))


def page_tokens(metrics: str) -> int:
    """How many tokens vLLM has pages for. Raises EngineFailed where its metrics do not say."""
    labels = dict(re.findall(r'[{,](num_gpu_blocks|block_size)="(\d+)"', metrics))
    if len(labels) != 2:
        raise EngineFailed("The engine's metrics do not say how many pages it has.")
    return int(labels["num_gpu_blocks"]) * int(labels["block_size"])


def engine_metrics(engine: BenchEngine) -> str:
    return httpx.get(f"{engine.client.url}/metrics", trust_env=False).raise_for_status().text


def engine_rss() -> int:
    """Bytes resident in the processes that this one started."""
    return sum(process.memory_info().rss for process in psutil.Process().children(recursive=True))


async def fill_pages(engine: BenchEngine, client: EngineClient) -> None:
    """Write to every page once: memory that was never written to is not resident, and would look like a leak."""
    draw = Random(0)  # noqa: S311
    length = engine.status.max_model_tokens - 2
    for _ in range(page_tokens(engine_metrics(engine)) // length + 1):
        await _ask(client, [draw.randrange(100, 1000) for _ in range(length)])


async def settled(engine: BenchEngine, client: EngineClient) -> dict[str, Any]:
    """Gauges, resident bytes and staged files once nothing is asked: as soon as all gauges are 0, or late.

    vLLM counts only while it works, so that a last question makes it count again.
    """
    deadline = time.monotonic() + _SETTLED_SECONDS
    while True:
        await _ask(client, [100, 101, 102])
        metrics = engine_metrics(engine)
        gauges = {key: gauge(metrics, name) for key, name in GAUGES.items()}
        if not any(gauges.values()) or time.monotonic() > deadline:
            staged = [path.name for path in engine.traces.parent.iterdir() if path.is_file()]
            return {**gauges, "rss_bytes": engine_rss(), "staged": staged}


async def _ask(client: EngineClient, ids: list[int]) -> None:
    request = FusionRequest(new_id("soak"), own_tenant(), "exact", ())
    async for _ in client.generate(ids, request, Sampling(max_tokens=1)):
        pass
