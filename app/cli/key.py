"""`preread key …`: API keys, made and ended in the database itself; nothing else needs to run."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from app.cli.access_database import access_database
from app.cli.console import err, out
from app.core.access import Permission, Role
from app.core.settings import get_settings
from app.web.schemas.keys import MOST_AT_ONCE, MOST_PER_MINUTE

if TYPE_CHECKING:
    from app.core.catalog import ApiKey

key = typer.Typer(help="API keys: make, list, rotate and revoke them.", no_args_is_help=True)

Tenant = Annotated[str, typer.Option(metavar="NAME", help="Whose; nothing: PREREAD_TENANT.")]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="The key's id, key_…")]


@key.command()
def create(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    role: Annotated[Role, typer.Option(help="What it may do at most.")] = Role.READER,
    scope: Annotated[list[Permission] | None, typer.Option(help="Only this of it; may be repeated.")] = None,
    tenant: Tenant = "",
    expires_days: Annotated[int | None, typer.Option(min=1, max=36_500, help="Days until it ends.")] = None,
    per_minute: Annotated[
        int | None, typer.Option(min=0, max=MOST_PER_MINUTE, help="Most requests a minute; 0: no limit.")
    ] = None,
    concurrent: Annotated[
        int | None, typer.Option(min=0, max=MOST_AT_ONCE, help="Most requests at once; 0: no limit.")
    ] = None,
) -> None:
    """Make a key. What its holder sends is printed this once, by itself on standard output."""
    from app.core.catalog import NewKey
    from app.web.access.key_making import scopes_of
    from app.web.access.names import key_name

    ends = datetime.now(UTC) + timedelta(days=expires_days) if expires_days is not None else None
    with access_database(get_settings(), tenant) as database:
        made, token = database.keys.make(
            NewKey(database.tenant, key_name(name), role, scopes_of(role, scope or ()), ends, per_minute, concurrent)
        )
    err.print(f"{made.id} is made, for {escape(made.name)} ({made.role} of {made.tenant}). It is not shown again:")
    typer.echo(token)


@key.command("ls")
def ls(tenant: Tenant = "", as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """List the keys, ended ones too."""
    with access_database(get_settings(), tenant) as database:
        keys = database.catalog.keys(database.tenant)
    if as_json:
        typer.echo(json.dumps({"keys": [_as_object(each) for each in keys]}))
    elif keys:
        out.print(_table(keys))
    else:
        out.print("No keys yet. Make one: preread key create NAME")


@key.command()
def rotate(
    key_id: KeyId,
    tenant: Tenant = "",
    overlap_minutes: Annotated[int, typer.Option(min=0, max=10_080, help="How long the old one stays good.")] = 0,
) -> None:
    """Give a key another secret, printed this once."""
    with access_database(get_settings(), tenant) as database:
        _, token = database.keys.rotate(database.tenant, key_id, timedelta(minutes=overlap_minutes))
    err.print(f"{escape(key_id)} has another secret. It is not shown again:")
    typer.echo(token)


@key.command()
def revoke(key_id: KeyId, tenant: Tenant = "") -> None:
    """End a key, for good. Web processes that run know within three seconds."""
    with access_database(get_settings(), tenant) as database:
        database.keys.revoke(database.tenant, key_id)
    out.print(f"{escape(key_id)} is revoked.")


def _table(keys: "list[ApiKey]") -> Table:
    table = Table("id", "name", "role", "state", "last used", box=None, pad_edge=False)
    for each in keys:
        role = f"{each.role}: {', '.join(each.scopes)}" if each.scopes else each.role
        used = f"{each.last_used_at:%Y-%m-%d %H:%M}" if each.last_used_at else "never"
        table.add_row(each.id, escape(each.name), role, _state(each), used)
    return table


def _state(key: "ApiKey") -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is None:
        return "good"
    return "expired" if key.expires_at <= datetime.now(UTC) else f"good until {key.expires_at:%Y-%m-%d}"


def _as_object(key: "ApiKey") -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role,
        "scopes": list(key.scopes),
        "state": _state(key),
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at and key.expires_at.isoformat(),
        "last_used_at": key.last_used_at and key.last_used_at.isoformat(),
    }
