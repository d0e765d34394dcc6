"""What the commands ask of the web process."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx

from app.cli.errors import NoApiKey, NotRunning, Refused
from app.cli.operator_key import NO_KEY_HINT, command_line_key
from app.cli.sse import ServerEvent, events
from app.core.errors import PrereadError
from app.core.settings import Settings
from app.web.schemas.ask import AnswerOut
from app.web.schemas.documents import DocumentAdded, DocumentOut, DocumentPage, DocumentVectors
from app.web.schemas.jobs import JobOut, JobPageOut, RunOut, RunPageOut
from app.web.schemas.syncs import SyncListOut, SyncOut
from app.web.schemas.system import CacheReport, PrecomputeOut, Readiness, StatusOut
from app.web.schemas.urls import UrlAdded, UrlsAdded

_TIMEOUT = httpx.Timeout(600.0, connect=5.0)
_PAGE = 200
_URLS_AT_ONCE = 10  # so that one request does not last as long as many slow hosts do


class ApiClient:
    """Every call raises NotRunning when nothing answers, Refused when web answers with a problem, and NoApiKey where
    there is no key to send."""

    def __init__(self, url: str, api_key: str = "") -> None:
        self.url = url
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._has_key = bool(api_key)
        self._http = httpx.Client(base_url=url, timeout=_TIMEOUT, trust_env=False, headers=headers)

    @classmethod
    def from_settings(cls, settings: Settings) -> "ApiClient":
        return cls(settings.effective_web_url, command_line_key(settings))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, path: Path, name: str, collections: Sequence[str] = (), tags: Sequence[str] = ()) -> DocumentAdded:
        labels = {"collections": list(collections), "tags": list(tags)}
        with path.open("rb") as file:
            body = self._call("POST", "/documents", files={"file": (name, file)}, data=labels)
        return DocumentAdded.model_validate(body)

    def add_urls(
        self, urls: Sequence[str], collections: Sequence[str] = (), tags: Sequence[str] = ()
    ) -> list[UrlAdded]:
        """One result for each URL, in their order, however many."""
        added: list[UrlAdded] = []
        for start in range(0, len(urls), _URLS_AT_ONCE):
            some = list(urls[start : start + _URLS_AT_ONCE])
            wanted = {"urls": some, "collections": list(collections), "tags": list(tags)}
            added += UrlsAdded.model_validate(self._call("POST", "/documents/urls", json=wanted)).items
        return added

    def document(self, document_id: str) -> DocumentOut:
        return DocumentOut.model_validate(self._call("GET", f"/documents/{document_id}"))

    def documents(self, chosen: Mapping[str, str] | None = None) -> Iterator[DocumentOut]:
        """All of them, page by page, or those that fit: `q`, `state`, `collection`, `tag`."""
        after: str | None = None
        while True:
            params = {"limit": _PAGE, **(chosen or {}), **({"after": after} if after else {})}
            page = DocumentPage.model_validate(self._call("GET", "/documents", params=params))
            yield from page.items
            after = page.following
            if after is None:
                return

    def vectors(self, document_id: str) -> int:
        """How many the index holds of a document, also of one that is gone."""
        return DocumentVectors.model_validate(self._call("GET", f"/documents/{document_id}/vectors")).vectors

    def delete(self, document_id: str) -> None:
        self._call("DELETE", f"/documents/{document_id}")

    def start_sync(self, folder: str | None, *, dry_run: bool, remove_many: bool) -> list[SyncOut]:
        wanted = {"folder": folder, "dry_run": dry_run, "remove_many": remove_many}
        return SyncListOut.model_validate(self._call("POST", "/sync", json=wanted)).items

    def sync(self, sync_id: str) -> SyncOut:
        return SyncOut.model_validate(self._call("GET", f"/sync/{quote(sync_id, safe='')}"))

    def ask(self, body: dict[str, Any]) -> AnswerOut:
        return AnswerOut.model_validate(self._call("POST", "/ask", json={**body, "stream": False}))

    def ask_streaming(self, body: dict[str, Any]) -> Iterator[ServerEvent]:
        """The answer's events as they arrive. Raises Refused for an `error` event or an end without `done`."""
        try:
            with self._http.stream("POST", "/ask", json={**body, "stream": True}) as response:
                if response.is_error:
                    response.read()
                    raise self._refusal(response)
                for event in events(response.iter_lines()):
                    if event.name == "error":
                        raise _refusal_of(event.data)
                    yield event
                    if event.name == "done":
                        return
        except httpx.ConnectError as error:
            raise self._not_running() from error
        except httpx.HTTPError as error:
            raise Refused(f"The answer broke off: {error!r}.", "Ask again.", "broken_stream") from error
        raise Refused("The answer ended before it was complete.", "Ask again.", "broken_stream")

    def precompute(self, mode: str, document_id: str | None) -> PrecomputeOut:
        body = {"mode": mode, "document_id": document_id}
        return PrecomputeOut.model_validate(self._call("POST", "/precompute", json=body))

    def jobs(self, state: str | None) -> Iterator[JobPageOut]:
        """Page by page, at least one."""
        offset = 0
        while True:
            params = {"limit": _PAGE, "offset": offset} | ({"state": state} if state else {})
            page = JobPageOut.model_validate(self._call("GET", "/jobs", params=params))
            yield page
            offset += len(page.items)
            if not page.items or offset >= page.total:
                return

    def retry_job(self, job_id: str) -> JobOut:
        return JobOut.model_validate(self._call("POST", f"/jobs/{quote(job_id, safe='')}/retry"))

    def purge_job(self, job_id: str) -> None:
        self._call("DELETE", f"/jobs/{quote(job_id, safe='')}")

    def runs(self, limit: int) -> RunPageOut:
        return RunPageOut.model_validate(self._call("GET", "/admin/runs", params={"limit": limit}))

    def run(self, run_id: str) -> RunOut:
        return RunOut.model_validate(self._call("GET", f"/admin/runs/{run_id}"))

    def status(self) -> StatusOut:
        return StatusOut.model_validate(self._call("GET", "/status"))

    def cache(self) -> CacheReport:
        return CacheReport.model_validate(self._call("GET", "/admin/cache"))

    def readiness(self) -> Readiness:
        """Also when not ready, which is an answer and no error."""
        response = self._send("GET", "/readyz")
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE or response.is_success:
            return Readiness.model_validate(response.json())
        raise self._refusal(response)

    def _call(self, method: str, path: str, **options: Any) -> Any:
        response = self._send(method, path, **options)
        if response.is_error:
            raise self._refusal(response)
        return response.json() if response.content else None

    def _refusal(self, response: httpx.Response) -> PrereadError:
        if response.status_code == httpx.codes.UNAUTHORIZED and not self._has_key:
            return NoApiKey(f"{self.url} wants an API key.", NO_KEY_HINT)
        return _refusal(response)

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **options)
        except httpx.ConnectError as error:
            raise self._not_running() from error
        except httpx.HTTPError as error:
            raise Refused(f"{self.url} broke off: {error!r}.", "Its log says more.", "no_answer") from error

    def _not_running(self) -> NotRunning:
        return NotRunning(f"Preread is not running at {self.url}.", "Start it: preread up")


def _refusal(response: httpx.Response) -> Refused:
    if response.headers.get("content-type", "").startswith("application/problem+json"):
        return _refusal_of(response.json())
    return Refused(
        f"{response.url} answered {response.status_code}, not as Preread does.",
        "Is another program listening there? PREREAD_PORT and PREREAD_WEB_URL say where Preread is.",
        "not_preread",
    )


def _refusal_of(problem: Any) -> Refused:
    return Refused(problem["detail"], problem.get("hint", ""), problem["code"])
