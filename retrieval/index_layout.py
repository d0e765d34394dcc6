"""The index's collections in Qdrant: today's, and older ones that are waiting to be re-indexed.

A collection's name says how its chunks were indexed: `preread-chunks-LAYOUT-DIMENSION-MODEL`. Where the layout or the
embedding model changes, the name does, and a new collection is filled beside the old one.

Layout 3: a dense and a sparse vector, labels. 2: the same without labels. `chunks` is the name from before: one unnamed
vector, no words.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b

from qdrant_client.http.exceptions import UnexpectedResponse
from qdrant_client.models import (
    CollectionInfo,
    Distance,
    Modifier,
    PayloadSchemaType,
    SparseVectorParams,
    VectorParams,
)

from retrieval.qdrant_api import QdrantApi

DENSE = "dense"
SPARSE = "sparse"

FILTERED = ("tenant", "document_id", "version_id", "collections", "tags")
"""The fields of a chunk's payload that queries, deletions and changes of labels choose by."""

_LAYOUT = 3
_BEFORE_NAMES = "chunks"
_NAMED = re.compile(r"preread-chunks-\d+-(\d+)-([0-9a-f]{8})")


@dataclass(frozen=True)
class Collection:
    """`dense` is the vector that today's questions can be compared with ("" is the unnamed one), None without one.

    `sparse`: it has the words too. `dimension`: how many numbers its vectors have.
    """

    name: str
    dense: str | None
    sparse: bool
    dimension: int


def current(dimension: int, model: str) -> Collection:
    digest = blake2b(model.encode(), digest_size=4).hexdigest()
    return Collection(f"preread-chunks-{_LAYOUT}-{dimension}-{digest}", DENSE, sparse=True, dimension=dimension)


def create(client: QdrantApi, collection: Collection) -> None:
    """Make the collection unless it is there."""
    if client.collection_exists(collection.name):
        return
    try:
        client.create_collection(
            collection.name,
            vectors_config={DENSE: VectorParams(size=collection.dimension, distance=Distance.COSINE)},
            sparse_vectors_config={SPARSE: SparseVectorParams(modifier=Modifier.IDF)},
        )
    except UnexpectedResponse:
        # Another process may have made it meanwhile.
        if not client.collection_exists(collection.name):
            raise


def taken_dimension(client: QdrantApi, collection: Collection) -> int:
    """How many numbers the vectors have that today's collection takes; 0 if it is none of ours."""
    vectors = client.get_collection(collection.name).config.params.vectors
    params = vectors.get(DENSE) if isinstance(vectors, dict) else None
    return params.size if params else 0


def make_filterable(client: QdrantApi, collection: Collection) -> None:
    """Have what is filtered by indexed: searches are faster, and a strict server filters by nothing else."""
    there = client.get_collection(collection.name).payload_schema
    for field in FILTERED:
        if field not in there:
            client.create_payload_index(collection.name, field, PayloadSchemaType.KEYWORD)


def older(client: QdrantApi, wanted: Collection) -> list[Collection]:
    """The collections of other layouts and models."""
    names = sorted(each.name for each in client.get_collections().collections)
    found = (_older(client, name, wanted) for name in names if name != wanted.name)
    return [each for each in found if each is not None]


def _older(client: QdrantApi, name: str, wanted: Collection) -> Collection | None:
    if name == _BEFORE_NAMES:
        dimension = _unnamed_dimension(client.get_collection(name))
        return Collection(name, "" if dimension == wanted.dimension else None, sparse=False, dimension=dimension)
    named = _NAMED.fullmatch(name)
    if named is None:
        return None
    same_vectors = wanted.name.endswith(f"-{named[1]}-{named[2]}")
    return Collection(name, DENSE if same_vectors else None, sparse=True, dimension=int(named[1]))


def _unnamed_dimension(info: CollectionInfo) -> int:
    vectors = info.config.params.vectors
    return vectors.size if isinstance(vectors, VectorParams) else 0
