"""The reranker, where one is set."""

from app.cli.checks.finding import Finding, failed_by, ok
from app.core.errors import PrereadError
from app.core.settings import Settings

_NAME = "reranker"


def check_reranker(settings: Settings) -> Finding:
    """Load it, which takes seconds."""
    if not settings.reranker:
        return ok(_NAME, "none is set; passages keep the order of the search")
    from retrieval.reranking import open_reranker

    try:
        open_reranker(settings)
    except PrereadError as error:
        return failed_by(_NAME, error)
    return ok(_NAME, f"{settings.reranker} orders the best {settings.rerank_candidates} passages of a question")
