"""Documents as the API shows them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

DOCUMENT: dict[str, JsonValue] = {
    "id": "doc_4x0kq3m8w2v9c7n5b1hz",
    "name": "travel.md",
    "title": "Travel",
    "state": "preread",
    "failure": None,
    "media_type": "text/markdown",
    "size_bytes": 2048,
    "pages": None,
    "chunks": 2,
    "chunks_ready": 2,
    "tokens": 508,
    "created_at": "2026-03-02T09:30:00Z",
    "updated_at": "2026-03-02T09:31:12Z",
    "collections": ["handbook"],
    "tags": ["travel", "2026"],
}


class FailureOut(BaseModel):
    code: str = Field(description="Stable short name of the failure.")
    message: str = Field(description="A sentence for the user.")


class DocumentOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [DOCUMENT]})

    id: str = Field(description="Identifier.", examples=["doc_4x0kq3m8w2v9c7n5b1hz"])
    name: str = Field(description="The file name, as it was sent.", examples=["handbook.pdf"])
    title: str = Field(description="Title found in the document, or its name.")
    state: str = Field(description="received, parsed, chunked, indexed (answers questions), preread, failed, deleting.")
    failure: FailureOut | None = Field(description="Why it failed, where it did.")
    media_type: str = Field(description="What kind of file it is.")
    size_bytes: int = Field(description="Size of the file.")
    pages: int | None = Field(description="Pages, where the document has them.")
    chunks: int = Field(description="Chunks in the index.")
    chunks_ready: int = Field(description="Chunks whose KV is kept.")
    tokens: int = Field(description="Language-model tokens of all chunks.")
    created_at: datetime = Field(description="When it was added.")
    updated_at: datetime = Field(description="When it last changed.")
    collections: list[str] = Field([], description="The collections it is in.")
    tags: list[str] = Field([], description="The tags it has.")


class DocumentPage(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [DOCUMENT], "total": 1, "following": None}]})

    items: list[DocumentOut] = Field(description="One page of documents, newest first.")
    total: int = Field(description="How many there are in all.")
    following: str | None = Field(None, description="Give it as `after` for the next page; null: there is none.")


class DocumentVectors(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"vectors": 2}]})

    vectors: int = Field(description="Vectors of the document's chunks in the index, of every version.")


class DocumentAdded(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"document": DOCUMENT, "created": True}]})

    document: DocumentOut
    created: bool = Field(description="False: the same bytes were there already.")
