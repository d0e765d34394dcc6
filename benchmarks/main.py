"""`preread bench …`: benchmarks as commands; each prints a table, or one JSON object with `--json`."""

import typer

from benchmarks.beside import beside
from benchmarks.chunking import chunking
from benchmarks.codec.command import codec
from benchmarks.gate import gate
from benchmarks.interference import interference
from benchmarks.lab.command import lab
from benchmarks.library.command import library
from benchmarks.load.command import load
from benchmarks.preread import preread
from benchmarks.quality import quality
from benchmarks.retrieval import retrieval
from benchmarks.soak import soak
from benchmarks.store.command import store
from benchmarks.streaming import streaming
from benchmarks.ttft import ttft

bench = typer.Typer(help="Measure speed and quality on this machine.", no_args_is_help=True)
bench.command()(ttft)
bench.command()(quality)
bench.command()(gate)
bench.command()(codec)
bench.command()(preread)
bench.command()(beside)
bench.command()(interference)
bench.command()(soak)
bench.command()(streaming)
bench.command()(store)
bench.command()(library)
bench.command()(load)
bench.command()(chunking)
bench.command()(retrieval)
bench.command()(lab)
