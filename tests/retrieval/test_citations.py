import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.passages import cite
from retrieval.search import Passage
from retrieval.words import content_words

BRIDGE = "The Sydney Harbour Bridge opened in 1932. It is 503 metres long. Trains cross it."
LEAVE = "# Holiday\n\nEmployees get 25 days of paid leave. Unused days expire in March."
JAPANESE = "有給休暇は年に二十五日です。申請は一週間前までにしてください。"
DOCUMENT = f"Before. {BRIDGE}\n\n{LEAVE}\n\n{JAPANESE} After."


def passage(n: int, text: str) -> Passage:
    start = DOCUMENT.index(text)
    return Passage(n, f"chk_{n}", f"doc_{n}", f"Title {n}", "d.md", n, None, start, start + len(text), text, [1], 0.5)


PASSAGES = [passage(1, BRIDGE), passage(2, LEAVE), passage(3, JAPANESE)]


def quotes(answer: str) -> dict[int, str]:
    return {citation.n: citation.quote for citation in cite(answer, PASSAGES)}


@pytest.mark.parametrize("mark", ["[2]", " [2] ", "[2][2]", "[2, 2]", "[ 9 ][2]"])
def test_a_marked_passage_is_cited_with_the_sentence_that_supports_the_claim(mark: str) -> None:
    assert quotes(f"You have 25 days of leave{mark}.") == {2: "Employees get 25 days of paid leave."}


def test_every_claim_looks_in_the_passage_it_marks() -> None:
    answer = "The bridge is 503 metres long [1]. Unused leave days expire in March. [2]"
    assert quotes(answer) == {1: "It is 503 metres long.", 2: "Unused days expire in March."}


def test_several_passages_in_one_mark() -> None:
    assert sorted(quotes("The bridge opened in 1932 and leave is 25 days [1, 2].")) == [1, 2]


def test_a_citation_says_where_its_quote_stands_in_the_document() -> None:
    (citation,) = cite("It opened in 1932 [1].", PASSAGES)
    assert DOCUMENT[citation.start : citation.end] == citation.quote == "The Sydney Harbour Bridge opened in 1932."
    assert (citation.document_id, citation.title, citation.page) == ("doc_1", "Title 1", 1)
    assert (citation.chunk_id, citation.score) == ("chk_1", 0.5)


def test_an_answer_without_marks_cites_what_supports_it_best() -> None:
    assert quotes("There are 25 days of paid leave.") == {2: "Employees get 25 days of paid leave."}
    assert quotes("1932.") == {1: "The Sydney Harbour Bridge opened in 1932."}


def test_marks_of_passages_that_were_not_there_count_as_none() -> None:
    assert quotes("The bridge is 503 metres long [7].") == {1: "It is 503 metres long."}


def test_japanese_answers_are_supported_by_their_characters() -> None:
    assert quotes("年に二十五日です。") == {3: "有給休暇は年に二十五日です。"}


@pytest.mark.parametrize("answer", ["", "Yes.", "I could not find that in the documents.", "分かりません。", "[7]"])
def test_an_answer_that_nothing_supports_has_no_citation(answer: str) -> None:
    assert quotes(answer) == {}


@given(st.lists(st.sampled_from(["[1]", "[2, 3]", "bridge", "1932", "leave. ", "休暇", "[", "]", "\n\n", "。"])))
def test_every_quote_is_found_in_the_document_it_names(pieces: list[str]) -> None:
    for citation in cite(" ".join(pieces), PASSAGES):
        assert citation.quote
        assert DOCUMENT[citation.start : citation.end] == citation.quote


def test_content_words_leave_out_what_every_sentence_has() -> None:
    assert content_words("It was opened in the years 3.5 and 1,200") == {"open", "year", "3.5", "1,200"}
    assert content_words("有給です") == {"有給", "給で"}
