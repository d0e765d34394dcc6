"""`preread user …`: who may sign in on the pages, kept in the database itself; nothing else needs to run."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from app.cli.access_database import access_database
from app.cli.console import err, out
from app.core.access import Role
from app.core.settings import get_settings

if TYPE_CHECKING:
    from app.core.catalog import User

user = typer.Typer(help="Users of the pages: add, list and disable them, set their passwords.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The user's name.")]
Tenant = Annotated[str, typer.Option(metavar="NAME", help="Whose; nothing: PREREAD_TENANT.")]
PasswordFromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of making one.")
]


@user.command()
def create(
    name: Name,
    role: Annotated[Role, typer.Option(help="What they may do.")] = Role.READER,
    tenant: Tenant = "",
    password_stdin: PasswordFromStdin = False,
) -> None:
    """Add a user. A password that is made is printed this once, by itself on standard output."""
    given = _given() if password_stdin else None
    with access_database(get_settings(), tenant) as database:
        made, password = database.users.make(database.tenant, name, role, given)
    err.print(f"{escape(made.name)} may sign in ({made.role} of {made.tenant}).")
    _tell(None if password_stdin else password)


@user.command("ls")
def ls(tenant: Tenant = "", as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """List the users."""
    with access_database(get_settings(), tenant) as database:
        users = database.catalog.users(database.tenant)
    if as_json:
        items = [{"name": each.name, "role": each.role, "disabled": each.disabled} for each in users]
        typer.echo(json.dumps({"users": items}))
    elif users:
        out.print(_table(users))
    else:
        out.print("No users yet. Add one: preread user create NAME")


@user.command()
def password(name: Name, tenant: Tenant = "", password_stdin: PasswordFromStdin = False) -> None:
    """Set a user's password, and end their sessions."""
    given = _given() if password_stdin else None
    with access_database(get_settings(), tenant) as database:
        _, chosen = database.users.set_password(database.tenant, name, given)
    err.print(f"{escape(name)} has another password, and is signed out everywhere.")
    _tell(None if password_stdin else chosen)


@user.command()
def disable(name: Name, tenant: Tenant = "") -> None:
    """Keep a user from signing in, and end their sessions."""
    with access_database(get_settings(), tenant) as database:
        database.users.change(database.tenant, name, disabled=True)
    out.print(f"{escape(name)} may not sign in any more.")


def _given() -> str:
    return sys.stdin.readline().rstrip("\r\n")


def _tell(password: str | None) -> None:
    if password is not None:
        err.print("The password, which is not shown again:")
        typer.echo(password)


def _table(users: "list[User]") -> Table:
    table = Table("name", "role", "state", box=None, pad_edge=False)
    for each in users:
        table.add_row(escape(each.name), each.role, "disabled" if each.disabled else "may sign in")
    return table
