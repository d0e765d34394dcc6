"""Chunks as Qdrant's points, and the filters that choose among them."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID, uuid5

from qdrant_client.models import FieldCondition, Filter, MatchAny, MatchValue, PointStruct, SparseVector

from retrieval import sparse
from retrieval.index import HeldVersion, IndexedChunk, Scope
from retrieval.index_layout import DENSE, SPARSE

HELD_FIELDS = ["tenant", "document_id", "version_id", "collections", "tags"]

_POINTS = UUID("6f3c7f3e-5d0c-4c39-9a55-0f1d6f6b8f0a")


def point_id(chunk_id: str) -> str:
    """The same chunk is the same point, however often it is added."""
    return str(uuid5(_POINTS, chunk_id))


def point(chunk: IndexedChunk) -> PointStruct:
    indices, values = sparse.chunk_vector(chunk.text)
    return PointStruct(
        id=point_id(chunk.chunk_id),
        vector={DENSE: chunk.vector, SPARSE: SparseVector(indices=indices, values=values)},
        payload={
            "tenant": chunk.tenant,
            "document_id": chunk.document_id,
            "version_id": chunk.version_id,
            "chunk_id": chunk.chunk_id,
            "ordinal": chunk.ordinal,
            **labels(chunk.collections, chunk.tags),
        },
    )


def labels(collections: Sequence[str], tags: Sequence[str]) -> dict[str, list[str]]:
    return {"collections": sorted(collections), "tags": sorted(tags)}


def of_tenant(tenant: str, document_id: str | None = None, version_id: str | None = None) -> Filter:
    named = {"tenant": tenant, "document_id": document_id, "version_id": version_id}
    return Filter(
        must=[
            FieldCondition(key=key, match=MatchValue(value=value)) for key, value in named.items() if value is not None
        ]
    )


def within(tenant: str, scope: Scope) -> Filter:
    """The tenant's chunks in a scope that is not empty."""
    lists = {"document_id": scope.document_ids, "collections": scope.collections, "tags": scope.tags}
    return Filter(
        must=[
            FieldCondition(key="tenant", match=MatchValue(value=tenant)),
            *(
                FieldCondition(key=key, match=MatchAny(any=list(values)))
                for key, values in lists.items()
                if values is not None
            ),
        ]
    )


def held_versions(payloads: Iterable[dict[str, Any] | None]) -> tuple[HeldVersion, ...]:
    """What points belong to, each once, in order; points that are none of ours are passed over."""
    found = {
        HeldVersion(
            payload["tenant"],
            payload["document_id"],
            payload["version_id"],
            tuple(payload.get("collections", ())),
            tuple(payload.get("tags", ())),
        )
        for payload in payloads
        if payload and {"tenant", "document_id", "version_id"} <= payload.keys()
    }
    return tuple(sorted(found, key=lambda held: held.place))
