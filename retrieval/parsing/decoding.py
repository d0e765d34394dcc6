"""From bytes to text, certainly or not at all: a wrong guess would be stored, searched and quoted."""

import codecs
import re
import unicodedata

from retrieval.errors import UndecodableText, UnknownType
from retrieval.parsing.kanji import JAPANESE
from retrieval.parsing.legacy import LATIN, guess_legacy, is_unlikely
from retrieval.parsing.media_type import SUPPORTED_HINT

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
_START_BYTES = 4096
# Beside those that lay out a page or colour a log.
_CONTROL = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_MOST_CONTROLS = 0.05
_REPLACEMENT = "\ufffd"
_MOST_REPLACED = 0.05
_NEARLY_ALL = 0.9
_MANY_SIGNS = 0.4


def decode(data: bytes, name: str, declared: str | None = None) -> str:
    """Decode by byte order mark, UTF-8, the declared encoding, UTF-32 or 16 without a mark, or a legacy encoding.

    Raises: UndecodableText, and UnknownType for what is no text at all.
    """
    text = _certain(data)
    if text is None:
        text = _as_declared(data, declared)
    if text is None and (b"\x00" in data or _try(data, "utf-8") is None):
        text = _plausible(data, _unmarked_utf32(data)) or _plausible(data, _unmarked_utf16(data))
        text = text or _plausible(data, guess_legacy(data))
    if text is None and _share_of_controls(data.decode("latin-1")) > _MOST_CONTROLS:
        raise UnknownType(f"{name} is neither text nor a kind of file that is known.", SUPPORTED_HINT)
    if text is None or text.count(_REPLACEMENT) > _MOST_REPLACED * len(text):
        raise UndecodableText(
            f"The character encoding of {name} cannot be told for certain.", "Save the file as UTF-8 and add it again."
        )
    return text


def _as_declared(data: bytes, declared: str | None) -> str | None:
    """What is declared counts, unless that makes no sense of what clearly is text in another encoding."""
    text = _plausible(data, declared and _LABELS.get(declared.lower(), declared))
    if not text or text.isascii():
        return text
    others = [character for character in text[:_SAMPLE_CHARACTERS] if character > "\x7f"]
    signs = sum(map(_is_sign_of_misreading, others)) > _MANY_SIGNS * len(others)
    unlikely = is_unlikely(text)
    guess = guess_legacy(data)
    # Latin alphabets differ too little to be told from each other against what is declared.
    if guess is not None and (signs or unlikely or guess not in LATIN):
        return _plausible(data, guess) or text
    return None if unlikely else text


def _is_sign_of_misreading(character: str) -> bool:
    """Latin signs that are no letters, and half-width syllables."""
    return "\x80" <= character <= "\xbf" or "\uff61" <= character <= "\uff9f"


def _certain(data: bytes) -> str | None:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _mostly_text(_try(data, encoding))
    if data.isascii() and _JIS_ESCAPE.search(data):
        return _mostly_text(_try(data, "iso2022_jp_ext"))
    return None if b"\x00" in data or _is_kana_in_ascii(data) else _mostly_text(_try(data, "utf-8"))


def _is_kana_in_ascii(data: bytes) -> bool:
    """Japanese syllables in UTF-16 are pairs of a letter and the digit 0."""
    start = data[:_START_BYTES]
    encoding = None if len(data) % 2 else _unmarked_utf16(start)
    text = start.decode(encoding) if encoding else ""
    return len(text) > 1 and sum(character in JAPANESE for character in text) >= _NEARLY_ALL * len(text)


def _mostly_text(text: str | None) -> str | None:
    return text if text is not None and _share_of_controls(text) <= _MOST_CONTROLS else None


def _share_of_controls(text: str) -> float:
    return len(_CONTROL.findall(text)) / max(len(text), 1)


def _unmarked_utf32(data: bytes) -> str | None:
    if len(data) % 4 == 0 and b"\x00" in data:
        return next((encoding for encoding in ("utf-32-le", "utf-32-be") if _try(data, encoding)), None)
    return None


def _unmarked_utf16(data: bytes) -> str | None:
    """The byte order in which the letters are of usual scripts; other bytes rarely make such letters at all."""
    if len(data) % 2:
        return None
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
    usual = sum(c < "\u0700" or c in JAPANESE for c in sample)  # Latin to Arabic
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
