"""The error object of every route and of the stream's `error` event."""

from pydantic import BaseModel, ConfigDict, Field


class Problem(BaseModel):
    """RFC 9457, with a stable `code` and a `hint`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:preread:problem:not_found",
                    "title": "Not Found",
                    "status": 404,
                    "detail": "There is no document doc_4x0k.",
                    "code": "not_found",
                    "hint": "",
                    "instance": "/documents/doc_4x0k",
                }
            ]
        }
    )

    type: str = Field(description="URN that names the kind of problem.")
    title: str = Field(description="The HTTP status in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="A sentence for the user.")
    code: str = Field(description="Stable short name of the problem.")
    hint: str = Field(description="What to do next; may be empty.")
    instance: str = Field(description="The path, or the request id of an answer.")
