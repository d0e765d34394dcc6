"""The index that the settings name."""

from app.core.settings import Settings
from retrieval.index import OwnedIndex
from retrieval.qdrant_index import QdrantIndex


def open_index(settings: Settings, dimension: int) -> OwnedIndex:
    """The server at `qdrant_url`, else the local folder, which only one process may hold open.

    Raises: IndexLocked, IndexRefused, IndexUnavailable.
    """
    model = settings.embedding_model
    if settings.qdrant_url:
        key = settings.qdrant_api_key.get_secret_value()
        return QdrantIndex.connect(settings.qdrant_url, dimension, model, key)
    return QdrantIndex.open_local(settings.qdrant_dir, dimension, model)
