"""Where an answer comes from, told in its text and as annotations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.web.schemas.ask import CitationOut
from app.web.schemas.openai import Annotation, UrlCitation

Where = Literal["text", "annotations", "both"]


@dataclass(frozen=True)
class Sources:
    """`suffix` goes behind the answer."""

    suffix: str
    annotations: list[Annotation]


def sources_of(text: str, citations: Sequence[CitationOut], where: Where, base_url: str) -> Sources:
    """Each annotation stands at the passage's mark in the text or in the list behind it, else at the whole text."""
    lines = [f"[{each.n}] {_label(each)}: {_url(each, base_url)}" for each in citations]
    suffix = "\n\nSources:\n" + "\n".join(lines) if lines and where != "annotations" else ""
    annotations = [] if where == "text" else [_annotation(each, text, suffix, base_url) for each in citations]
    return Sources(suffix, annotations)


def _annotation(citation: CitationOut, text: str, suffix: str, base_url: str) -> Annotation:
    mark = f"[{citation.n}]"
    start = (text + suffix).find(mark)
    first, last = (0, len(text)) if start < 0 else (start, start + len(mark))
    return Annotation(
        type="url_citation",
        url_citation=UrlCitation(
            url=_url(citation, base_url), title=citation.title, start_index=first, end_index=last
        ),
    )


def _label(citation: CitationOut) -> str:
    title = " ".join(citation.title.split())
    return title if citation.page is None else f"{title}, page {citation.page}"


def _url(citation: CitationOut, base_url: str) -> str:
    return f"{base_url}documents/{citation.document_id}/text#{citation.start}-{citation.end}"
