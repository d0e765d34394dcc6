"""`preread bench …`: benchmarks as commands; each prints a table, or one JSON object with `--json`."""

import typer

from benchmarks.ttft import ttft

bench = typer.Typer(help="Measure speed and quality on this machine.", no_args_is_help=True)
bench.command()(ttft)


@bench.callback()
def _several_commands() -> None:
    """Keeps `ttft` a command of its own while it is the only one."""
