"""What must hold of the library once nothing is left to do."""

import json

import httpx
from findings import Findings
from running_stack import RunningStack
from shelf import Shelf
from state import StackState

from app.core.catalog import DocumentState
from retrieval.remote_index import RemoteIndex


class LibraryChecks:
    def __init__(
        self, stack: RunningStack, http: httpx.Client, state: StackState, shelf: Shelf, findings: Findings
    ) -> None:
        self._stack = stack
        self._http = http
        self._state = state
        self._shelf = shelf
        self._findings = findings
        settings = stack.settings
        self._index = RemoteIndex(settings.effective_web_url, settings.internal_secret.get_secret_value())

    def close(self) -> None:
        self._index.close()

    def check_all(self) -> None:
        self._check_documents()
        self._check_vectors()
        self._check_deleted()
        self._check_jobs()
        self._check_chunk_kv()

    def _check_documents(self) -> None:
        check, known = self._findings.check, self._state.documents()
        held = self._shelf.held()
        strangers = set(known) - {each.document_id for each in held}
        check("no documents but those the client was told of", not strangers, f"{sorted(strangers)}")
        for each in held:
            document = known.get(each.document_id)
            told = f"{each.document_id} ({each.page.name}): {document}"
            if not check("no document is lost", document is not None, told):
                continue
            assert document is not None
            newest = self._state.current_sha256(document) == each.page.sha256 and document.pending_version_id is None
            check("documents are of the newest revision", newest, told)
            shown = self._http.get(f"/documents/{each.document_id}").json()
            read = document.state is DocumentState.PREREAD and shown["chunks_ready"] == shown["chunks"] > 0
            check("documents are pre-read", read, f"{told}; shown as {shown}")
        retired = self._state.retired_versions()
        check("no replaced revisions are left", retired == 0, f"{retired} are")

    def _check_vectors(self) -> None:
        check, total = self._findings.check, 0
        for document in self._state.documents().values():
            vectors, chunks = self._state.vectors(document.id), self._state.chunk_count(document)
            total += chunks
            check("each chunk has one vector", vectors == chunks, f"{document.id}: {vectors} of {chunks} chunks")
        vectors = self._index.count(self._state.tenant)
        check("no vectors of anything else", vectors == total, f"{vectors} of {total} chunks")

    def _check_deleted(self) -> None:
        check = self._findings.check
        for gone in self._shelf.gone():
            rows = self._state.rows_of(gone.document_id)
            check("no rows of what was deleted", not rows, f"{gone.document_id}: {rows}")
            files = self._state.files_named(gone.document_id)
            check("no files of what was deleted", not files, f"{gone.document_id}: {files}")
            code = self._http.get(f"/documents/{gone.document_id}").status_code
            check("what was deleted is not shown", code == 404, f"{gone.document_id}: {code}")
        left = self._state.files_with(self._shelf.forbidden_marks())
        check("no text of what was deleted or replaced", not left, "; ".join(left))

    def _check_jobs(self) -> None:
        jobs = self._http.get("/jobs").json()
        dead = [job for job in jobs["items"] if job["state"] == "dead"]
        self._findings.check("nothing was given up", not dead, json.dumps(dead))
        self._findings.check("no message was dropped", not jobs["dropped"], json.dumps(jobs["dropped"]))

    def _check_chunk_kv(self) -> None:
        done = self._stack.run("verify", "--json")
        self._findings.check("chunk KV and catalog agree", done.code == 0, f"preread verify: {done.out} {done.err}")
        staged = self._state.staged()
        self._findings.check("no raw captures are left", not staged, f"{staged}")
