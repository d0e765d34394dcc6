"""The setting `sync_folders`: folders by the name that their documents and their collection have."""

import unicodedata
from pathlib import Path

_LONGEST_NAME = 64


def sync_folders_from(value: str) -> dict[str, Path]:
    """The absolute folders by name, from NAME=PATH;NAME=PATH. Raises ValueError, whose text says what is wrong."""
    folders: dict[str, Path] = {}
    for part in filter(None, map(str.strip, value.split(";"))):
        name, equals, path = (each.strip() for each in part.partition("="))
        name = unicodedata.normalize("NFC", name)
        if not equals or not path:
            raise ValueError(f"“{part}” is not NAME=PATH")
        if not name or len(name) > _LONGEST_NAME or "/" in name or not name.isprintable():
            raise ValueError(f"“{name}” cannot name a folder: 1 to {_LONGEST_NAME} characters, none of them a slash")
        if name in folders:
            raise ValueError(f"“{name}” names two folders")
        folders[name] = Path(path).expanduser().absolute()
    return folders
