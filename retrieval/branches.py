"""A question asked of Qdrant twice, by vector and by words, and the answers fused."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from qdrant_client.models import Filter, QueryRequest, ScoredPoint, SparseVector

from retrieval import sparse
from retrieval.fusion import reciprocal_rank_fusion, score_fusion
from retrieval.index import ScoredChunk, SearchMode
from retrieval.index_layout import SPARSE, Collection
from retrieval.nearness import Question
from retrieval.qdrant_api import QdrantApi

_DEPTH = 50


class Branches:
    """Asks one collection or several, and fuses what they find.

    Qdrant could fuse them itself, but would then tell neither the cosine nor the words' score.
    """

    def __init__(self, question: Question, top_k: int, mode: SearchMode) -> None:
        self._vector = question.vector
        self._indices, self._values = sparse.question_vector(question.text)
        self._top_k = top_k
        self._mode = mode
        self._documents: dict[str, str] = {}
        self._cosines: dict[str, float | None] = {}
        self._by_vector: dict[str, float] = {}
        self._by_words: dict[str, float] = {}

    def ask(self, client: QdrantApi, collection: Collection, scope: Filter) -> None:
        by_vector = self._mode is not SearchMode.SPARSE and collection.dense is not None
        by_words = self._mode is not SearchMode.DENSE and collection.sparse and bool(self._indices)
        common: dict[str, Any] = {
            "filter": scope,
            "limit": max(_DEPTH, self._top_k),
            "with_payload": ["chunk_id", "document_id"],
        }
        requests = []
        if by_vector:
            requests.append(QueryRequest(query=self._vector, using=collection.dense or None, **common))
        if by_words:
            terms = SparseVector(indices=self._indices, values=self._values)
            shown = [collection.dense] if collection.dense else False
            requests.append(QueryRequest(query=terms, using=SPARSE, with_vector=shown, **common))
        if not requests:
            return
        answers = [_in_order(answer.points) for answer in client.query_batch_points(collection.name, requests)]
        if by_vector:
            self._take_by_vector(answers[0])
        if by_words:
            self._take_by_words(answers[-1])

    def fused(self) -> list[ScoredChunk]:
        if self._mode is SearchMode.HYBRID:
            known = {each: cosine for each, cosine in self._cosines.items() if cosine is not None}
            ranked = score_fusion([known, self._by_words])
        else:
            ranked = reciprocal_rank_fusion([self._by_vector, self._by_words])
        return [ScoredChunk(each, self._documents[each], self._cosines[each]) for each in ranked[: self._top_k]]

    def _take_by_vector(self, points: Sequence[ScoredPoint]) -> None:
        for point in points:
            if math.isfinite(point.score):
                chunk_id = self._note(point, point.score)
                self._by_vector[chunk_id] = point.score

    def _take_by_words(self, points: Sequence[ScoredPoint]) -> None:
        for point in points:
            shown = point.vector if isinstance(point.vector, dict) else {}
            cosine = next((_cosine(self._vector, vector) for vector in shown.values()), None)
            chunk_id = self._note(point, cosine)
            self._by_words[chunk_id] = max(point.score, self._by_words.get(chunk_id, 0.0))

    def _note(self, point: ScoredPoint, cosine: float | None) -> str:
        payload = point.payload or {}
        chunk_id = str(payload["chunk_id"])
        self._documents[chunk_id] = payload["document_id"]
        if self._cosines.get(chunk_id) is None:
            self._cosines[chunk_id] = cosine
        return chunk_id


def _in_order(points: Sequence[ScoredPoint]) -> list[ScoredPoint]:
    """Best first, and equal ones always in the same order."""
    return sorted(points, key=lambda point: (-point.score, str(point.id)))


def _cosine(left: Sequence[float], right: Any) -> float:
    length = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(np.dot(left, right)) / length if length > 0 else 0.0
