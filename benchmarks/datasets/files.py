"""The files of a question set, read with errors that say what is wrong with them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.errors import BadData


def read_json(folder: Path, name: str, pattern: str) -> Any:
    """The JSON of the one file in `folder` that fits `pattern`; `folder` may also be the file itself.

    Raises BadData, naming the set, when there is no such file or no JSON in it.
    """
    path = folder if folder.is_file() else next(iter(sorted(folder.glob(pattern))), None)
    if path is None:
        what = "holds no" if folder.is_dir() else "is no folder that holds"
        raise BadData(f"{folder} {what} {pattern}.", f"Name the folder of the {name} set with --data.")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadData(f"{path} cannot be read as JSON: {error}", f"Name the {name} set's own file.") from error


@contextmanager
def shape_of(name: str, folder: Path) -> Iterator[None]:
    """What is read inside has the set's shape, or BadData says that this is another file."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise BadData(
            f"What lies in {folder} is not the {name} set: {error!r}.", "Check --set and --data: they must fit."
        ) from error
