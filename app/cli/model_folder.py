"""The language model's folder, made ready in a process of its own: what unpacks it is too big to keep loaded."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from app.cli.errors import ProcessFailed
from app.cli.processes import dies_with_parent
from app.core.settings import PACKAGED_MODEL, Settings


def known_folder(settings: Settings) -> Path | None:
    """The folder, if it is there already; None for a model still to be fetched, or from the hub."""
    folder = (
        settings.models_dir / PACKAGED_MODEL if settings.model == PACKAGED_MODEL else Path(settings.model).expanduser()
    )
    return folder if (folder / "config.json").is_file() else None


def prepared_folder(settings: Settings, command: list[str], say: Callable[[str], None]) -> Path:
    """The folder, fetched or unpacked by `command` if need be. Raises ProcessFailed when that does not work."""
    if known := known_folder(settings):
        return known
    say(f"preparing the language model {settings.model} (the first time only)")
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=dies_with_parent(signal.SIGTERM),
    )
    if result.returncode:
        raise ProcessFailed(
            f"The language model {settings.model} could not be made ready; what went wrong stands above.",
            "PREREAD_MODEL takes the packaged model's name, a Hugging Face id, or a local folder.",
        )
    return Path(result.stdout.splitlines()[-1])
