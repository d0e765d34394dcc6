"""The `preread` command."""

import sys

import typer
from pydantic import ValidationError
from rich.markup import escape

from app.cli.add import add
from app.cli.ask import ask
from app.cli.beat import beat
from app.cli.bench import PASS_ON, bench
from app.cli.calibrate import calibrate
from app.cli.console import err
from app.cli.demo import demo
from app.cli.doctor import doctor
from app.cli.engine import engine
from app.cli.jobs import jobs
from app.cli.key import key
from app.cli.ls import ls
from app.cli.precompute import precompute
from app.cli.rm import rm
from app.cli.status import status
from app.cli.sync import sync
from app.cli.up import up
from app.cli.user import user
from app.cli.verify import verify
from app.cli.web import web
from app.cli.worker import worker
from app.core.errors import PrereadError

cli = typer.Typer(
    help="Answers questions about documents it has already read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

for command in (up, add, ls, rm, sync, ask, precompute, jobs, status, doctor, verify, calibrate, demo):
    cli.command()(command)
cli.add_typer(key, name="key")
cli.add_typer(user, name="user")
cli.command(context_settings=PASS_ON)(bench)
for process in (engine, web, worker, beat):
    cli.command(rich_help_panel="Processes (`preread up` starts them; for running them one by one)")(process)


def main() -> None:
    """Expected errors are a message and a hint on stderr and exit code 1."""
    try:
        cli()
    except PrereadError as error:
        _complain(error.message, error.hint)
    except ValidationError as error:
        # The settings are the only model built from what the user wrote.
        for fault in error.errors():
            _complain(f"PREREAD_{'_'.join(map(str, fault['loc'])).upper()}: {fault['msg']}.", "", leave=False)
        sys.exit(1)


def _complain(message: str, hint: str, *, leave: bool = True) -> None:
    err.print(f"[bold red]error:[/bold red] {escape(message)}")
    if hint:
        err.print(f"       {escape(hint)}")
    if leave:
        sys.exit(1)


if __name__ == "__main__":
    main()
