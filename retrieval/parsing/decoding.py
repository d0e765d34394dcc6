"""From bytes to text, certainly or not at all: a wrong guess would be stored, searched and quoted."""

import codecs
import re
import unicodedata

from retrieval.errors import UndecodableText
from retrieval.parsing.legacy import guess_legacy

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What browsers read for these labels: supersets of what the labels say.
_LABELS = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252", "shift_jis": "cp932",
    "shift-jis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932", "gb2312": "gb18030", "gbk": "gb18030",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "big5": "big5hkscs", "x-euc-jp": "euc_jp",
}  # fmt: skip
_JIS_ESCAPE = re.compile(rb"\x1b(?:\$[@B]|\([BJI])")
_IMPLAUSIBLE = {"Cc", "Cn", "Co", "Cs"}
_SAMPLE_CHARACTERS = 20_000


def decode(data: bytes, name: str, declared: str | None = None) -> str:
    """Decode by byte order mark, UTF-8, the declared encoding, UTF-16 without a mark, or a legacy encoding.

    Raises: UndecodableText.
    """
    text = _certain(data) or _plausible(data, declared and _LABELS.get(declared.lower(), declared))
    text = text or _plausible(data, _unmarked_utf16(data)) or _plausible(data, guess_legacy(data))
    if text is None:
        raise UndecodableText(
            f"The character encoding of {name} cannot be told for certain.", "Save the file as UTF-8 and add it again."
        )
    return text


def _certain(data: bytes) -> str | None:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _try(data, encoding)
    if data.isascii() and _JIS_ESCAPE.search(data):
        return _try(data, "iso2022_jp_ext")
    return None if b"\x00" in data else _try(data, "utf-8")


def _unmarked_utf16(data: bytes) -> str | None:
    """The byte order in which the letters are of usual scripts; other bytes rarely make such letters at all."""
    little, big = (_usual_share(_plausible(data, encoding)) for encoding in ("utf-16-le", "utf-16-be"))
    # No 8-bit text holds zero bytes: then only the order is open.
    enough = 0.05 if b"\x00" in data else 0.5
    if max(little, big) < max(enough, 2 * min(little, big)):
        return None
    return "utf-16-le" if little > big else "utf-16-be"


def _usual_share(text: str | None) -> float:
    if not text:
        return 0.0
    sample = text[:_SAMPLE_CHARACTERS]
    # Latin to Arabic; Japanese syllables and punctuation; full-width forms.
    usual = sum(c < "\u0700" or "\u3000" <= c < "\u3100" or "\uff00" <= c < "\uff61" for c in sample)
    return usual / len(sample)


def _plausible(data: bytes, encoding: str | None) -> str | None:
    """The decoded text, or None where it cannot be decoded or holds characters that no text does."""
    text = _try(data, encoding) if encoding else None
    if text is None or any(unicodedata.category(c) in _IMPLAUSIBLE and not c.isspace() for c in set(text)):
        return None
    return text


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
