"""`preread engine`: vLLM's server with our connector, in place of this process."""

import os
from typing import Annotated

import typer

from app.core.settings import get_settings


def engine(
    prepare_only: Annotated[
        bool, typer.Option("--prepare-only", help="Fetch or unpack the model, print its folder, and end.")
    ] = False,
) -> None:
    """Run the engine, which alone loads the language model."""
    from generator.launch import engine_command
    from generator.model_source import resolve_model

    settings = get_settings()
    model = resolve_model(settings)
    if prepare_only:
        typer.echo(model)
        return
    command, environment = engine_command(settings, model)
    os.execvpe(command[0], command, {**os.environ, **environment})  # noqa: S606  (no shell is wanted)
