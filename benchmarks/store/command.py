"""`preread bench store`: what the store of chunk KV withstands, how quickly it finds, and what its eviction saves."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from app.core.settings import get_settings
from benchmarks.machine import provenance
from benchmarks.plots import check_plot, plot_lines
from benchmarks.store.kills import kill_at_random
from benchmarks.store.kv_redis import KVRedis
from benchmarks.store.lookups import lookup_ms, reading_overhead
from benchmarks.store.mutations import examine
from benchmarks.store.replay import Traffic, replay
from benchmarks.store.table import store_tables
from kvstore.codecs.codecs import Codecs
from kvstore.eviction import Eviction
from kvstore.tiers.base import Tier
from kvstore.tiers.disk import DiskTier
from kvstore.tiers.redis import RedisTier

_PRESETS = ("lossless", "int8")
_SHAPE = (2, 2, 32)  # layers, kv_heads, head_dim
_ROUNDS = 200
_CACHED = 0.1


def store(
    mutations: Annotated[int, typer.Option(min=0, help="Blobs to damage and ask for.")] = 10_000,
    kills: Annotated[int, typer.Option(min=0, help="Processes to kill under load.")] = 200,
    chunks: Annotated[int, typer.Option(min=1, help="Chunks of the replay; a tenth fits into the cache.")] = 10_000,
    requests: Annotated[int, typer.Option(min=1, help="Requests of the replay.")] = 50_000,
    exponents: Annotated[str, typer.Option(help="Of Zipf's law, comma-separated.")] = "0.6,1.0,1.2",
    seed: Annotated[int, typer.Option(help="Draws everything.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Write the replay's savings to this SVG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Damage blobs, kill processes, look chunks up, and replay requests against both evictions."""
    check_plot(plot)
    zipf = [float(exponent) for exponent in exponents.split(",")]
    with Progress(console=Console(stderr=True)) as progress, _errors_alone():
        bar = progress.add_task("store", total=kills + len(zipf) * len(Eviction) * requests)
        result = {
            **provenance(get_settings().model, "bfloat16"),
            "seed": seed,
            "mutations": _mutations(mutations, seed),
            "kills": _kills(kills, seed, lambda: progress.advance(bar)),
            "lookups": _lookups(seed),
            "replay": [_replay(Traffic(chunks, requests, each, seed), lambda: progress.advance(bar)) for each in zipf],
        }
    if plot is not None:
        title = f"{chunks} chunks, {requests} requests, cache for a tenth"
        plot_lines(plot, _curves(result["replay"]), "exponent", "share of compute saved", title)
    if as_json:
        typer.echo(json.dumps(result))
        return
    for table in store_tables(result):
        Console().print(table)


@contextmanager
def _errors_alone() -> Iterator[None]:
    """Each damaged blob and each kill would be a line of the log."""
    logger = logging.getLogger("kvstore")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _mutations(count: int, seed: int) -> dict[str, Any]:
    codecs = Codecs.beside(get_settings().profiles_dir)
    found = []
    for number, preset in enumerate(_PRESETS):
        share = count // len(_PRESETS)
        with TemporaryDirectory() as folder:
            tier = DiskTier(Path(folder), 10**9)
            found.append(examine(tier, codecs, codecs.to_write(preset, ""), _SHAPE, share, seed + number))
    return {
        "tried": sum(sum(each.tried.values()) for each in found),
        "refused": sum(sum(each.refused.values()) for each in found),
        "harmless": sum(sum(each.harmless.values()) for each in found),
        "wrong": [kind for each in found for kind in each.wrong],
        "kept": [kind for each in found for kind in each.kept],
        "crashed": [kind for each in found for kind in each.crashed],
        "slowest_s": max(each.slowest_s for each in found),
    }


def _kills(count: int, seed: int, advance: Callable[[], None]) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        aftermath = kill_at_random(Path(folder), count, seed, advance)
    return {**asdict(aftermath), "sound": aftermath.sound}


def _lookups(seed: int) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        redis = KVRedis(folder, "64mb")
        try:
            disk: Tier = DiskTier(folder / "lookups", 10**9)
            with_redis: list[Tier] = [RedisTier(redis.url, 60), disk]
            return {
                "disk_ms": lookup_ms([disk], _ROUNDS, seed),
                "redis_and_disk_ms": lookup_ms(with_redis, _ROUNDS, seed),
                "reading": reading_overhead(folder / "reading", _ROUNDS // 10, seed),
            }
        finally:
            redis.close()


def _replay(traffic: Traffic, advance: Callable[[], None]) -> dict[str, Any]:
    saved = {eviction: replay(traffic, _CACHED, eviction, advance) for eviction in Eviction}
    return {
        "exponent": traffic.exponent,
        **{str(eviction): {**asdict(each), "share": each.share} for eviction, each in saved.items()},
    }


def _curves(rows: list[dict[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    return {str(eviction): [(row["exponent"], row[eviction]["share"]) for row in rows] for eviction in Eviction}
