"""`preread engine`: vLLM's server with our connector, in place of this process."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from app.core.logs import logging_config
from app.core.settings import Settings, get_settings


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
    if settings.log_format == "json":
        environment |= {"VLLM_LOGGING_CONFIG_PATH": str(logging_file(settings))}
    os.execvpe(command[0], command, {**os.environ, **environment})  # noqa: S606  (no shell is wanted)


def logging_file(settings: Settings) -> Path:
    """What vLLM and its web server read how to log from."""
    file = settings.effective_staging_dir / "engine-logging.json"  # a folder that every engine may write to
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(logging_config(settings.log_format, settings.log_level)))
    return file
