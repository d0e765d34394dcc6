"""The index's collections in Qdrant: today's, and older ones that are waiting to be re-indexed.

A collection's name says how its chunks were indexed: `preread-chunks-LAYOUT-DIMENSION-MODEL`. Where the layout or the
embedding model changes, the name does, and a new collection is filled beside the old one. `chunks` is the name from
before: one unnamed vector, no words.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from http import HTTPStatus

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import UnexpectedResponse
from qdrant_client.models import Distance, Modifier, SparseVectorParams, VectorParams

DENSE = "dense"
SPARSE = "sparse"

_LAYOUT = 2
_BEFORE_NAMES = "chunks"
_NAMED = re.compile(r"preread-chunks-\d+-\d+-[0-9a-f]{8}")


@dataclass(frozen=True)
class Collection:
    """`dense` is the vector that today's questions can be compared with ("" is the unnamed one), None without one.

    `sparse`: it has the words too.
    """

    name: str
    dense: str | None
    sparse: bool


def current(dimension: int, model: str) -> Collection:
    digest = blake2b(model.encode(), digest_size=4).hexdigest()
    return Collection(f"preread-chunks-{_LAYOUT}-{dimension}-{digest}", DENSE, sparse=True)


def create(client: QdrantClient, collection: Collection, dimension: int) -> bool:
    """Make the collection; False if it is there already."""
    if client.collection_exists(collection.name):
        return False
    try:
        return client.create_collection(
            collection.name,
            vectors_config={DENSE: VectorParams(size=dimension, distance=Distance.COSINE)},
            sparse_vectors_config={SPARSE: SparseVectorParams(modifier=Modifier.IDF)},
        )
    except UnexpectedResponse as error:
        if error.status_code == HTTPStatus.CONFLICT:  # another process has made it meanwhile
            return False
        raise


def older(client: QdrantClient, wanted: Collection, dimension: int) -> list[Collection]:
    """The collections of other layouts and models."""
    names = [each.name for each in client.get_collections().collections]
    return [
        _older(client, name, dimension)
        for name in sorted(names)
        if name != wanted.name and (name == _BEFORE_NAMES or _NAMED.fullmatch(name))
    ]


def _older(client: QdrantClient, name: str, dimension: int) -> Collection:
    if name != _BEFORE_NAMES:
        return Collection(name, None, sparse=True)
    vectors = client.get_collection(name).config.params.vectors
    same = isinstance(vectors, VectorParams) and vectors.size == dimension
    return Collection(name, "" if same else None, sparse=False)
