"""Write docs/settings.md from the settings class. A test says when it has to be run again."""

# ruff: noqa: INP001  (a script, in no package)

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from app.core.settings import Settings

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"

_HEAD = """\
# Settings

Environment variables, or lines in a file `.env` where Preread is started; a variable wins over a line. All processes
read the same ones. This page is written from `app/core/settings.py` and what it inherits by `scripts/settings_page.py`.

| variable | default | allowed | meaning |
|---|---|---|---|
"""
_CELL_BAR = r"\|"
_BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def main() -> None:
    PAGE.write_text(page())


def page() -> str:
    """What `Settings` itself says comes before what is inherited."""
    fields = sorted(Settings.model_fields.items(), key=lambda item: item[0] not in Settings.__annotations__)
    return _HEAD + "".join(_row(name, field) for name, field in fields)


def _row(name: str, field: FieldInfo) -> str:
    cells = (f"`PREREAD_{name.upper()}`", _default(field), _allowed(field), field.description or "")
    return f"| {' | '.join(cell.replace('|', _CELL_BAR) for cell in cells)} |\n"


def _default(field: FieldInfo) -> str:
    value = field.get_default()
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float):
        return f"`{value:g}`"
    return f"`{value}`" if value is not None and str(value) else "empty"


def _allowed(field: FieldInfo) -> str:
    if get_origin(field.annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(field.annotation))
    if field.annotation is bool:
        return "`true`, `false`"
    return ", ".join(_constraints(field))


def _constraints(field: FieldInfo) -> Iterator[str]:
    for rule in field.metadata:
        for name, sign in _BOUNDS.items():
            bound: Any = getattr(rule, name, None)
            if bound is not None:
                yield f"{sign} {bound}"
        if pattern := getattr(rule, "pattern", None):
            yield f"`{pattern}`"


if __name__ == "__main__":
    main()
