"""`preread bench streaming`: loading chunk KV over links of several speeds, streamed or one stage after the other."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from app.core.errors import BadInput
from benchmarks.machine import provenance
from benchmarks.streaming_link import Link, LinkedTier
from benchmarks.streaming_load import Loading, Pages, Shape
from benchmarks.timing import quartiles
from generator.adaptation import Choice, ChunkOffers, Costs, Offer, choose
from kvstore.codecs.base import Codec
from kvstore.codecs.codecs import PLAIN, Codecs
from kvstore.codecs.profiled import ProfiledCodec
from kvstore.levels import Level
from kvstore.profile_file import read_profile
from kvstore.profiles import Profiles

DEADLINES_S = (0.25, 0.5, 1.0, 2.0)


def streaming(
    gbits: Annotated[str, typer.Option(help="Comma-separated: Gbit/s of the links.")] = "1,5,20",
    presets: Annotated[str, typer.Option(help="Comma-separated: how the chunks are stored.")] = "lossless,int8",
    profile: Annotated[Path | None, typer.Option(help="A profile's file; adds its preset default.")] = None,
    chunks: Annotated[int, typer.Option(min=1, help="Chunks of one request.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens in each chunk.")] = 512,
    layers: Annotated[int, typer.Option(min=1, help="Layers of the model.")] = 30,
    kv_heads: Annotated[int, typer.Option(min=1, help="KV heads of a layer.")] = 3,
    head_dim: Annotated[int, typer.Option(min=2, help="Dimensions of a head, an even number.")] = 64,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds, each way once in each.")] = 7,
    token_ms: Annotated[float, typer.Option(min=0, help="Milliseconds to compute a token, for the choice.")] = 0.6,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Load made-up chunk KV over links that are slept, and tell what would be chosen to meet a deadline."""
    shape = Shape(chunks, chunk_tokens, layers, kv_heads, head_dim)
    speeds = _speeds(gbits)
    chosen, codecs = _codecs(presets, profile)
    rows, sizes, decode_byte_s = [], [], 0.0
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("loading", total=len(chosen) * len(speeds))
        for codec in chosen:
            tier = LinkedTier(Link(1e9))
            with closing(Loading(tier, shape, codec, codecs)) as loading:
                sizes.append(loading.blob_bytes)
                for speed in speeds:
                    tier.link = Link(speed * 1e9)
                    rows.append({"gbit_s": speed, "preset": codec.name, **measure(loading, rounds)})
                    progress.advance(bar)
                decode_byte_s = decode_byte_s or loading.chooser.costs.decode_byte_s
    costs = Costs(decode_byte_s, token_ms / 1000)
    result = {
        **provenance(f"made-up KV, {layers} layers of {kv_heads} x {head_dim}", "bfloat16"),
        "chunks": chunks,
        "chunk_tokens": chunk_tokens,
        "n": rounds,
        "links": rows,
        "adaptation": {
            "hot": chosen[0].name,
            "compact": chosen[-1].name,
            "token_ms": token_ms,
            "choices": adapted(sizes[0], sizes[-1], chunk_tokens, speeds, costs),
        },
    }
    if as_json:
        typer.echo(json.dumps(result))
    else:
        for table in _tables(result):
            Console().print(table)


def measure(loading: Loading, rounds: int) -> dict[str, Any]:
    """Medians over rounds; `ratio` of one stage after the other ÷ streamed within each round. A first one warms up."""
    pages = Pages(loading.shape)
    apart: list[float] = []
    streamed: list[float] = []
    for number in range(rounds + 1):
        ways = [(loading.one_after_the_other, apart), (loading.streamed, streamed)]
        for load, seconds in ways if number % 2 else reversed(ways):
            taken = load(pages)
            if number:
                seconds.append(taken)
    ratios = [one / other for one, other in zip(apart, streamed, strict=True)]
    return {
        "bytes": sum(loading.blob_bytes),
        "apart_s": median(apart),
        "apart_quartiles_s": quartiles(apart),
        "streamed_s": median(streamed),
        "streamed_quartiles_s": quartiles(streamed),
        "ratio": median(ratios),
        "ratio_quartiles": quartiles(ratios),
    }


def adapted(
    hot: Sequence[int], compact: Sequence[int], chunk_tokens: int, speeds: Sequence[float], costs: Costs
) -> list[dict[str, Any]]:
    """How many chunks of so many bytes at each level are chosen to be what, at each speed (Gbit/s) and deadline."""
    found = []
    for speed in speeds:
        bytes_per_second = speed * 1e9 / 8
        offers = [
            (Offer(Level.HOT, large, bytes_per_second), Offer(Level.COMPACT, small, bytes_per_second))
            for large, small in zip(hot, compact, strict=True)
        ]
        for deadline in DEADLINES_S:
            counts = Counter(choose([ChunkOffers(chunk_tokens, each) for each in offers], costs, deadline))
            found.append({"gbit_s": speed, "deadline_s": deadline, **{str(each): counts[each] for each in Choice}})
    return found


def _speeds(text: str) -> list[float]:
    try:
        speeds = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise BadInput(f"“{text}” is no list of numbers.", "Write the links' Gbit/s like 1,5,20.") from error
    if not all(speed > 0 for speed in speeds):
        raise BadInput(f"“{text}” names a link that carries nothing.", "Write the links' Gbit/s like 1,5,20.")
    return speeds


def _codecs(names: str, path: Path | None) -> tuple[list[Codec], Codecs]:
    """The codecs to write with, and those to read with. Raises: BadInput, BadProfile."""
    wanted = names.split(",")
    unknown = [name for name in wanted if name not in PLAIN]
    if unknown:
        raise BadInput(f"{', '.join(unknown)}: no preset without a profile.", f"Use some of {', '.join(PLAIN)}.")
    chosen = [PLAIN[name] for name in wanted]
    if path is None:
        return chosen, Codecs(Profiles([]))
    return [*chosen, ProfiledCodec(read_profile(path), "default")], Codecs(Profiles([path.parent]))


def _tables(result: dict[str, Any]) -> tuple[Table, Table]:
    title = f"{result['chunks']} x {result['chunk_tokens']} tokens, median of {result['n']} rounds (quartiles)"
    columns = ("Gbit/s", "preset", "MB", "one after the other", "streamed", "times sooner")
    times = Table(*columns, title=f"{result['model']}: {title}", caption=result["machine"])
    for row in result["links"]:
        low, high = row["ratio_quartiles"]
        seconds = (f"{row['apart_s'] * 1000:.0f} ms", f"{row['streamed_s'] * 1000:.0f} ms")
        ratio = f"{row['ratio']:.2f} ({low:.2f} to {high:.2f})"
        times.add_row(f"{row['gbit_s']:g}", row["preset"], f"{row['bytes'] / 1e6:.1f}", *seconds, ratio)
    adaptation = result["adaptation"]
    levels = f"hot: {adaptation['hot']}, compact: {adaptation['compact']}, {adaptation['token_ms']:g} ms a fresh token"
    choices = Table("Gbit/s", "deadline", *Choice, title=f"Chunks by what is chosen ({levels})")
    for row in adaptation["choices"]:
        counts = [str(row[each]) for each in Choice]
        choices.add_row(f"{row['gbit_s']:g}", f"{row['deadline_s']:g} s", *counts)
    return times, choices


__all__ = ["adapted", "measure", "streaming"]
