"""API keys as the API shows them."""

from datetime import datetime

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from app.core.access import Permission, Role

MOST_PER_MINUTE = 1_000_000
MOST_AT_ONCE = 10_000

_KEY: dict[str, JsonValue] = {
    "id": "key_4x0kq3m8w2v9c7n5b1hz",
    "name": "the intranet's search box",
    "role": "reader",
    "scopes": ["ask"],
    "created_at": "2026-03-02T09:30:10Z",
    "expires_at": None,
    "revoked_at": None,
    "last_used_at": "2026-03-02T14:02:00Z",
    "requests_per_minute": 120,
    "concurrent_requests": None,
}
_NEW_KEY: dict[str, JsonValue] = {"key": {**_KEY, "last_used_at": None}, "secret": "prk_4x0kq3m8w2v9c7n5b1hz_…"}


class KeyOut(BaseModel):
    id: str = Field(description="Identifier.", examples=["key_4x0kq3m8w2v9c7n5b1hz"])
    name: str = Field(description="What it is for.", examples=["the intranet's search box"])
    role: Role = Field(description="What it may do at most.")
    scopes: list[Permission] = Field(description="What of that it may do; empty: all.")
    created_at: datetime = Field(description="When it was made.")
    expires_at: datetime | None = Field(description="When it ends; null: never by itself.")
    revoked_at: datetime | None = Field(description="When it was revoked; null: it was not.")
    last_used_at: datetime | None = Field(description="When it was last used, to the minute; null: never.")
    requests_per_minute: int | None = Field(description="Its own limit; 0: none, null: the one for every key.")
    concurrent_requests: int | None = Field(description="Its own limit; 0: none, null: the one for every key.")


class KeyIn(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "the intranet's search box", "role": "reader", "scopes": ["ask"]}]},
    )

    name: str = Field(min_length=1, max_length=100, description="What it is for.")
    role: Role = Field(Role.READER, description="What it may do at most.")
    scopes: list[Permission] = Field(default_factory=list, description="What of that it may do; empty: all.")
    expires_at: AwareDatetime | None = Field(None, description="When it ends; null: never by itself.")
    requests_per_minute: int | None = Field(
        None, ge=0, le=MOST_PER_MINUTE, description="Its own limit; 0: none, null: the one for every key."
    )
    concurrent_requests: int | None = Field(
        None, ge=0, le=MOST_AT_ONCE, description="Its own limit; 0: none, null: the one for every key."
    )


class RotateIn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"overlap_minutes": 60}]})

    overlap_minutes: int = Field(
        0, ge=0, le=10_080, description="How long the secret it had is still good; 0: it ends at once."
    )


class KeyWithSecret(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [_NEW_KEY]})

    key: KeyOut
    secret: str = Field(description="What the key's holder sends. It is told this once.", examples=["prk_4x0k…_…"])


class KeyList(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_KEY]}]})

    items: list[KeyOut] = Field(description="All keys there ever were, newest first.")
