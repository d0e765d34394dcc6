"""How an answer is shown on a terminal."""

import difflib

from rich.markup import escape
from rich.table import Table

from app.web.schemas.ask import AnswerOut, CitationOut

_UNSHOWN = "-"


def citation_line(citation: CitationOut) -> str:
    page = f", page {citation.page}" if citation.page is not None else ""
    quote = " ".join(citation.quote.split())
    return escape(f"[{citation.n}] {citation.title}{page}: “{quote}”")


def cache_line(answer: AnswerOut) -> str:
    """Such as `3 of 4 chunks from cache, first token after 0.4 s`."""
    if not answer.cache.chunks:
        return "no chunk was close enough to the question"
    first = seconds(answer.timings.ttft_ms)
    return f"{answer.cache.hits} of {answer.cache.chunks} chunks from cache, first token after {first}"


def comparison(exact: AnswerOut, fused: AnswerOut) -> Table:
    """The two runs side by side."""
    table = Table("", "exact", f"fused ({escape(fused.policy)})", header_style="bold", box=None, pad_edge=False)
    sooner = seconds(fused.timings.ttft_ms) + _speedup(exact, fused)
    table.add_row("first token", seconds(exact.timings.ttft_ms), sooner)
    table.add_row("tokens reused", count(exact.usage.reused_tokens), count(fused.usage.reused_tokens))
    table.add_row("tokens fresh", count(exact.usage.fresh_tokens), count(fused.usage.fresh_tokens))
    table.add_row("prefix tokens", count(exact.usage.prefix_tokens), count(fused.usage.prefix_tokens))
    table.add_row("whole answer", seconds(exact.timings.total_ms), seconds(fused.timings.total_ms))
    return table


def difference(exact: str, fused: str) -> str:
    """One line on whether the answers' words differ, and where first."""
    ours, theirs = exact.split(), fused.split()
    if ours == theirs:
        return "both answers have the same words"
    for kind, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if kind != "equal":
            return f"the words differ: exact has “{' '.join(ours[a:b])}” where fused has “{' '.join(theirs[c:d])}”"
    raise AssertionError("unequal sequences without a difference")


def seconds(milliseconds: float | None) -> str:
    return _UNSHOWN if milliseconds is None else f"{milliseconds / 1000:.2f} s"


def count(number: int | None) -> str:
    return _UNSHOWN if number is None else f"{number:,}"


def _speedup(exact: AnswerOut, fused: AnswerOut) -> str:
    if not exact.timings.ttft_ms or not fused.timings.ttft_ms:
        return ""
    return f"  ({exact.timings.ttft_ms / fused.timings.ttft_ms:.1f}x sooner)"
