"""The index: whether it is of today's layout, and whether it has outgrown a local folder."""

from app.cli.checks.finding import Finding, Level, failed_by, ok, warn
from app.cli.client import ApiClient
from app.cli.errors import NoApiKey, NotRunning, Refused
from app.cli.state_lock import holder_of
from app.core.errors import PrereadError
from app.core.settings import Settings

_NAME = "index"
_MOST_LOCAL_CHUNKS = 100_000


def check_index(settings: Settings) -> Finding:
    """Through web where it runs: in embedded mode nobody else may open the folder."""
    if settings.qdrant_url and (problem := _check_server(settings)):
        return problem
    try:
        with ApiClient.from_settings(settings) as client:
            readiness, chunks = client.readiness(), client.status().chunks
    except NoApiKey as error:
        return warn(_NAME, f"It cannot be asked: {error.message}", error.hint)
    except (NotRunning, Refused) as error:
        if holder_of(settings.state_dir):
            return warn(_NAME, "It cannot be asked: web does not answer.", error.hint or "See web's log.")
        return _check_closed(settings)
    size = judge_size(chunks, local=not settings.qdrant_url)
    for part in readiness.parts:
        if part.name == "index" and not part.ok:
            return Finding(_NAME, Level.FAIL, part.message or "It does not answer web.", part.hint)
        if part.name == "index" and part.message and size.level is Level.OK:
            return ok(_NAME, part.message)
    return size


def judge_size(chunks: int, *, local: bool) -> Finding:
    if local and chunks > _MOST_LOCAL_CHUNKS:
        return warn(
            _NAME,
            f"{chunks:,} chunks are in a local folder, which is meant for at most {_MOST_LOCAL_CHUNKS:,}.",
            "Searches become slow; set PREREAD_QDRANT_URL to a Qdrant server.",
        )
    return ok(_NAME, f"{chunks:,} chunks")


def _check_server(settings: Settings) -> Finding | None:
    """None: the server answers, and is of a version that the client knows."""
    from retrieval.qdrant_server import FAILURES, address_of, failure, open_client, version_problem

    try:
        client = open_client(settings.qdrant_url, settings.qdrant_api_key.get_secret_value())
        try:
            problem = version_problem(client)
        except FAILURES as error:
            raise failure(address_of(settings.qdrant_url), error) from error
        finally:
            client.close()
    except PrereadError as error:
        return failed_by(_NAME, error)
    return warn(_NAME, problem, "docker-compose.yml names a version that fits.") if problem else None


def _check_closed(settings: Settings) -> Finding:
    """Open the index here, with the embedding model it should fit."""
    if not settings.qdrant_url and not settings.qdrant_dir.exists():
        return ok(_NAME, "not made yet; the first start makes it")
    from retrieval.configured_index import open_index
    from retrieval.embedding import Embedder

    try:
        dimension = Embedder(settings.embedding_model).dimension
        index = open_index(settings, dimension)
        try:
            if older := index.count_older(settings.tenant):
                return warn(
                    _NAME,
                    f"{older:,} chunks are indexed in an older layout or with another embedding model.",
                    "Web re-indexes them once it runs; its log tells when that is done.",
                )
            return judge_size(index.count(settings.tenant), local=not settings.qdrant_url)
        finally:
            index.close()
    except PrereadError as error:
        return failed_by(_NAME, error)
