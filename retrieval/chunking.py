"""Chunks: as many whole sentences as fit a number of the language model's tokens."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.errors import ChunkLimitTooSmall
from retrieval.furthest import FurthestEnd, Ruler
from retrieval.parsing import Heading, ParsedDocument
from retrieval.sentences import sentence_ends
from retrieval.tokenizer import TokenEncoder

_LINE_END = re.compile(r"(?<=\S)(?=[^\S\n]*\n)|(?<=\S)\Z")
_WORD_END = re.compile(r"(?<=\S)(?=\s)|(?<=\S)\Z")
_VISIBLE = re.compile(r"\S")
_HEADING_REST = re.compile(r"[^\n]*(?:\n {0,3}(?:=+|-+)[ \t]*$)?", re.MULTILINE)


@dataclass(frozen=True)
class Chunk:
    """`text` is the document's `text[start:end]`, and `token_ids` encode exactly this text.

    `page` is where it starts, if the document has pages; `heading` the last one that begins at or before `start`.
    """

    ordinal: int
    text: str
    start: int
    end: int
    page: int | None
    heading: str | None
    token_ids: list[int]


def split(parsed: ParsedDocument, tokenizer: TokenEncoder, max_tokens: int) -> list[Chunk]:
    """Cut a document into chunks of at most `max_tokens` tokens, in order, with only blanks between them.

    A chunk takes all the sentences that fit. A sentence longer than a chunk is cut at line ends, else between words,
    else between characters. A heading stays with the text after it.

    Raises: ChunkLimitTooSmall if a single character has more tokens than allowed.
    """
    splitter = _Splitter(parsed, tokenizer, max_tokens)
    page_starts = [page.start for page in parsed.pages]
    heading_starts = [heading.start for heading in parsed.headings]
    chunks: list[Chunk] = []
    position = 0
    while visible := _VISIBLE.search(parsed.text, position):
        start = visible.start()
        position, token_ids = splitter.next_end(start)
        page = bisect_right(page_starts, start)
        heading = bisect_right(heading_starts, start)
        chunks.append(
            Chunk(
                ordinal=len(chunks),
                text=parsed.text[start:position],
                start=start,
                end=position,
                page=parsed.pages[page - 1].number if page else None,
                heading=parsed.headings[heading - 1].text if heading else None,
                token_ids=token_ids,
            )
        )
    return chunks


class _Splitter:
    def __init__(self, parsed: ParsedDocument, tokenizer: TokenEncoder, max_tokens: int) -> None:
        self._text = parsed.text
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._headings = [(heading.start, _heading_end(parsed.text, heading)) for heading in parsed.headings]
        bounds = {end for _, end in self._headings} | {_trimmed(self._text, start) for start, _ in self._headings}
        # Sentences are taken as long as they fit; elsewhere nearly full is full.
        slack = max_tokens // 64
        self._levels: tuple[tuple[Sequence[int], int], ...] = (
            (sorted(bounds.union(sentence_ends(self._text)) - {0}), 0),
            ([match.start() for match in _LINE_END.finditer(self._text)], slack),
            ([match.start() for match in _WORD_END.finditer(self._text)], slack),
            (range(len(self._text) + 1), slack),
        )
        self._characters_per_token = 4.0

    def next_end(self, start: int) -> FurthestEnd:
        """The end of the chunk that starts at `start`, and its token ids."""
        only_heading: FurthestEnd | None = None
        ruler = Ruler(self._text, start, self._tokenizer, self._max_tokens, self._characters_per_token)
        for ends, slack_tokens in self._levels:
            found = ruler.furthest(ends, slack_tokens)
            if found is None:
                continue
            self._characters_per_token = (found.end - start) / len(found.token_ids)
            heading = self._trailing_heading(start, found.end)
            if heading is None:
                return found
            if heading > start:
                return self._cut_before(heading, start) or found
            only_heading = only_heading or found
        if only_heading is None:
            raise ChunkLimitTooSmall(
                f"The character at offset {start} has more than {self._max_tokens} tokens.",
                "Raise PREREAD_CHUNK_TOKENS.",
            )
        return only_heading

    def _trailing_heading(self, start: int, end: int) -> int | None:
        """Where the headings begin that would end a chunk, though text follows them."""
        if not _VISIBLE.search(self._text, end):
            return None
        boundary = None
        while (index := bisect_left(self._headings, (end,)) - 1) >= 0:
            heading_start, heading_end = self._headings[index]
            if heading_start < start or _VISIBLE.search(self._text, heading_end, end):
                break
            boundary = end = heading_start
        return boundary

    def _cut_before(self, heading: int, start: int) -> FurthestEnd | None:
        end = _trimmed(self._text, heading)
        token_ids = self._tokenizer.encode(self._text[start:end])
        return FurthestEnd(end, token_ids) if len(token_ids) <= self._max_tokens else None


def _heading_end(text: str, heading: Heading) -> int:
    rest = _HEADING_REST.match(text, heading.start)
    return _trimmed(text, rest.end() if rest else heading.start)


def _trimmed(text: str, end: int) -> int:
    """`end` without the blanks before it."""
    while end and text[end - 1].isspace():
        end -= 1
    return end
