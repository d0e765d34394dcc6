"""Collections and tags as the API shows and takes them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

LabelList = Annotated[list[str], Field(max_length=50)]


class LabelsIn(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"collections": ["handbook"], "tags": ["travel", "2026"]}]}
    )

    collections: LabelList | None = Field(None, description="Instead of those it has; absent: they stay.")
    tags: LabelList | None = Field(None, description="Instead of those it has; absent: they stay.")


class LabelOut(BaseModel):
    label: str = Field(description="The collection or tag.")
    documents: int = Field(description="Documents that have it.")


class LabelListOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [{"label": "handbook", "documents": 12}]}]})

    items: list[LabelOut] = Field(description="All of them, in order.")
