import io
from dataclasses import dataclass, field, replace

import pytest
from folder_rig import Folder
from staging_engine import FINGERPRINT, StagingEngine

from app.core.catalog import Catalog, Document
from app.core.settings import Settings
from generator.chat import ModelTokenizer
from generator.model_source import resolve_model
from generator.preamble import build_preamble
from kvstore.codecs.codecs import Codecs
from kvstore.profiles import Profiles
from kvstore.store import ChunkStore
from kvstore.tiers.disk import DiskTier
from retrieval.embedding import Embedder
from retrieval.qdrant_index import QdrantIndex
from workers.context import WorkerContext
from workers.files import DocumentFiles
from workers.pieces import Pieces
from workers.purge import Purge
from workers.sync import sync_next


@dataclass
class NotingWaker:
    """Keeps what a broker would carry."""

    woken: list[tuple[str, str]] = field(default_factory=list)
    runs: int = 0
    syncs: int = 0

    def wake_ingest(self, document_id: str) -> bool:
        self.woken.append(("ingest", document_id))
        return True

    def wake_preread(self, document_id: str) -> bool:
        self.woken.append(("preread", document_id))
        return True

    def wake_missed(self, document_id: str) -> bool:
        self.woken.append(("missed", document_id))
        return True

    def wake_delete(self, document_id: str) -> bool:
        self.woken.append(("delete", document_id))
        return True

    def wake_sync(self) -> bool:
        self.syncs += 1
        return True

    def wake_run(self, priority: int = 0) -> bool:
        self.runs += 1
        return True


@pytest.fixture(scope="session")
def tokenizer():
    return ModelTokenizer(resolve_model(Settings()))


@pytest.fixture(scope="session")
def embedder():
    return Embedder(Settings().embedding_model)


@pytest.fixture
def context(tmp_path, tokenizer, embedder):
    settings = Settings(state_dir=tmp_path / "state", chunk_tokens=48)
    catalog = Catalog(settings.effective_database_url)
    catalog.migrate()
    index = QdrantIndex.open_local(settings.qdrant_dir, embedder.dimension, settings.embedding_model)
    store = ChunkStore([DiskTier(settings.effective_kv_dir, settings.kv_disk_bytes)])
    engine = StagingEngine(settings.effective_staging_dir)
    files = DocumentFiles(settings.files_dir)
    yield WorkerContext(
        settings=settings,
        catalog=catalog,
        files=files,
        tokenizer=tokenizer,
        preamble=build_preamble(tokenizer, settings),
        embedder=embedder,
        index=index,
        store=store,
        engine=engine,
        purge=Purge(catalog, index, store, engine, files, settings.effective_staging_dir),
        waker=NotingWaker(),
        codecs=Codecs(Profiles([])),
    )
    index.close()
    catalog.close()


@pytest.fixture
def one_at_a_time(context):
    """The same, where no reading is begun before the last one is done."""
    return replace(context, settings=context.settings.model_copy(update={"readings_in_flight": 1}))


@pytest.fixture
def add(context):
    """Add a document as web does."""

    def add(name: str, data: bytes | str, tenant: str = context.settings.tenant) -> Document:
        incoming = context.files.receive(io.BytesIO(data.encode() if isinstance(data, str) else data), 10**7)
        document, _ = context.catalog.add_document(tenant, name, incoming.sha256, "text/plain", incoming.size_bytes)
        context.files.keep(incoming, tenant, document.id)
        return document

    return add


@pytest.fixture
def leftovers(context):
    """Everything that documents leave behind, counted; what is pre-read for all of them belongs to none."""

    def count() -> dict[str, int]:
        tenant = context.settings.tenant
        root = context.settings.state_dir
        neutral = context.settings.model_copy(update={"conditioning": "neutral"})
        fixed = {piece.identity.key for piece in Pieces(replace(context, settings=neutral), FINGERPRINT).fixed()}
        return {
            "documents": context.catalog.list_documents(tenant).total,
            "vectors": context.index.count(tenant),
            "files": sum(path.is_file() for path in (root / "files").rglob("*")),
            "kv": sum(path.stem not in fixed for path in (root / "kv").rglob("*.kv")),
            "staged": sum(path.is_file() for path in (root / "staging").rglob("*")),
        }

    return count


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "folder"
    root.mkdir()
    return Folder(root)


@pytest.fixture
def sync(context):
    """Sync the folder “docs” to the end; the report."""

    def sync(**wanted):
        asked = context.catalog.want_sync(context.settings.tenant, "docs", **wanted)
        while sync_next(context):
            pass
        ended = context.catalog.get_sync(context.settings.tenant, asked.id)
        assert ended.ended_at
        return ended.report

    return sync
