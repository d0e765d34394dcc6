"""Chunks: exact token ids, never over the limit, nothing lost."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from retrieval.chunking import Chunk, split
from retrieval.errors import ChunkLimitTooSmall
from retrieval.parsing import Heading, PageSpan, ParsedDocument, parse
from retrieval.sentences import sentence_ends


class BytePairs:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)


class Letters:
    """One token for each character, blanks included."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]


@pytest.fixture(scope="session")
def byte_pairs(byte_level_bpe: Tokenizer) -> BytePairs:
    return BytePairs(byte_level_bpe)


def plain(text: str) -> ParsedDocument:
    return ParsedDocument("Title", "text/plain", text)


def check(chunks: list[Chunk], parsed: ParsedDocument, tokenizer: BytePairs | Letters, max_tokens: int) -> None:
    """Everything that must hold for the chunks of any document."""
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert "".join("".join(chunk.text for chunk in chunks).split()) == "".join(parsed.text.split())
    assert all(left.end <= right.start for left, right in pairwise(chunks))
    for chunk in chunks:
        assert chunk.text == parsed.text[chunk.start : chunk.end] == chunk.text.strip()
        assert chunk.token_ids == tokenizer.encode(chunk.text)
        assert 0 < len(chunk.token_ids) <= max_tokens


TEXTS = st.text(alphabet=st.sampled_from("ab .!?\n橋。、\t#-é🎉"), max_size=200)


@settings(deadline=None)
@given(text=TEXTS, max_tokens=st.integers(4, 60), heading=st.integers(0, 200))
def test_chunks_are_exact_within_the_limit_and_complete(
    byte_pairs: BytePairs, text: str, max_tokens: int, heading: int
) -> None:
    headings = (Heading(heading, 1, "H"),) if heading < len(text) else ()
    parsed = ParsedDocument("Title", "text/plain", text, headings=headings)
    check(split(parsed, byte_pairs, max_tokens), parsed, byte_pairs, max_tokens)


@settings(deadline=None)
@given(words=st.lists(st.text("xyz", min_size=2, max_size=6), min_size=1, max_size=60), max_tokens=st.integers(10, 50))
def test_chunks_end_at_sentence_ends_and_take_all_sentences_that_fit(words: list[str], max_tokens: int) -> None:
    parsed = plain(" ".join(f"{word.capitalize()}." for word in words))
    chunks = split(parsed, Letters(), max_tokens)
    ends = sentence_ends(parsed.text)
    for chunk, after in pairwise(chunks):
        assert chunk.end in ends
        next_end = next(end for end in ends if end > after.start)
        assert next_end - chunk.start > max_tokens


def test_a_long_sentence_is_cut_at_lines_then_words_then_characters() -> None:
    def texts(text: str, max_tokens: int) -> list[str]:
        return [chunk.text for chunk in split(plain(text), Letters(), max_tokens)]

    assert texts("no full\nstop in here", 10) == ["no full", "stop in", "here"]
    assert texts("one two three", 8) == ["one two", "three"]
    assert texts("incomprehensibilities", 9) == ["incompreh", "ensibilit", "ies"]
    assert texts("長い文章には句点がありません", 5) == ["長い文章に", "は句点があ", "りません"]


def test_japanese_text_is_cut_at_its_sentence_ends() -> None:
    parsed = plain("橋は長いです。川は広いです。海は青いです。山は高い。")
    assert [chunk.text for chunk in split(parsed, Letters(), 15)] == [
        "橋は長いです。川は広いです。",
        "海は青いです。山は高い。",
    ]


def test_a_heading_goes_with_the_text_after_it() -> None:
    parsed = parse(b"First words here.\n\n# Part\n\n## Section\n\nSecond words here.\n", "a.md")
    chunks = split(parsed, Letters(), 40)
    assert [chunk.text for chunk in chunks] == ["First words here.", "# Part\n\n## Section\n\nSecond words here."]
    assert [chunk.heading for chunk in chunks] == [None, "Part"]


def test_a_heading_is_not_left_alone_before_a_sentence_that_must_be_cut() -> None:
    parsed = parse(b"# Part\n\na sentence that is too long for one chunk of letters", "a.md")
    chunks = split(parsed, Letters(), 24)
    assert chunks[0].text == "# Part\n\na sentence that"
    check(chunks, parsed, Letters(), 24)


def test_a_chunk_knows_the_page_and_the_heading_where_it_starts() -> None:
    text = "One. Two.\n\nThree. Four."
    parsed = ParsedDocument(
        "T", "application/pdf", text, (PageSpan(1, 0, 9), PageSpan(2, 11, 23)), (Heading(5, 1, "Two."),)
    )
    chunks = split(parsed, Letters(), 6)
    assert [(chunk.text, chunk.page, chunk.heading) for chunk in chunks] == [
        ("One.", 1, None),
        ("Two.", 1, "Two."),
        ("Three.", 2, "Two."),
        ("Four.", 2, "Two."),
    ]


def test_a_limit_under_one_character_is_an_error(byte_pairs: BytePairs) -> None:
    with pytest.raises(ChunkLimitTooSmall, match="offset 2"):
        split(plain("a 🎉"), byte_pairs, 2)


@pytest.mark.parametrize(
    "text",
    [
        "The bridge was built in 1932. It is long.\n\n" * 23_000,
        "words without any end " * 45_000,
        "橋は一九三二年に建てられました。" * 30_000,
        " " * 1_000_000 + "x",
    ],
    ids=["sentences", "one sentence", "japanese", "blanks"],
)
def test_a_megabyte_is_cut_in_seconds(byte_pairs: BytePairs, text: str) -> None:
    parsed = plain(text)
    started = time.process_time()
    chunks = split(parsed, byte_pairs, 512)
    assert time.process_time() - started < 15  # about 2 on an idle core; quadratic work would take minutes
    check(chunks, parsed, byte_pairs, 512)
