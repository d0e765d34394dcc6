"""`POST /documents/urls`: documents fetched from elsewhere."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from app.web.schemas.documents import DOCUMENT, DocumentOut
from app.web.schemas.labels import LabelList
from app.web.schemas.problem import Problem

Url = Annotated[str, StringConstraints(min_length=1, max_length=2000)]

_ADDED: dict[str, JsonValue] = {
    "url": "https://docs.example.org/travel.html",
    "document": {**DOCUMENT, "name": "https://docs.example.org/travel.html", "media_type": "text/html"},
    "created": True,
    "error": None,
}


class UrlsIn(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"urls": ["https://docs.example.org/travel.html"]}]}
    )

    urls: list[Url] = Field(min_length=1, max_length=50, description="What to fetch: http or https, allowed hosts.")
    collections: LabelList = Field([], description="Collections that the documents come into.")
    tags: LabelList = Field([], description="Tags that the documents get.")


class UrlAdded(BaseModel):
    """What became of one URL: a document, or an error."""

    url: str = Field(description="As it was sent.")
    document: DocumentOut | None = Field(None, description="The document, named after the URL.")
    created: bool = Field(False, description="False: the same bytes were there already, or it failed.")
    error: Problem | None = Field(None, description="Why there is none.")


class UrlsAdded(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_ADDED]}]})

    items: list[UrlAdded] = Field(description="One for each URL, in their order.")
