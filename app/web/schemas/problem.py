"""The error object of every route and of the stream's `error` event."""

from pydantic import BaseModel, ConfigDict, Field

from app.core.codes import Code


class Fault(BaseModel):
    """One thing that is wrong with a request."""

    pointer: str = Field(
        description="Where, as a JSON pointer that begins with body, query, path, header or cookie.",
        examples=["/body/question"],
    )
    message: str = Field(description="What is wrong there.", examples=["Field required"])


class Problem(BaseModel):
    """RFC 9457, with a stable `code` and a `hint`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:preread:problem:document_not_found",
                    "title": "Not Found",
                    "status": 404,
                    "detail": "There is no document doc_4x0k.",
                    "code": "document_not_found",
                    "hint": "List the documents to see their ids.",
                    "instance": "/documents/doc_4x0k",
                    "request_id": "http_4x0kq3m8w2v9c7n5b1hz",
                    "retry_after_seconds": None,
                    "errors": [],
                }
            ]
        }
    )

    type: str = Field(description="URN that names the kind of problem.")
    title: str = Field(description="The HTTP status in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="A sentence for the user.")
    code: Code = Field(description="Stable short name of the problem.")
    hint: str = Field(description="What to do next; may be empty.")
    instance: str = Field(description="The path, or the request id of an answer.")
    request_id: str | None = Field(None, description="The response's `X-Request-ID`, which log lines have too.")
    retry_after_seconds: int | None = Field(None, description="When to try again, as `Retry-After`; null: not known.")
    errors: list[Fault] = Field([], description="Each fault of a request that does not fit the schema.")
