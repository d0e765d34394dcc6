"""Everything the web process works with, opened once at start."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi.concurrency import run_in_threadpool

from app.core.catalog import Catalog, CountedReadings
from app.core.settings import Settings
from generator.chat import ModelTokenizer
from generator.conditioning import Conditioning, readings_of_every_chunk
from generator.engine import EngineClient
from generator.engines import Engines
from generator.fingerprint import model_fingerprint
from generator.in_force import effective_conditioning, effective_policy
from generator.model_source import resolve_model
from generator.preamble import Preamble, build_preamble
from kvstore.store import ChunkStore
from kvstore.tiers.configured import TierOptions
from kvstore.tiers.probes import Probe, tier_probes
from retrieval.configured_index import open_index
from retrieval.embedding import Embedder
from retrieval.index import ChunkIndex, OwnedIndex, SearchMode
from retrieval.remote_index import RemoteIndex
from retrieval.reranking import open_reranker
from retrieval.search import Retriever
from workers.broker import make_celery
from workers.context import build_store
from workers.files import DocumentFiles
from workers.internal_secret import internal_secret
from workers.purge import Purge
from workers.reindex import Reindexing
from workers.wake import Waker

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """`reindexing`: None where another web process owns the index.

    `stopping` is set when the server is asked to stop: open streams then end with an error event.
    """

    settings: Settings
    catalog: Catalog
    files: DocumentFiles
    tokenizer: ModelTokenizer
    preamble: Preamble
    fingerprint: str
    embedder: Embedder
    index: ChunkIndex
    retriever: Retriever
    store: ChunkStore
    engine: EngineClient
    purge: Purge
    waker: Waker
    kv_probes: Mapping[str, Probe]
    reindexing: Reindexing | None
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def conditioning(self) -> Conditioning:
        """What is in force for this model."""
        return effective_conditioning(self.settings, self.fingerprint)

    @property
    def default_policy(self) -> str:
        """What is in force for this model when a request names no policy."""
        return effective_policy(self.settings, self.fingerprint)

    @property
    def counted_readings(self) -> CountedReadings:
        """Those that a chunk must have to count as pre-read."""
        readings = readings_of_every_chunk(self.conditioning, self.settings.opening_readings)
        return CountedReadings(readings, self.fingerprint, self.preamble.hash)

    async def close(self) -> None:
        await self.engine.aclose()
        if self.reindexing is not None:
            await run_in_threadpool(self.reindexing.stop)
        self.index.close()
        self.catalog.close()


def open_services(settings: Settings) -> Services:
    """Blocking: loads the embedding model and the language model's tokenizer, migrates the database."""
    catalog = Catalog(settings.effective_database_url)
    catalog.migrate()
    model = resolve_model(settings)
    tokenizer = ModelTokenizer(model)
    embedder = Embedder(settings.embedding_model)
    reranker = open_reranker(settings)
    owned = _owned_index(settings, embedder)
    index: ChunkIndex = owned or RemoteIndex(settings.index_url, internal_secret(settings))
    files = DocumentFiles(settings.files_dir)
    store = build_store(settings)
    engine = EngineClient(settings.effective_engine_url)
    reindexing = Reindexing(catalog, owned, embedder, settings) if owned is not None else None
    if reindexing is not None:
        reindexing.start()
    return Services(
        settings=settings,
        catalog=catalog,
        files=files,
        tokenizer=tokenizer,
        preamble=build_preamble(tokenizer, settings),
        fingerprint=model_fingerprint(model, settings.effective_dtype),
        embedder=embedder,
        index=index,
        retriever=Retriever(embedder, index, catalog, SearchMode(settings.search_mode), settings.diversity, reranker),
        store=store,
        engine=engine,
        purge=Purge(catalog, index, store, Engines.from_settings(settings), files, settings.effective_staging_dir),
        waker=Waker(make_celery(settings)),
        kv_probes=tier_probes(TierOptions.from_settings(settings)),
        reindexing=reindexing,
    )


def _owned_index(settings: Settings, embedder: Embedder) -> OwnedIndex | None:
    """None: the Qdrant folder belongs to the web process at `index_url`."""
    if settings.index_url and not settings.qdrant_url:
        return None
    return open_index(settings, embedder.dimension)
