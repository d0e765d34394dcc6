"""The stack's state as it lies in its folder: database, files, tiers. Asked directly, since web may be dead."""

import json
from dataclasses import replace
from pathlib import Path

import httpx
from sqlalchemy import MetaData, create_engine, func, or_, select

from app.core.catalog import Catalog, Document, DocumentNotFound, DocumentState, VersionState
from app.core.settings import Settings
from kvstore.tiers.configured import TierOptions, tier_makers
from workers.files import DocumentFiles
from workers.proof import Places, Proof, prove

_MOST = 1000
_EVIDENCE = ("tombstones",)
"""Tables that keep a deleted document's id on purpose: the proof of its deletion."""


class StackState:
    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.tenant = settings.tenant
        self.catalog = Catalog(settings.effective_database_url)
        self._http = http
        self._folder = settings.state_dir
        self._staging = settings.effective_staging_dir
        self._files = settings.files_dir
        self._database = create_engine(settings.effective_database_url)
        self._places = Places(
            self.catalog,
            tier_makers(replace(TierOptions.from_settings(settings), read_only=True), ""),
            self.vectors,
            DocumentFiles(settings.files_dir),
            settings.effective_staging_dir,
        )

    def close(self) -> None:
        self.catalog.close()
        self._database.dispose()

    def documents(self) -> dict[str, Document]:
        """All of them, those being deleted included."""
        return {each.id: each for each in self.catalog.list_documents(self.tenant, _MOST).items}

    def document(self, document_id: str) -> Document | None:
        try:
            return self.catalog.get_document(self.tenant, document_id)
        except DocumentNotFound:
            return None

    def chunks_ready(self, document_id: str) -> int:
        try:
            return self.catalog.document_row(self.tenant, document_id).chunks_ready
        except DocumentNotFound:
            return 0

    def progress(self) -> tuple[object, ...]:
        """Anything that moves while work is being done."""
        documents = tuple(sorted((each.id, each.state, each.updated_at) for each in self.documents().values()))
        return documents, tuple(sorted(self.catalog.reading_counts(self.tenant).items()))

    def unfinished(self) -> dict[str, str]:
        """What is still to be done: documents that are neither pre-read nor given up, and runs that are open."""
        settled = (DocumentState.PREREAD, DocumentState.FAILED)
        documents = {
            each.id: f"{each.state} since {each.updated_at:%H:%M:%S}, held until {each.claim_until}"
            for each in self.documents().values()
            if each.state not in settled
        }
        runs = self._http.get("/admin/runs", params={"limit": 1}).raise_for_status().json()["items"]
        return documents | {run["id"]: json.dumps(run) for run in runs if run["state"] == "running"}

    def current_sha256(self, document: Document) -> str | None:
        version = document.current_version_id and self.catalog.get_version(document.current_version_id)
        return version.sha256 if version and version.state is VersionState.CURRENT else None

    def chunk_count(self, document: Document) -> int:
        return len(self.catalog.chunks_of(document.current_version_id)) if document.current_version_id else 0

    def vectors(self, document_id: str) -> int:
        answer = self._http.get(f"/documents/{document_id}/vectors").raise_for_status()
        return int(answer.json()["vectors"])

    def proof(self, document_id: str) -> Proof:
        """Raises DocumentNotFound."""
        return prove(self.tenant, document_id, self._places)

    def rows_of(self, document_id: str) -> dict[str, int]:
        """Rows of any table that name the document, apart from the evidence of its deletion."""
        metadata = MetaData()
        found = {}
        with self._database.connect() as connection:
            metadata.reflect(connection)
            for name, table in metadata.tables.items():
                naming = [
                    column == document_id
                    for column in table.columns
                    if column.name == "document_id" or (name == "documents" and column.name == "id")
                ]
                if naming and name not in _EVIDENCE:
                    count = select(func.count()).select_from(table).where(or_(*naming))
                    found[name] = connection.execute(count).scalar_one()
        return {name: count for name, count in found.items() if count}

    def retired_versions(self) -> int:
        return sum(len(self.catalog.retired_versions(document_id)) for document_id in self.documents())

    def files_named(self, document_id: str) -> list[Path]:
        """Files that are named after the document or after chunk KV that only it had, finished or not."""
        tombstones = self.catalog.standing_tombstones(
            self.tenant, [each.key for each in self.catalog.tombstones_of(self.tenant, document_id) if each.key]
        )
        names = [document_id, *(each.key for each in tombstones)]
        return [path for path in self._all_files() if any(name in str(path) for name in names)]

    def files_with(self, marks: dict[str, str]) -> list[str]:
        """Uploaded files and texts that hold one of `marks`, told with what it stands for."""
        found = []
        for path in self._files.rglob("*"):
            try:
                data = path.read_bytes() if path.is_file() else b""
            except FileNotFoundError:
                continue
            found += [f"{path}: {what}" for mark, what in marks.items() if mark.encode() in data]
        return found

    def staged(self) -> list[str]:
        return [path.name for path in self._staging.iterdir() if path.is_file()] if self._staging.is_dir() else []

    def _all_files(self) -> list[Path]:
        return [path for path in self._folder.rglob("*") if path.is_file() and path.parent.name != "log"]
