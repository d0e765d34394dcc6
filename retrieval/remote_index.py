"""The index as a worker sees it where web owns the local Qdrant folder."""

from collections.abc import Sequence
from http import HTTPStatus

import httpx

from retrieval.errors import DimensionMismatch, IndexRefused, IndexUnavailable
from retrieval.index import EVERYWHERE, Holdings, IndexedChunk, Scope, ScoredChunk, SearchMode
from retrieval.index_wire import (
    SECRET_HEADER,
    Check,
    Count,
    DeleteDocument,
    DeleteVersion,
    IndexCall,
    Json,
    Label,
    Listing,
    Search,
    Upsert,
    found_chunks,
    holdings_of,
    path_of,
    to_json,
)
from retrieval.nearness import Question

_CHUNKS_A_REQUEST = 200
_TIMEOUT_SECONDS = 60


class RemoteIndex:
    """A `ChunkIndex` over HTTP. Safe in several threads.

    Raises IndexUnavailable, and IndexRefused where web does not take the secret or the call: also in place of
    DimensionMismatch, with the same message.
    """

    def __init__(self, web_url: str, secret: str, transport: httpx.BaseTransport | None = None) -> None:
        self._web_url = web_url
        self._http = httpx.Client(
            base_url=web_url, headers={SECRET_HEADER: secret}, timeout=_TIMEOUT_SECONDS, transport=transport
        )

    def close(self) -> None:
        self._http.close()

    def check(self, dimension: int) -> None:
        self._call(Check(dimension))

    def upsert(self, chunks: Sequence[IndexedChunk]) -> None:
        for first in range(0, len(chunks), _CHUNKS_A_REQUEST):
            self._call(Upsert(list(chunks[first : first + _CHUNKS_A_REQUEST])))

    def delete_document(self, tenant: str, document_id: str) -> None:
        self._call(DeleteDocument(tenant, document_id))

    def delete_version(self, tenant: str, document_id: str, version_id: str) -> None:
        self._call(DeleteVersion(tenant, document_id, version_id))

    def label(self, tenant: str, document_id: str, collections: Sequence[str], tags: Sequence[str]) -> None:
        self._call(Label(tenant, document_id, list(collections), list(tags)))

    def search(
        self,
        tenant: str,
        question: Question,
        top_k: int,
        scope: Scope = EVERYWHERE,
        mode: SearchMode = SearchMode.HYBRID,
    ) -> list[ScoredChunk]:
        return found_chunks(self._call(Search(tenant, question, top_k, scope, mode)))

    def count(self, tenant: str, document_id: str | None = None) -> int:
        return int(self._call(Count(tenant, document_id))["count"])

    def holdings(self, after: str | None = None, limit: int = 1000) -> Holdings:
        return holdings_of(self._call(Listing(after, limit)))

    def _call(self, call: IndexCall) -> Json:
        try:
            response = self._http.post(path_of(call), json=to_json(call))
        except httpx.HTTPError as error:
            raise IndexUnavailable(
                f"Web does not answer at {self._web_url}: {error}", "Check that web runs."
            ) from error
        if not response.is_success:
            raise _refusal(response)
        return dict(response.json())


def _refusal(response: httpx.Response) -> IndexRefused | IndexUnavailable:
    """What web's problem means here: broken for now, or wrong until someone changes a setting."""
    problem = response.json() if response.headers.get("content-type", "").startswith("application/problem+json") else {}
    message = problem.get("detail") or f"Web answered an index call with status {response.status_code}."
    if response.status_code == HTTPStatus.NOT_FOUND:
        return IndexRefused(
            "Web does not accept this worker's index calls.",
            "Give both the same PREREAD_INTERNAL_SECRET, and set PREREAD_WEB_URL to where web listens.",
        )
    if response.is_client_error or problem.get("code") == DimensionMismatch.code:
        return IndexRefused(message, problem.get("hint", ""))
    return IndexUnavailable(message, problem.get("hint", "Try again in a moment."))
