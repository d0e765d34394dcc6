"""Where sentences end, in languages that write blanks between words and in those that do not."""

import re

# Full-width marks are meant.
# ruff: noqa: RUF001

_CLOSERS = "\"')\\]}»”’」』）】〉》"
_ABBREVIATIONS = (
    r"Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|vs|etc|e\.g|i\.e|cf|al|approx|[Ff]ig|[Nn]o|[Vv]ol|pp|Eq|Sec|Inc|Ltd|Co|Corp|dept|est"
    r"|bzw|z\.B|d\.h|u\.a|ca|Nr"
)
_AFTER_ABBREVIATION = re.compile(rf"(?:^|[\s(\[\"'“‘«])(?:{_ABBREVIATIONS}|[A-Z](?:\.[A-Z])*)\.$")
_LONGEST_ABBREVIATION = 12

_END = re.compile(
    rf"(?P<latin>[.!?…]+[{_CLOSERS}*_`]*(?=\s))"
    rf"|(?P<wide>(?:[。！？｡।؟۔]|．(?!\d))+[{_CLOSERS}]*)"
    # A blank line, or a line that starts a list item, a heading, a quotation or a table row.
    r"|(?P<block>(?<=\S)(?=[^\S\n]*\n(?:[^\S\n]*\n|[^\S\n]*(?:[-*+•・–>|]|\#{1,6}|\d{1,3}[.)])[^\S\n]|[^\S\n]*\|)))"
)
_CONTINUES = re.compile(r"[^\S\n]*\n?[^\S\n]*[a-z]")


def sentence_ends(text: str) -> list[int]:
    """Offsets just behind each sentence, in order; the last one is behind the last visible character."""
    ends = []
    previous = 0
    for match in _END.finditer(text):
        end = match.end()
        if match["latin"] and _goes_on(text, match):
            continue
        if not text[previous:end].isspace() and end > previous:
            ends.append(end)
            previous = end
    last = len(text.rstrip())
    if last > previous:
        ends.append(last)
    return ends


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, without the blanks around it."""
    spans = []
    start = 0
    for end in sentence_ends(text):
        start += len(text[start:end]) - len(text[start:end].lstrip())
        spans.append((start, end))
        start = end
    return spans


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """After an abbreviation, after a lone capital letter, or before a small letter."""
    if match[0].strip(".…"):
        return False
    before = text[max(0, match.start() - _LONGEST_ABBREVIATION) : match.end()]
    return bool(_AFTER_ABBREVIATION.search(before) or _CONTINUES.match(text, match.end()))
