import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sentences import sentence_ends, sentence_spans

# Full-width marks are meant.
# ruff: noqa: RUF001


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["One sentence.", "Another one!", "A third?", "“Quoted.”", "(In brackets.)", "End"],
        ["Dr. Smith met J. R. Jones, e.g. on Fig. 3.", "It cost 3.50 euros vs. 4.00 before."],
        ["The U.S. Army came… and went.", "He paused... then spoke."],
    ],
)
def test_english_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_japanese_sentences_need_no_blanks() -> None:
    expected = ["橋は長いです。", "「行こう！」", "本当ですか？", "値は３．５です．", "終わり"]
    assert sentences("".join(expected)) == expected


def test_blank_lines_headings_lists_and_table_rows_end_sentences() -> None:
    text = "A title\n\nwords that\nrun on\n- first\n- second\n1. third\n| a | b |\n| c | d |\n## Heading\nend"
    assert sentences(text) == [
        "A title",
        "words that\nrun on",
        "- first",
        "- second",
        "1. third",
        "| a | b |",
        "| c | d |",
        "## Heading\nend",
    ]


@given(st.text(alphabet="aB. !?\n。「」|#-1)\t", max_size=80))
def test_sentences_cover_everything_visible_once_and_in_order(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert [end for _, end in spans] == sentence_ends(text) == sorted(set(sentence_ends(text)))
