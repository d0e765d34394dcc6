"""Index calls as JSON, for workers that reach the index through web: both sides of the wire.

POST /internal/index/OPERATION, with the shared secret in the header X-Preread-Internal
check            {dimension}                                    → {}
upsert           {chunks: [IndexedChunk]}                       → {}
delete_document  {tenant, document_id}                          → {}
delete_version   {tenant, document_id, version_id}              → {}
label            {tenant, document_id, collections, tags}       → {}
search           {tenant, question, top_k, scope: Scope, mode}  → {found: [ScoredChunk]}
count            {tenant, document_id or null}                  → {count}
holdings         {after or null, limit}                         → {versions: [HeldVersion], after or null}
"""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from app.core.errors import BadInput, NotFound
from retrieval.index import (
    EVERYWHERE,
    ChunkIndex,
    HeldVersion,
    Holdings,
    IndexedChunk,
    Scope,
    ScoredChunk,
    SearchMode,
)
from retrieval.nearness import Question

SECRET_HEADER = "X-Preread-Internal"  # noqa: S105 - the name of the header, not the secret
PATH = "/internal/index/"

Json = dict[str, Any]


@dataclass(frozen=True)
class Check:
    dimension: int

    def answer(self, index: ChunkIndex) -> Json:
        index.check(self.dimension)
        return {}


@dataclass(frozen=True)
class Upsert:
    chunks: list[IndexedChunk]

    def answer(self, index: ChunkIndex) -> Json:
        index.upsert(self.chunks)
        return {}


@dataclass(frozen=True)
class DeleteDocument:
    tenant: str
    document_id: str

    def answer(self, index: ChunkIndex) -> Json:
        index.delete_document(self.tenant, self.document_id)
        return {}


@dataclass(frozen=True)
class DeleteVersion:
    tenant: str
    document_id: str
    version_id: str

    def answer(self, index: ChunkIndex) -> Json:
        index.delete_version(self.tenant, self.document_id, self.version_id)
        return {}


@dataclass(frozen=True)
class Label:
    tenant: str
    document_id: str
    collections: list[str]
    tags: list[str]

    def answer(self, index: ChunkIndex) -> Json:
        index.label(self.tenant, self.document_id, self.collections, self.tags)
        return {}


@dataclass(frozen=True)
class Search:
    tenant: str
    question: Question
    top_k: int
    scope: Scope = EVERYWHERE
    mode: SearchMode = SearchMode.HYBRID

    def answer(self, index: ChunkIndex) -> Json:
        found = index.search(self.tenant, self.question, self.top_k, self.scope, self.mode)
        return {"found": [asdict(chunk) for chunk in found]}


@dataclass(frozen=True)
class Count:
    tenant: str
    document_id: str | None = None

    def answer(self, index: ChunkIndex) -> Json:
        return {"count": index.count(self.tenant, self.document_id)}


@dataclass(frozen=True)
class Listing:
    after: str | None = None
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1000

    def answer(self, index: ChunkIndex) -> Json:
        return asdict(index.holdings(self.after, self.limit))


IndexCall = Check | Upsert | DeleteDocument | DeleteVersion | Label | Search | Count | Listing

_CALLS: dict[str, type[IndexCall]] = {
    "check": Check,
    "upsert": Upsert,
    "delete_document": DeleteDocument,
    "delete_version": DeleteVersion,
    "label": Label,
    "search": Search,
    "count": Count,
    "holdings": Listing,
}
_READERS: dict[str, TypeAdapter[IndexCall]] = {operation: TypeAdapter(call) for operation, call in _CALLS.items()}
_OPERATIONS = {call: operation for operation, call in _CALLS.items()}


def path_of(call: IndexCall) -> str:
    return PATH + _OPERATIONS[type(call)]


def to_json(call: IndexCall) -> Json:
    return asdict(call)


def answer(index: ChunkIndex, operation: str, body: bytes) -> Json:
    """What web does with a request: check it, call the index, and give the JSON of the answer.

    Raises: NotFound for an unknown operation, BadInput for a body that does not fit, and what the index raises.
    """
    reader = _READERS.get(operation)
    if reader is None:
        raise NotFound(f"There is no index operation {operation}.")
    try:
        call = reader.validate_json(body)
    except ValidationError as error:
        raise BadInput(f"The index call {operation} is malformed: {error.error_count()} fields do not fit.") from error
    return call.answer(index)


def found_chunks(reply: Json) -> list[ScoredChunk]:
    """The chunks in the reply to a search."""
    return [ScoredChunk(**chunk) for chunk in reply["found"]]


def holdings_of(reply: Json) -> Holdings:
    """The page in the reply to a listing."""
    versions = (
        HeldVersion(**(each | {"collections": tuple(each["collections"]), "tags": tuple(each["tags"])}))
        for each in reply["versions"]
    )
    return Holdings(tuple(versions), reply["after"])
