"""Spreadsheet values as people see them."""

import re
from datetime import date, datetime, time, timedelta

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.[#0?]+)?")
_SIGNIFICANT = 15
_ERRORS = {"#DIV/0!", "#GETTING_DATA", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}


def cell_text(value: object, number_format: str = "General") -> str:
    """`""` where nothing is shown, or an error."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return _number(value, number_format)
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
        case date():
            return value.isoformat()
        case time():
            return value.isoformat("seconds")
        case timedelta():
            return str(value)
        case _:
            text = str(value)
            return "" if text in _ERRORS else text


def _number(value: float, number_format: str) -> str:
    section = number_format.split(";", maxsplit=1)[0]
    plain = _LITERAL.sub(lambda found: found[1] or found[2] or found[3] or "", section)
    digits = _DIGITS.search(plain)
    if digits is None or "E+" in section.upper() or "/" in plain:
        return _general(value)
    percent = "%" in plain
    whole, _, decimals = digits[0].partition(".")
    shown = f"{abs(value) * 100 if percent else abs(value):{',' if ',' in whole else ''}.{len(decimals)}f}"
    if decimals and "0" not in decimals:
        shown = shown.rstrip("0").rstrip(".")
    padded = shown.rjust(whole.count("0") + len(shown) - len(shown.partition(".")[0]), "0")
    minus = "-" if value < 0 else ""
    return f"{minus}{plain[: digits.start()]}{padded}{plain[digits.end() :]}".strip()


def _general(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.{_SIGNIFICANT}g}"
