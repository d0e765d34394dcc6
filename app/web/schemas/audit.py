"""The audit log as the API shows it."""

from datetime import datetime

from pydantic import BaseModel, Field


class AuditEntryOut(BaseModel):
    at: datetime = Field(description="When it was done.")
    actor_id: str = Field(description="The key's or the user's identifier, or command-line; empty: nobody known.")
    actor: str = Field(description="The key's or the user's name then.")
    action: str = Field(description="What was done.", examples=["document.delete"])
    target: str = Field(description="To what; may be empty.")
    request_id: str = Field(description="X-Request-ID of the request; may be empty.")
    address: str = Field(description="Where it came from; empty: this machine's command line.")


class AuditPageOut(BaseModel):
    items: list[AuditEntryOut] = Field(description="One page, newest first.")
    total: int = Field(description="How many there are in all.")
