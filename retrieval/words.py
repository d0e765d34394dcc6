"""The words of a text that carry its content, so that two texts can be compared by them."""

import re
from itertools import pairwise
from unicodedata import normalize

_HAN = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = rf"\u3040-\u30ff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff{_HAN}"
_TOKEN = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+(?:[.,]\d+)*")
_HAN_CHARACTER = re.compile(rf"[{_HAN}]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|ly)$")
_FUNCTION_WORDS_IN_A_ROW = (
    "a about above after again all also am an and any are as at be because been before being below between both but by "
    "can could did do does doing down during each few for from further had has have having he her here hers him his "
    "how i if in into is it its itself just me more most my no nor not now of off on once only or other our out over "
    "own same she should so some such than that the their them then there these they this those through to too under "
    "until up very was we were what when where which while who whom why will with would yes you your"
)
_FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_IN_A_ROW.split())


def content_words(text: str) -> set[str]:
    """Lower-case words without function words and common English endings; `3.5` is one word.

    Where a language writes no blanks, pairs of neighbouring characters stand for words.
    """
    words = set()
    for match in _TOKEN.finditer(text.lower()):
        unspaced = match[1]
        if unspaced is None:
            if match[0] not in _FUNCTION_WORDS:
                words.add(_ENDING.sub("", match[0]))
        elif len(unspaced) == 1:
            words.add(unspaced)
        else:
            pairs = (left + right for left, right in pairwise(unspaced))
            words.update(pair for pair in pairs if not _HIRAGANA.fullmatch(pair))
    return words


def search_terms(text: str) -> list[str]:
    """What a text is found by, in its order, as often as it is there: case and width do not matter.

    As `content_words`, but with every pair of characters where a language writes no blanks, and with each Han
    character for itself. (On JSQuAD those characters bring 96.1 instead of 95.1 % of the paragraphs among the first
    six.)
    """
    terms: list[str] = []
    for match in _TOKEN.finditer(normalize("NFKC", text).casefold()):
        unspaced = match[1]
        if unspaced is None:
            if match[0] not in _FUNCTION_WORDS:
                terms.append(_ENDING.sub("", match[0]))
        elif len(unspaced) == 1:
            terms.append(unspaced)
        else:
            terms += _HAN_CHARACTER.findall(unspaced)
            terms += (left + right for left, right in pairwise(unspaced))
    return terms
