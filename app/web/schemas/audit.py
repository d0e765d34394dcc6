"""The audit log as the API shows it."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

_ENTRY: dict[str, JsonValue] = {
    "at": "2026-03-02T09:30:10Z",
    "actor_id": "usr_7f4g9k3w2m6t8r1x5d0s",
    "actor": "kim",
    "action": "document.delete",
    "target": "doc_4x0kq3m8w2v9c7n5b1hz",
    "request_id": "5b1hz4x0kq3m8w2v9c7n",
    "address": "192.0.2.17",
}


class AuditEntryOut(BaseModel):
    at: datetime = Field(description="When it was done.")
    actor_id: str = Field(description="The key's or the user's identifier, or command-line; empty: nobody known.")
    actor: str = Field(description="The key's or the user's name then.")
    action: str = Field(description="What was done.", examples=["document.delete"])
    target: str = Field(description="To what; may be empty.")
    request_id: str = Field(description="X-Request-ID of the request; may be empty.")
    address: str = Field(description="Where it came from; empty: this machine's command line.")


class AuditPageOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_ENTRY], "total": 1}]})

    items: list[AuditEntryOut] = Field(description="One page, newest first.")
    total: int = Field(description="How many there are in all.")
