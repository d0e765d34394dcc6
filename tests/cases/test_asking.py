"""Questions: what is quoted, what is not found, what does not fit, and scores that are no numbers."""

import math

import pytest
from scripted_engine import piece, usage

from retrieval import search
from retrieval.embedding import Embedder

PAGES = {
    "travel.md": "# Travel\n\nThe travel meal allowance is 45 euros a day.\n\nTrains are booked by the traveller.\n",
    "leave.md": "# Leave\n\nEverybody has 28 days of annual leave. Leave is asked for in the calendar.\n",
    "出張.md": "# 出張\n\n出張の食事手当は一日四十五ユーロです。電車は本人が予約します。\n",
}
QUESTIONS = (
    "What is the travel meal allowance?",
    "How many days of annual leave does everybody have?",
    "Who books trains?",
    "出張の食事手当はいくらですか?",
)
ANSWERS = (
    "It is 45 euros a day [1].",
    "It is 45 euros a day [2], and everybody has 28 days [1][3].",
    "Everybody has 28 days of annual leave, and trains are booked by the traveller.",
    "Nothing that stands there [9].",
    "出張の食事手当は一日四十五ユーロです [1]。",
)
NOT_THERE = {
    "Which zebra won the quantum chess tournament?": "nothing about this in the documents",
    "量子チェス大会で優勝したのはどのシマウマですか?": "見つかりません",
    "Welches Zebra hat das Quantenschachturnier gewonnen und was war der Preis?": "in den Dokumenten",
}


@pytest.fixture(scope="module")
def pages(library):
    for name, text in PAGES.items():
        library.add(name, text)
    library.engine.behave()
    return library


@pytest.fixture
def asking(pages):
    pages.engine.behave()
    return pages


def answer(service, question, **more):
    got = service.client.post("/ask", json={"question": question, **more})
    assert got.status_code == 200, got.text
    return got.json()


class TestQuotes:
    @pytest.mark.parametrize("said", ANSWERS)
    @pytest.mark.parametrize("question", QUESTIONS)
    def test_every_quote_is_found_in_the_document_it_names(self, asking, question, said):
        asking.engine.script = [piece(said), piece("", "stop"), usage(), "[DONE]"]
        done = answer(asking, question, conversation_id="new")
        shown = asking.client.get(f"/conversations/{done['conversation_id']}").json()["items"][0]
        for citation in (*done["citations"], *shown["citations"]):
            text = asking.text(citation["document_id"])
            assert text[citation["start"] : citation["end"]] == citation["quote"] != ""
            assert asking.shown(citation["document_id"])["title"] == citation["title"]
        assert shown["citations"] == done["citations"]

    def test_a_quote_is_found_in_the_new_version_or_not_shown(self, asking):
        document = asking.add("pier.md", "The pier of Marrow Point opens at seven. It is painted blue.")
        asking.engine.script = [piece("It opens at seven [1]."), piece("", "stop"), usage(), "[DONE]"]
        done = answer(asking, "When does the pier of Marrow Point open?", conversation_id="new")
        assert [each["document_id"] for each in done["citations"]] == [document["id"]]
        asking.add("pier.md", "Nobody knows when. The pier of Marrow Point is closed for repairs.")
        shown = asking.client.get(f"/conversations/{done['conversation_id']}").json()["items"][0]
        for citation in shown["citations"]:
            text = asking.text(citation["document_id"])
            assert text[citation["start"] : citation["end"]] == citation["quote"]
        asking.client.delete(f"/documents/{document['id']}")


class TestNotInTheDocuments:
    @pytest.mark.parametrize("question", NOT_THERE)
    def test_is_said_in_the_questions_language_without_asking_the_model(self, asking, question):
        first = answer(asking, QUESTIONS[0], conversation_id="new")
        asked = len(asking.engine.completions)
        for more in ({}, {"conversation_id": first["conversation_id"]}):
            done = answer(asking, question, **more)
            assert (done["status"], done["citations"]) == ("no_answer", [])
            assert NOT_THERE[question] in done["answer"]
        assert len(asking.engine.completions) == asked


class TestTooLong:
    @pytest.mark.parametrize("conversation_id", [None, "new"])
    @pytest.mark.parametrize("stream", [False, True])
    def test_a_question_longer_than_fits_is_refused_with_the_limit_before_any_stream(
        self, asking, stream, conversation_id
    ):
        before = asking.client.get("/conversations").json()["total"]
        body = {"question": "travel meal " * 4000, "stream": stream, "conversation_id": conversation_id}
        got = asking.client.post("/ask", json=body)
        assert (got.status_code, got.json()["code"]) == (422, "question_too_long")
        assert str(asking.engine.max_model_tokens - 256) in got.json()["detail"]
        assert asking.client.get("/conversations").json()["total"] == before, "nor is a conversation begun"


class TestScoresThatAreNoNumbers:
    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_an_embedding_of_no_numbers_is_no_error(self, asking, monkeypatch, value):
        def embed(_embedder, _question):
            return [value] * asking.services.embedder.dimension

        monkeypatch.setattr(Embedder, "embed_query", embed)
        self._finite(asking)

    def test_a_score_that_is_no_number_is_null(self, asking, monkeypatch):
        monkeypatch.setattr(search, "nearness", lambda *_: math.nan)
        self._finite(asking)

    def _finite(self, asking):
        asking.engine.script = [piece("It is 45 euros a day [1]."), piece("", "stop"), usage(), "[DONE]"]
        got = asking.client.post("/ask", json={"question": QUESTIONS[0]})
        assert got.status_code == 200, got.text
        assert all(each["score"] is None or math.isfinite(each["score"]) for each in got.json()["citations"])
        for passage in asking.sources(QUESTIONS[0]):
            assert passage["score"] is None or math.isfinite(passage["score"])
