"""The API key of the command line: one that is set, or the one that `preread up` left in the state folder."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from app.core.loopback import is_loopback
from app.core.settings import Settings

NO_KEY_HINT = (
    "Set PREREAD_API_KEY. `preread up` leaves a key in its state folder for commands that are run beside it; elsewhere "
    "an admin makes one: preread key create NAME --role admin"
)


def command_line_key(settings: Settings) -> str:
    """Empty where there is none. The file's key goes to this machine alone."""
    if given := settings.api_key.get_secret_value():
        return given
    if not is_loopback(urlsplit(settings.effective_web_url).hostname or ""):
        return ""
    try:
        return settings.operator_key_file.read_text().strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""


def write_operator_key(path: Path, token: str) -> None:
    """Whole or not at all, and for nobody else to read."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{token}\n")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
