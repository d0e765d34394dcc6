"""What the tasks of one worker process work with, built once, after the fork."""

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from app.core.catalog import Catalog
from app.core.settings import Settings, get_settings
from generator.chat import ModelTokenizer
from generator.chunk_reader import ChunkReader
from generator.engine import EngineClient, EngineStatus
from generator.engines import Engines, require_same_model
from generator.errors import EngineFailed, EngineUnavailable
from generator.model_source import resolve_model
from generator.preamble import Preamble, build_preamble
from kvstore.codecs.codecs import Codecs
from kvstore.store import ChunkStore
from kvstore.tiers.configured import TierOptions, configured_tiers
from retrieval.configured_index import open_index
from retrieval.embedding import Embedder
from retrieval.index import ChunkIndex
from retrieval.remote_index import RemoteIndex
from workers.broker import make_celery
from workers.files import DocumentFiles
from workers.internal_secret import internal_secret
from workers.purge import Purge
from workers.read_only import require_writing
from workers.wake import Waker


@dataclass(frozen=True)
class WorkerContext:
    """`engine` pre-reads; `answering` answers questions, where that is another."""

    settings: Settings
    catalog: Catalog
    files: DocumentFiles
    tokenizer: ModelTokenizer
    preamble: Preamble
    embedder: Embedder
    index: ChunkIndex
    store: ChunkStore
    engine: EngineClient
    purge: Purge
    waker: Waker
    codecs: Codecs
    answering: EngineClient | None = None

    def engine_status(self) -> EngineStatus:
        """Of the engine that pre-reads.

        Raises EngineUnavailable, EngineFailed, and EnginesDiffer where the engine that answers runs another model; one
        that does not answer is not waited for.
        """
        status = self.engine.status()
        if self.answering is not None:
            with suppress(EngineUnavailable, EngineFailed):
                require_same_model(status, self.answering.status())
        return status

    @property
    def reader(self) -> ChunkReader:
        return ChunkReader(self.engine, self.store, self.settings.effective_staging_dir, self.preamble)


def build_context(settings: Settings) -> WorkerContext:
    """Opens everything; loads the embedding model and the language model's tokenizer, not its weights.

    Raises: ReadOnlyWorker, NoInternalSecret.
    """
    require_writing(settings)
    tokenizer = ModelTokenizer(resolve_model(settings))
    catalog = Catalog(settings.effective_database_url)
    files = DocumentFiles(settings.files_dir)
    embedder = Embedder(settings.embedding_model)
    store = build_store(settings)
    engine = EngineClient(settings.effective_worker_engine_url)
    index: ChunkIndex = (
        open_index(settings, embedder.dimension)
        if settings.qdrant_url
        else RemoteIndex(settings.effective_index_url, internal_secret(settings))
    )
    return WorkerContext(
        settings=settings,
        catalog=catalog,
        files=files,
        tokenizer=tokenizer,
        preamble=build_preamble(tokenizer, settings),
        embedder=embedder,
        index=index,
        store=store,
        engine=engine,
        purge=Purge(catalog, index, store, Engines.from_settings(settings), files, settings.effective_staging_dir),
        waker=Waker(make_celery(settings)),
        codecs=Codecs.beside(settings.profiles_dir),
        answering=EngineClient(settings.effective_engine_url) if settings.worker_engine == "own" else None,
    )


def build_store(settings: Settings) -> ChunkStore:
    """The tiers that workers and web share; the memory tier lives in the engine alone."""
    key = settings.kv_encryption_key.get_secret_value()
    return ChunkStore(configured_tiers(TierOptions.from_settings(settings), key))


@lru_cache(maxsize=1)
def get_context() -> WorkerContext:
    return build_context(get_settings())
