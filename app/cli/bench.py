"""`preread bench …`: loaded only when asked for, since it brings the model libraries with it."""

import typer

PASS_ON = {
    "allow_extra_args": True,
    "allow_interspersed_args": False,
    "ignore_unknown_options": True,
    "help_option_names": [],
}


def bench(context: typer.Context) -> None:
    """Measure speed and quality on this machine (`preread bench --help` lists what)."""
    from benchmarks.main import bench as benchmarks

    benchmarks(args=context.args, prog_name="preread bench")
