from io import StringIO

from rich.console import Console

from app.cli.answer_view import cache_line, citation_line, comparison, difference
from app.web.schemas.ask import AnswerOut, CacheOut, CitationOut, FusionOut, Timings, Usage


def answer(text: str = "45 euros a day", ttft_ms: float | None = 400.0, reused: int | None = 1400) -> AnswerOut:
    return AnswerOut(
        request_id="req_1",
        answer=text,
        status="answered",
        citations=[],
        usage=Usage(prompt_tokens=1600, completion_tokens=9, reused_tokens=reused, fresh_tokens=48, prefix_tokens=None),
        timings=Timings(
            retrieval_ms=9.0, load_ms=1.0, select_ms=None, recompute_ms=2.0, ttft_ms=ttft_ms, total_ms=900.0
        ),
        cache=CacheOut(chunks=4, hits=3, misses=[]),
        model="tiny",
        policy="head@16",
        fusion=FusionOut(used=True, reason=None),
    )


def shown(renderable: object) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(renderable)
    return console.file.getvalue()


def test_the_cache_line_says_hits_and_the_wait() -> None:
    assert cache_line(answer()) == "3 of 4 chunks from cache, first token after 0.40 s"


def test_the_comparison_shows_both_waits_and_how_much_sooner() -> None:
    table = shown(comparison(answer(ttft_ms=4000.0, reused=0), answer()))
    assert "4.00 s" in table
    assert "0.40 s  (10.0x sooner)" in table
    assert "1,400" in table


def test_what_is_not_known_is_not_shown_as_a_number() -> None:
    table = shown(comparison(answer(ttft_ms=None, reused=None), answer()))
    assert "sooner" not in table
    assert " - " in table


def test_answers_are_compared_by_words() -> None:
    assert difference("45 euros a\nday", "45 euros a day") == "both answers have the same words"
    assert "“45” where fused has “54”" in difference("45 euros a day", "54 euros a day")
    assert "“” where fused has “now”" in difference("45 euros", "45 euros now")


def test_a_citation_is_shown_as_it_is_whatever_brackets_it_has() -> None:
    citation = CitationOut(
        n=2, document_id="d", title="[bold]Travel", page=3, chunk_id="c", start=0, end=9, quote="a\n b [1]", score=0.5
    )
    assert shown(citation_line(citation)).strip() == "[2] [bold]Travel, page 3: “a b [1]”"
