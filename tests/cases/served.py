"""The real application, spoken to over HTTP, with what workers do called in this process."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from credentials import admin_headers
from fastapi.testclient import TestClient
from scripted_engine import ScriptedEngine
from sqlalchemy import func, select
from staging_engine import FINGERPRINT, StagingEngine

from app.core.catalog.models import StoredChunk
from app.core.settings import Settings
from app.web.main import create_app
from app.web.services import Services
from benchmarks.reading_services import worker_context
from kvstore.codecs.codecs import Codecs
from kvstore.profiles import Profiles
from workers.context import WorkerContext
from workers.ingest import ingest
from workers.pieces import Pieces
from workers.preread import preread
from workers.purge import Purge


@dataclass
class Served:
    """`engine` answers questions; `staging` makes up KV for each chunk that workers pre-read."""

    client: TestClient
    services: Services
    engine: ScriptedEngine
    staging: StagingEngine

    @property
    def tenant(self) -> str:
        return self.services.settings.tenant

    @property
    def context(self) -> WorkerContext:
        """A worker's, over the same stores."""
        engine, purge = self.staging, self.services.purge
        purge = Purge(purge.catalog, purge.index, purge.store, engine, purge.files, purge.staging_dir)
        return replace(worker_context(self.services, Codecs(Profiles([]))), engine=engine, purge=purge)

    def upload(self, name: str, data: bytes | str) -> dict[str, Any]:
        """The answer to it: `document` and `created`."""
        data = data.encode() if isinstance(data, str) else data
        answer = self.client.post("/documents", files={"file": (name, data)})
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def add(self, name: str, data: bytes | str) -> dict[str, Any]:
        """Upload it and have a worker read it in; what the API shows of it then."""
        document_id = self.upload(name, data)["document"]["id"]
        ingest(document_id, self.context)
        return self.shown(document_id)

    def preread(self, document_id: str) -> None:
        while preread(document_id, self.context):
            pass

    def preread_some(self, document_id: str) -> bool:
        """A slice of about two chunks; whether there is more to do."""
        return preread(document_id, self.context, slice_seconds=1.5, clock=partial(next, count()))

    def shown(self, document_id: str) -> dict[str, Any]:
        answer = self.client.get(f"/documents/{document_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def text(self, document_id: str) -> str:
        answer = self.client.get(f"/documents/{document_id}/text")
        assert answer.status_code == 200, answer.text
        return answer.content.decode()

    def sources(self, question: str, **more: Any) -> list[dict[str, Any]]:
        """The passages that the question is answered from."""
        with self.client.stream("POST", "/ask", json={"question": question, "stream": True, **more}) as answer:
            lines = list(answer.iter_lines())
        return _data_of(lines, "sources")["passages"]

    def of_tenant(self, tenant: str) -> WorkerContext:
        """Another tenant's worker over the same stores."""
        settings = self.services.settings.model_copy(update={"tenant": tenant})
        return replace(self.context, settings=settings)

    def left(self) -> dict[str, int]:
        """Everything that documents leave in any store, counted; what all share is none of theirs."""
        settings = self.services.settings
        neutral = settings.model_copy(update={"conditioning": "neutral"})
        pieces = Pieces(replace(self.context, settings=neutral), FINGERPRINT)
        shared = {piece.identity.key for piece in pieces.fixed()}
        return {
            "documents": self.client.get("/documents").json()["total"],
            "jobs": self.client.get("/jobs").json()["total"],
            "chunks": self._chunk_rows(),
            "vectors": self.services.index.count(self.tenant),
            "files": files_under(settings.files_dir),
            "staged": files_under(settings.effective_staging_dir),
            "kv": sum(path.stem not in shared for path in settings.effective_kv_dir.rglob("*.kv")),
        }

    def _chunk_rows(self) -> int:
        """Of every version, those that answer nobody too."""
        query = select(func.count()).select_from(StoredChunk).where(StoredChunk.tenant == self.tenant)
        with self.services.catalog._read() as session:
            return session.scalar(query) or 0


def files_under(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


@contextmanager
def served(state_dir: Path, engine: ScriptedEngine, **settings: Any) -> Iterator[Served]:
    app = create_app(Settings(_env_file=None, state_dir=state_dir, engine_url=engine.url, **settings))
    with TestClient(app) as client:
        services = app.state.services
        client.headers.update(admin_headers(services.catalog, services.settings.tenant))
        yield Served(client, services, engine, StagingEngine(services.settings.effective_staging_dir))


def _data_of(lines: list[str], event: str) -> dict[str, Any]:
    at = lines.index(f"event: {event}")
    return json.loads(lines[at + 1].removeprefix("data: "))
