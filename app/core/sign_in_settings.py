"""Settings of how users sign in on the pages: part of `Settings`, and read with it."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings

from app.core.access import Role
from app.core.oidc_roles import oidc_roles_from


class SignInSettings(BaseSettings):
    public_url: str = Field(
        "",
        pattern=r"^(https?://[^/?#\s]+)?$",
        description="Address of web as users see it, such as https://preread.example.org; with https, cookies are sent "
        "over https alone.",
    )
    session_hours: float = Field(12, gt=0, le=8760, description="Longest that somebody stays signed in on the pages.")
    session_idle_minutes: float = Field(
        120, ge=5, le=525_600, description="Pause after which somebody who signed in has to do so again."
    )
    oidc_issuer: str = Field(
        "",
        pattern=r"^(https://[^?#\s]+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/[^?#\s]*)?)?$",
        description="OpenID provider that users sign in through on the pages, such as "
        "https://login.example.org/realms/staff; empty: none.",
    )
    oidc_client_id: str = Field("", description="What the provider knows this installation as.")
    oidc_client_secret: SecretStr = Field(
        SecretStr(""), description="The client's secret at the provider; empty: a public client, with PKCE alone."
    )
    oidc_scopes: str = Field(
        "openid profile email",
        pattern=r"^(\S+ )*openid( \S+)*$",
        description="What the provider is asked for, with blanks between; some tell groups for a scope of their own.",
    )
    oidc_name: str = Field("Single sign-on", min_length=1, max_length=60, description="What the button says.")
    oidc_role_claim: str = Field(
        "groups", min_length=1, description="Claim that holds a user's groups; dots lead into it: realm_access.roles."
    )
    oidc_roles: str = Field(
        "", description="Which groups have which role, as GROUP=ROLE;GROUP=ROLE: preread-admins=admin;staff=reader."
    )
    oidc_default_role: Literal["", "reader", "editor", "admin"] = Field(
        "", description="Role of users in none of these groups; empty: they are refused."
    )
    oidc_tenant_claim: str = Field("", description="Claim that names a user's tenant; empty: all are of `tenant`.")

    @field_validator("oidc_roles")
    @classmethod
    def _names_roles(cls, value: str) -> str:
        oidc_roles_from(value)
        return value

    @model_validator(mode="after")
    def _lets_somebody_in(self) -> Self:
        if not self.oidc_issuer:
            return self
        if not self.oidc_client_id or not self.public_url:
            raise ValueError("oidc_issuer is set: oidc_client_id and public_url must be too")
        if not self.oidc_role_map and not self.oidc_default_role:
            raise ValueError("oidc_issuer is set: oidc_roles or oidc_default_role must say who has which role")
        return self

    @property
    def oidc_role_map(self) -> Mapping[str, Role]:
        """Role by group."""
        return oidc_roles_from(self.oidc_roles)

    @property
    def oidc_role_otherwise(self) -> Role | None:
        """Of users in none of these groups; None: they are refused."""
        return Role(self.oidc_default_role) if self.oidc_default_role else None
