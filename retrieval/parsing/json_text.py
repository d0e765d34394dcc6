"""JSON in words: every value with its name, under headings that say where it is."""

import json

from retrieval.errors import TooComplex, UnreadableFile
from retrieval.parsing.document import ParsedDocument, clean_title
from retrieval.parsing.manuscript import Manuscript
from retrieval.parsing.media_type import MediaType
from retrieval.parsing.table_words import labelled

_STEP = " › "  # noqa: RUF001  (between the names of a path)
_DEEPEST_HEADING = 6


def parse_json(text: str, name: str) -> ParsedDocument:
    """Also one value a line. Numbers stay as they are written; nulls are left out.

    Raises: TooComplex, UnreadableFile.
    """
    manuscript = Manuscript()
    try:
        value = _value(text)
        _write(value, (), manuscript)
    except RecursionError as error:
        raise TooComplex(f"{name} is nested too deeply.", "Flatten it, or add it as a .txt file.") from error
    except ValueError as error:
        raise UnreadableFile(f"{name} is not JSON: {error}.", "Correct it, or add it as a .txt file.") from error
    title = value.get("title") if isinstance(value, dict) else None
    return manuscript.parsed(clean_title(title if isinstance(title, str) else None, name), MediaType.JSON)


def _value(text: str) -> object:
    try:
        return _loaded(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        try:
            return [_loaded(line) for line in lines]
        except ValueError:
            pass
        raise


def _loaded(text: str) -> object:
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=lambda _: None)


def _write(value: object, path: tuple[str, ...], manuscript: Manuscript) -> None:
    if _is_simple(value):
        manuscript.paragraph(_words(value))
    elif isinstance(value, dict):
        named = {key: _words(item) for key, item in value.items() if _is_simple(item)}
        manuscript.lines([labelled(key, words) for key, words in named.items() if words])
        for key, item in value.items():
            if not _is_simple(item):
                _write_under(key, item, path, manuscript)
    elif isinstance(value, list):
        for number, item in enumerate(value, start=1):
            if isinstance(item, dict) and all(map(_is_simple, item.values())):
                manuscript.line(_row(item))
            else:
                _write_under(str(number), item, path, manuscript)


def _write_under(key: str, value: object, path: tuple[str, ...], manuscript: Manuscript) -> None:
    here = (*path, key)
    manuscript.heading(_STEP.join(here), min(len(here), _DEEPEST_HEADING))
    _write(value, here, manuscript)


def _row(item: dict[str, object]) -> str:
    return "; ".join(labelled(key, _words(value)) for key, value in item.items() if _words(value))


def _is_simple(value: object) -> bool:
    """Shown in one line."""
    if isinstance(value, list):
        return not any(isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict)


def _words(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(filter(None, map(_words, value)))
        case _:
            return str(value).strip()
