"""Encodings from before Unicode, told by how often a language's commonest letters occur."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from retrieval.parsing.kanji import JAPANESE

# The letters of many scripts look alike.
# ruff: noqa: RUF001

_SAMPLE_CHARACTERS = 20_000
_ENOUGH = 0.4
_CLEARLY_BETTER = 1.5
_MIXED_UP = 0.2
_FEWEST_CHARACTERS = 4
_FEW_ALONE = 0.1

_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
    "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日"
    "军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美"
    "相见请测试件读，。、"
)
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡"
    "用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日"
    "軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美"
    "相見請測試件讀，。、"
)
_HANGUL = (
    "이다는에의가을를은하고지로기한사자도서리인어정시대해그라아나일수스부제과장전성관주구보국유동와여상비"
    "게으니원있었했습입험것들만경연공"
)
_RUSSIAN = "оеаинтсрвлкОЕАИНТСРВЛК«»—№"
_GREEK = "αοιετσνηυςάέίόΑΟΙΕΤΣΝΗΥ«»"
_HEBREW = "יוהלאמרת"
_ARABIC = "اليمنورت"
_TURKISH = "ğışçöüİĞŞÇÖÜâîû’‘“”"
_TYPOGRAPHY = "’‘“”„–—…•€«»°§©®·"
_WESTERN = "äöüÄÖÜßéèêëàâáíóúñçôûùîïåæøãõòìÉÀÇÅØÑÁÍÓÚ¿¡£½²³ºªœŒ" + _TYPOGRAPHY
_POLISH = "ąćęłńóśźżĄĆĘŁŃÓŚŹŻ" + _TYPOGRAPHY
_CZECH = "áčďéěíňóřšťúůýžÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ" + _TYPOGRAPHY
_HUNGARIAN = "áéíóöőúüűÁÉÍÓÖŐÚÜŰ" + _TYPOGRAPHY

# Short words that decide where the few other letters fit both groups of languages.
_WESTERN_WORDS = re.compile(
    rb"\b(?:the|and|of|der|die|und|das|la|le|les|des|est|de|el|los|que|een|het|och|og|du|un|une|au|en|sur|pour|dans|qui|"
    rb"mit|auf|von|ist|ein|eine|den|dem|for|is|of|con|por|para|uma|det|att|som)\b",
    re.IGNORECASE,
)
_CENTRAL_WORDS = re.compile(rb"\b(?:se|na|je|to|ale|jak|nie|sa|az|es|hogy|nem|jest|ze|pro)\b", re.IGNORECASE)

_OTHER_LETTER = re.compile(r"[^\W\d_\x00-\x7f]")
_NO_TEXT = re.compile(r"[\x80-\x9f\u2500-\u259f]")
_KANA = re.compile(r"[\u3041-\u30fa]")
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_MIXED_WORD = re.compile(r"[A-Za-z][^\W\d_\x00-\x7f]|[^\W\d_\x00-\x7f][A-Za-z]")
# Half-width syllables come in words; EUC-JP that is taken for CP932 scatters them.
_LONE_HALF_WIDTH = re.compile(r"(?<![\uff61-\uff9f])[\uff61-\uff9f](?![\uff61-\uff9f])")
_SIGN_OF_NO_PROSE = re.compile(r"[¹²³¼½¾¤¦¬¶±×÷]")
_SIGN_IN_WORD = re.compile(r"[^\W\d_](?:[¿¡£½§•]|[^\w\s\x00-\x7f’‘–—·…]+[^\W\d_])|[´ˇ˘¸¨¯˙˛˝]")


_SIGN_BETWEEN_LETTERS = re.compile(r"[^\W\d_][¹²³¿¡£¤¥¦§¶±¼½¾][^\W\d_]")
_MIXED_ALPHABETS = re.compile(r"[A-Za-z][\u0370-\u06ff]|[\u0370-\u06ff][A-Za-z]|[a-z][\u3400-\u9fff][a-z]")
_MARKUP = re.compile(r"<[^>]*>")
_KOREAN = frozenset(_HANGUL)


class _Writing(Enum):
    LATIN = auto()
    ALPHABET = auto()
    CHARACTERS = auto()


@dataclass(frozen=True)
class _Script:
    """`usual` is the share that `common` characters have among the non-ASCII ones of an ordinary text."""

    writing: _Writing
    encodings: tuple[str, ...]
    common: frozenset[str]
    usual: float


@dataclass(frozen=True)
class _Guess:
    """`enough`: there are so many characters that it is no accident that they make sense."""

    score: float
    encoding: str
    text: str
    enough: bool


_SCRIPTS = (
    _Script(_Writing.CHARACTERS, ("cp932", "euc_jp", "euc_jis_2004"), JAPANESE, 0.8),
    _Script(_Writing.CHARACTERS, ("gb18030",), frozenset(_SIMPLIFIED), 0.35),
    _Script(_Writing.CHARACTERS, ("big5hkscs",), frozenset(_TRADITIONAL), 0.35),
    _Script(_Writing.CHARACTERS, ("cp949",), _KOREAN, 0.5),
    _Script(_Writing.ALPHABET, ("cp1251", "koi8_r", "cp866", "iso8859_5"), frozenset(_RUSSIAN), 0.65),
    _Script(_Writing.ALPHABET, ("cp1253",), frozenset(_GREEK), 0.7),
    _Script(_Writing.ALPHABET, ("cp1255",), frozenset(_HEBREW), 0.65),
    _Script(_Writing.ALPHABET, ("cp1256", "iso8859_6"), frozenset(_ARABIC), 0.65),
    _Script(_Writing.LATIN, ("cp1252",), frozenset(_WESTERN), 1.0),
    _Script(_Writing.LATIN, ("cp1254",), frozenset(_TURKISH), 1.0),
    _Script(_Writing.LATIN, ("cp1250", "iso8859_2"), frozenset(_POLISH), 1.0),
    _Script(_Writing.LATIN, ("cp1250", "iso8859_2"), frozenset(_CZECH), 1.0),
    _Script(_Writing.LATIN, ("cp1250", "iso8859_2"), frozenset(_HUNGARIAN), 1.0),
)


LATIN = frozenset(encoding for script in _SCRIPTS if script.writing is _Writing.LATIN for encoding in script.encodings)


def guess_legacy(data: bytes) -> str | None:
    """The one encoding in which `data` is clearly text of a language that uses it, else None."""
    guesses = sorted(_guesses(data), key=lambda guess: -guess.score)
    if not guesses or guesses[0].score < _ENOUGH:
        return None
    best = guesses[0]
    if not best.enough or (best.encoding.startswith("euc_j") and _may_be_korean(data, best.text)):
        return None
    rival = next((guess for guess in guesses if guess.text != best.text), None)
    if rival is None or best.score >= _CLEARLY_BETTER * rival.score:
        return best.encoding
    western = _western_words(data)
    fitting = [guess for guess in (best, rival) if western is not None and (guess.encoding == "cp1252") is western]
    return fitting[0].encoding if len(fitting) == 1 and rival.encoding != best.encoding else None


def _guesses(data: bytes) -> Iterator[_Guess]:
    for script in _SCRIPTS:
        for encoding in script.encodings:
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            common = sum(character in script.common for character in text[:_SAMPLE_CHARACTERS])
            enough = script.writing is _Writing.LATIN or common >= _FEWEST_CHARACTERS
            yield _Guess(_score(text[:_SAMPLE_CHARACTERS], script), encoding, text, enough)


def _score(text: str, script: _Script) -> float:
    """1 for an ordinary text of this script, near 0 for bytes that mean something else."""
    others = [character for character in text if character > "\x7f"]
    letters = len(_OTHER_LETTER.findall(text))
    odd = len(_SIGN_IN_WORD.findall(text)) + _inner_capitals(text)
    common = sum(character in script.common for character in others)
    if script.writing is _Writing.CHARACTERS:
        alone = len(_LONE_HALF_WIDTH.findall(text))
        misread = alone > _FEW_ALONE * len(others)
    elif script.writing is _Writing.LATIN:
        ascii_letters = len(_ASCII_LETTER.findall(text))
        misread = odd > _MIXED_UP * len(others) or letters > ascii_letters or len(others) > max(1, ascii_letters)
    else:
        odd += len(_MIXED_WORD.findall(text)) + len(_SIGN_OF_NO_PROSE.findall(text))
        # One foreign letter in a Latin text is a Latin one that was misread.
        stray = letters < min(_FEWEST_CHARACTERS, len(_ASCII_LETTER.findall(text)))
        misread = stray or odd >= _MIXED_UP * letters
    if misread or not others or _NO_TEXT.search(text):
        return 0.0
    # The wrong Cyrillic or Greek encoding turns small letters into capitals.
    doubt = 0.5 if sum(map(str.isupper, others)) > letters / 2 else 1.0
    return doubt * min(1.0, common / len(others) / script.usual)


def _may_be_korean(data: bytes, japanese: str) -> bool:
    """The commonest kanji and the Korean syllables have the same codes."""
    if _KANA.search(japanese):
        return False
    korean = [character for character in data.decode("cp949", "replace") if character > "\x7f"]
    return all("\uac00" <= character <= "\ud7a3" for character in korean) and not _KOREAN.isdisjoint(korean)


def is_unlikely(text: str) -> bool:
    """Whether words have signs or letters of two alphabets in them, or are of hardly any ASCII letters where the others
    are Latin: so text of one alphabet looks that is read as another."""
    text = _MARKUP.sub(" ", text)[:_SAMPLE_CHARACTERS]
    others = [character for character in text if character > "\x7f"]
    if any(character > "\u024f" and character.isalpha() for character in others):
        return len(_MIXED_ALPHABETS.findall(text)) > _MIXED_UP * len(others)
    foreign = 2 * len(_OTHER_LETTER.findall(text)) > len(_ASCII_LETTER.findall(text)) + _FEWEST_CHARACTERS
    return foreign or len(_SIGN_BETWEEN_LETTERS.findall(text)) > _FEW_ALONE * len(others)


def _inner_capitals(text: str) -> int:
    return sum(left.islower() and right.isupper() and right > "\x7f" for left, right in pairwise(text))


def _western_words(data: bytes) -> bool | None:
    western, central = len(_WESTERN_WORDS.findall(data)), len(_CENTRAL_WORDS.findall(data))
    return None if western == central else western > central
