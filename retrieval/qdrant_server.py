"""A Qdrant server: how it is reached, and what it means when it refuses or does not answer."""

import json
from http import HTTPStatus
from importlib.metadata import version
from urllib.parse import urlsplit

from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.common.version_check import is_compatible
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from retrieval.errors import IndexRefused, IndexUnavailable

TIMEOUT_SECONDS = 30
FAILURES = (ApiException, QdrantException, json.JSONDecodeError, AssertionError)
"""What the client raises where a server refuses or does not answer; the last two where its answer is not Qdrant's."""

_NOT_LET_IN = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


def open_client(url: str, api_key: str = "", timeout_seconds: float = TIMEOUT_SECONDS) -> QdrantClient:
    """A client; nothing is asked yet. Raises: IndexRefused if `url` is no address."""
    try:
        return QdrantClient(
            url=url,
            # Not as `api_key`, which warns of every address without TLS, loopback and private networks included.
            headers={"api-key": api_key} if api_key else None,
            timeout=timeout_seconds,  # type: ignore[arg-type] # it rounds up to whole seconds by itself
            check_compatibility=False,
        )
    except ValueError as error:
        raise IndexRefused(
            f"{url} is no address of a Qdrant server: {error}", "Set PREREAD_QDRANT_URL to http(s)://HOST:6333."
        ) from error


def address_of(url: str) -> str:
    """The URL without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def failure(address: str, error: Exception) -> IndexRefused | IndexUnavailable:
    """What a failed call means: a setting is wrong, or the server does not answer for now."""
    if not isinstance(error, UnexpectedResponse):
        return IndexUnavailable(
            f"The index at {address} does not answer: {error}",
            "Check that Qdrant runs there; the address is PREREAD_QDRANT_URL.",
        )
    reason = _reason(error)
    if error.status_code in _NOT_LET_IN:
        return IndexRefused(
            f"The index at {address} does not let us in: {reason}",
            "Set PREREAD_QDRANT_API_KEY to a key that may write.",
        )
    if error.status_code == HTTPStatus.NOT_FOUND:
        return IndexUnavailable(
            f"The index at {address} has lost a collection: {reason}", "Restart web: it makes the index anew."
        )
    return IndexUnavailable(
        f"The index at {address} answers with status {error.status_code}: {reason}", "See Qdrant's log."
    )


def version_problem(client: QdrantClient) -> str | None:
    """Why the server's version may not do, None if it does. Raises: what is in `FAILURES`."""
    ours, theirs = version("qdrant-client"), client.info().version
    if is_compatible(ours, theirs):
        return None
    return f"The Qdrant server is of version {theirs}, its client here of {ours}: more than one minor version apart."


def _reason(error: UnexpectedResponse) -> str:
    try:
        return str(json.loads(error.content)["status"]["error"])
    except (ValueError, TypeError, KeyError):
        return error.content.decode(errors="replace")[:200] or error.reason_phrase
