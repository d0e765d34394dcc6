"""Signing in as the API shows it."""

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr

from app.core.access import Permission, Role

_METHODS: dict[str, JsonValue] = {"password": True, "oidc": True, "oidc_name": "Example Ltd"}
_SESSION: dict[str, JsonValue] = {
    "name": "kim",
    "tenant": "default",
    "role": "reader",
    "permissions": ["ask", "documents:read"],
    "csrf_token": "q3m8w2v9c7n5b1hz4x0k",
    "methods": _METHODS,
}


class SignIn(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "admin", "password": "correct horse battery staple"}]}
    )

    name: str = Field(min_length=1, max_length=100, description="The user's name.")
    password: SecretStr = Field(max_length=1000, description="The password.")


class MethodsOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [_METHODS]})

    password: bool = Field(description="Users sign in by name and password.")
    oidc: bool = Field(description="Users sign in through their organisation, at /auth/oidc/start.")
    oidc_name: str = Field(description="What that is called; empty where there is none.")


class SessionOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [_SESSION]})

    name: str = Field(description="Who is signed in; for an API key, its name.", examples=["admin"])
    tenant: str = Field(description="Whose documents these are.")
    role: Role = Field(description="What they are.")
    permissions: list[Permission] = Field(description="What they may do.")
    csrf_token: str | None = Field(
        description="Sent as X-CSRF-Token with everything that changes something; null: signed in by API key, which "
        "needs none."
    )
    methods: MethodsOut = Field(description="How users sign in here.")
