"""`preread calibrate`: measure the model, so that its chunk KV can be kept small."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from app.cli.add import files_to_add
from app.cli.console import out
from app.core.settings import get_settings

_HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"


def calibrate(
    documents: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]…", help="Text to calibrate on; nothing: the bundled handbook."),
    ] = None,
    tokens: Annotated[int, typer.Option(min=2048, help="Most tokens that are read.")] = 16_384,
    presets: Annotated[str, typer.Option(help="Comma-separated; empty: high, default, compact and tiny.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Calibrate the model's profile, with which its chunk KV is stored several times smaller.

    Minutes for a small model; it is loaded in float32 for it, beside the engine. Once a model is enough. What was
    stored before stays readable.
    """
    from generator.calibrating import calibrated
    from generator.model_source import resolve_model
    from kvstore.presets import SHIPPED, profile_presets
    from kvstore.profile_file import write_profile

    settings = get_settings()
    wanted = profile_presets(presets.split(",")) if presets else SHIPPED
    texts = texts_of(documents) if documents else bundled_texts()
    source = ", ".join(map(str, documents)) if documents else "the bundled handbook"
    folder = resolve_model(settings)
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("reading", total=None)
        profile = calibrated(
            folder,
            settings,
            texts,
            source,
            most_tokens=tokens,
            presets=wanted,
            advance=lambda done, total: progress.update(bar, completed=done, total=total),
        )
    path = write_profile(settings.profiles_dir, profile)
    if as_json:
        typer.echo(json.dumps({"profile": profile.id, "path": str(path), "presets": sorted(profile.presets)}))
        return
    out.print(f"Wrote the profile {profile.id} to {escape(str(path))}, with {', '.join(profile.presets)}.")
    out.print("What is pre-read from now on is stored with it; `preread precompute --all` does it for all documents.")


def bundled_texts() -> list[str]:
    """The example handbook."""
    return texts_of([_HANDBOOK])


def texts_of(paths: list[Path]) -> list[str]:
    """The text of files and folders. Raises NothingToAdd, and what parsing raises."""
    from retrieval.parsing.parser import parse

    return [parse(file.read_bytes(), name).text for file, name in files_to_add(paths)]
