"""Qdrant's requests and answers, from the client's classes to those of Qdrant Edge and back."""

from typing import cast

import qdrant_edge as edge
from qdrant_client.models import (
    CollectionParams,
    Condition,
    Distance,
    FieldCondition,
    Filter,
    MatchAny,
    MatchValue,
    Modifier,
    PointStruct,
    QueryRequest,
    Record,
    ScoredPoint,
    SparseVector,
    VectorParams,
    VectorStructOutput,
)

_DISTANCES = {
    Distance.COSINE: edge.Distance.Cosine,
    Distance.DOT: edge.Distance.Dot,
    Distance.EUCLID: edge.Distance.Euclid,
    Distance.MANHATTAN: edge.Distance.Manhattan,
}


def config_of(params: CollectionParams) -> edge.EdgeConfig:
    """A search looks at every vector, and so finds exactly what is nearest; docs/benchmarks.md says how fast.

    What is deleted stays in the files, and counts in the inverse document frequency, until it is a fiftieth of all;
    then `EdgeCollection.clear_away` takes it out.
    """
    dense = params.vectors or {}
    return edge.EdgeConfig(
        vectors=_dense_of(dense)
        if isinstance(dense, VectorParams)
        else {name: _dense_of(each) for name, each in dense.items()},
        sparse_vectors={
            name: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if each.modifier is Modifier.IDF else None)
            for name, each in (params.sparse_vectors or {}).items()
        },
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=0, default_segment_number=1, deleted_threshold=0.02, vacuum_min_vector_number=1
        ),
        max_search_threads=1,
    )


def point_of(point: PointStruct) -> edge.Point:
    vector = point.vector
    named = {name: _vector_of(each) for name, each in vector.items()} if isinstance(vector, dict) else vector
    return edge.Point(point.id, cast("edge.Vector", named), point.payload)


def filter_of(chosen: Filter) -> edge.Filter:
    """Only what `qdrant_points` makes: fields that must have a value, or one of several."""
    conditions = chosen.must if isinstance(chosen.must, list) else []
    return edge.Filter(must=[_condition_of(each) for each in conditions])


def query_of(request: QueryRequest) -> edge.QueryRequest:
    """A search by one vector."""
    return edge.QueryRequest(
        limit=request.limit or 1,
        query=edge.Query.Nearest(_vector_of(request.query), using=request.using or None),
        filter=filter_of(request.filter) if request.filter else None,
        with_payload=cast("list[str]", request.with_payload),
        with_vector=request.with_vector or False,
    )


def scored_point(found: edge.ScoredPoint) -> ScoredPoint:
    """Not validated: that takes longer than the search."""
    vector = cast("VectorStructOutput | None", found.vector)
    return ScoredPoint.model_construct(
        id=str(found.id), version=found.version, score=found.score, payload=found.payload, vector=vector
    )


def record(found: edge.Record) -> Record:
    return Record(id=str(found.id), payload=found.payload)


def _dense_of(params: VectorParams) -> edge.EdgeVectorParams:
    return edge.EdgeVectorParams(size=params.size, distance=_DISTANCES[params.distance])


def _vector_of(vector: object) -> "edge.NamedVector":
    if isinstance(vector, SparseVector):
        return edge.SparseVector(indices=vector.indices, values=vector.values)
    return cast("list[float]", vector)


def _condition_of(condition: Condition) -> edge.FieldCondition:
    match condition:
        case FieldCondition(key=key, match=MatchValue(value=value)):
            return edge.FieldCondition(key=key, match=edge.MatchValue(value))
        case FieldCondition(key=key, match=MatchAny(any=values)):
            return edge.FieldCondition(key=key, match=edge.MatchAny(values))
    raise NotImplementedError(f"A filter that the index in this process does not know: {condition}")
