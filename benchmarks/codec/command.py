"""`preread bench codec`: size, quality and speed of the presets."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from app.cli.calibrate import bundled_texts
from app.core.settings import Settings, get_settings
from benchmarks.codec.families import family_of, stepped
from benchmarks.codec.study import CodecStudy, closeness_row, preset_row
from benchmarks.codec.table import codec_table
from benchmarks.lab.data import load_questions
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.study import Shape
from benchmarks.machine import provenance
from benchmarks.plots import check_plot, plot_lines
from generator.calibrating import calibrated
from generator.chat import ModelTokenizer
from generator.fingerprint import model_fingerprint
from generator.model_source import resolve_model
from generator.preamble import build_preamble
from kvstore.codecs.base import Codec
from kvstore.codecs.codecs import PLAIN, Codecs
from kvstore.codecs.profiled import ProfiledCodec

_DEFAULT = "lossless,int8,high,default,compact,tiny,kivi4,kivi2,int4-outlier,group-int4"
_CALIBRATION_TOKENS = 16_384


def codec(
    data: Annotated[Path, typer.Option(help="Folder that holds the data sets.")],
    name: Annotated[str, typer.Option("--set", help="xquad, musique or hotpotqa.")] = "musique",
    n: Annotated[int, typer.Option(min=1, help="Questions.")] = 50,
    presets: Annotated[str, typer.Option(help="Comma-separated.")] = _DEFAULT,
    curves: Annotated[
        str, typer.Option(help="Presets with a profile to measure at several steps as well, on a profile made for it.")
    ] = "",
    factors: Annotated[str, typer.Option(help="Of those steps.")] = "0.5,0.7,1,1.4,2",
    chunk_tokens: Annotated[int, typer.Option(min=16, help="Most tokens in a chunk.")] = 512,
    context_tokens: Annotated[int, typer.Option(min=64, help="About how many the chunks have together.")] = 3072,
    steps: Annotated[int, typer.Option(min=1, help="Tokens of the exact answer that are forced.")] = 32,
    seed: Annotated[int, typer.Option(help="Draws questions, distractors and orders.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Write the curves to this SVG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What each preset of chunk KV costs and saves: every chunk of a prompt through it, all else exact, in float32."""
    check_plot(plot)
    settings = get_settings()
    questions = load_questions(data, name, n, seed)
    folder = resolve_model(settings)
    fingerprint = model_fingerprint(folder, settings.effective_dtype)
    known = Codecs.beside(settings.profiles_dir)
    codecs = {each: known.to_write(each, fingerprint) for each in presets.split(",") if each}
    with Progress(console=Console(stderr=True)) as progress:
        if curves:
            codecs |= _stepped(folder, settings, curves, factors, progress)
        tokenizer = ModelTokenizer(folder)
        shape = Shape(chunk_tokens, context_tokens, steps, seed)
        study = CodecStudy(DenseModel.load(folder), tokenizer, build_preamble(tokenizer, settings), shape)
        bar = progress.add_task("measuring", total=n * len(codecs))
        found = study.run(questions, codecs, lambda: progress.advance(bar))
    result = {
        **provenance(settings.model, "float32"),
        "set": name,
        "n": n,
        "chunk_tokens": chunk_tokens,
        "context_tokens": context_tokens,
        "steps": steps,
        "presets": {each: preset_row(trips, study.speeds[each]) for each, trips in found.items()},
        "floor": closeness_row(study.floor),
    }
    if plot is not None:
        plot_lines(plot, _curves(result["presets"]), "times smaller than 16 bits", "KL, mean", f"{name}, n = {n}")
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(codec_table(result))


def _stepped(folder: Path, settings: Settings, curves: str, factors: str, progress: Progress) -> dict[str, Codec]:
    wanted = stepped(curves.split(","), [float(factor) for factor in factors.split(",")])
    bar = progress.add_task("calibrating", total=None)
    profile = calibrated(
        folder,
        settings,
        bundled_texts(),
        "the bundled handbook",
        most_tokens=_CALIBRATION_TOKENS,
        presets=wanted,
        advance=lambda done, total: progress.update(bar, completed=done, total=total),
    )
    return {preset.name: ProfiledCodec(profile, preset.name) for preset in wanted}


def _curves(rows: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, row in rows.items():
        family = family_of(name) if "x" in name and name not in PLAIN else name
        if row["kl_mean"]["value"]:
            lines.setdefault(family, []).append((row["ratio"], row["kl_mean"]["value"]))
    return {family: sorted(points) for family, points in lines.items()}
