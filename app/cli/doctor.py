"""`preread doctor`: what is wrong, and how to mend it."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from app.cli.checks.finding import Finding, Level
from app.cli.console import out
from app.core.settings import Settings, get_settings

_MARKS = {Level.OK: "[green]ok  [/green]", Level.WARN: "[yellow]warn[/yellow]", Level.FAIL: "[red]FAIL[/red]"}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """Check every part; exit code 1 if one fails."""
    findings = []
    for finding in findings_of(get_settings()):
        findings.append(finding)
        if not as_json:
            show(finding)
    if as_json:
        typer.echo(json.dumps({"findings": [asdict(finding) for finding in findings]}))
    if any(finding.level is Level.FAIL for finding in findings):
        raise typer.Exit(1)


def findings_of(settings: Settings) -> Iterator[Finding]:
    """Every check, each as soon as it is done."""
    from app.cli.checks import chunk_kv, gate, index, installation, machine, profile, reranker, services

    yield installation.check_python()
    yield installation.check_packages()
    yield installation.check_pages()
    yield installation.check_redis_program(settings)
    yield installation.check_embedding_package(settings)
    yield reranker.check_reranker(settings)
    yield machine.check_model(settings)
    yield gate.check_gate(settings)
    yield profile.check_profile(settings)
    yield machine.check_state_folder(settings)
    yield machine.check_memory(settings)
    yield machine.check_ports(settings)
    yield services.check_database(settings)
    yield services.check_redis(settings)
    yield chunk_kv.check_kv_redis(settings)
    yield chunk_kv.check_kv_disk(settings)
    yield chunk_kv.check_kv_object(settings)
    yield chunk_kv.check_encryption(settings)
    yield from services.check_engines(settings)
    yield services.check_worker(settings)
    yield services.check_web(settings)
    yield index.check_index(settings)


def show(finding: Finding) -> None:
    out.print(f"{_MARKS[finding.level]}  [bold]{finding.name}[/bold]: {escape(finding.message)}")
    if finding.hint:
        out.print(f"      {escape(finding.hint)}")
