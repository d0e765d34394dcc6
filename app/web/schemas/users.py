"""Users as the API shows them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr

from app.core.access import Role

_USER: dict[str, JsonValue] = {
    "name": "kim",
    "role": "editor",
    "disabled": False,
    "has_password": True,
    "created_at": "2026-03-02T09:30:10Z",
}


class UserOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [_USER]})

    name: str = Field(description="Name to sign in with, once in the whole installation.", examples=["kim"])
    role: Role = Field(description="What they may do.")
    disabled: bool = Field(description="They may not sign in.")
    has_password: bool = Field(description="false: they sign in through their organisation alone.")
    created_at: datetime = Field(description="When they were added.")


class UserIn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "kim", "role": "editor"}]})

    name: str = Field(min_length=1, max_length=100, description="Letters, digits and . _ @ + -")
    role: Role = Field(Role.READER, description="What they may do.")
    password: SecretStr | None = Field(None, description="12 to 1000 characters; null: one is made and told once.")


class UserChange(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"role": "editor"}, {"disabled": True}]})

    role: Role | None = Field(None, description="Another role; null: as it is.")
    disabled: bool | None = Field(None, description="Whether they may not sign in; null: as it is.")


class PasswordIn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"password": None}]})

    password: SecretStr | None = Field(None, description="12 to 1000 characters; null: one is made and told once.")


class UserWithPassword(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"user": _USER, "password": None}]})

    user: UserOut
    password: str | None = Field(description="The one that was made, told this once; null: it was sent.")


class UserList(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_USER]}]})

    items: list[UserOut] = Field(description="All users, by name.")
