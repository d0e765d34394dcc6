"""`preread demo`: the example handbook, five questions, each answered with and without pre-read passages."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.panel import Panel

from app.cli.add import add_files, files_to_add, wait_until_read
from app.cli.answer_view import citation_line, comparison
from app.cli.ask import ask_both
from app.cli.client import ApiClient
from app.cli.console import out, say
from app.cli.errors import NotRunning, ProcessFailed
from app.core.settings import PACKAGED_MODEL, Settings, get_settings

_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_START_PAUSE_SECONDS = 0.3
_START_SECONDS = 1800
_STOP_SECONDS = 90
_ANSWER_TOKENS = 40

_PACKAGED_NOTE = (
    "The answers come from SmolLM2-135M-Instruct, a very small model that comes as a package so that this needs no "
    "download from a hub and no GPU. It gets simple facts right, and others wrong, with or without pre-read passages. "
    "PREREAD_MODEL takes any Hugging Face model id or local folder instead."
)


def demo(
    folder: Annotated[Path, typer.Option(help="Documents to add.", exists=True)] = _EXAMPLES / "handbook",
    questions: Annotated[
        Path, typer.Option(help="JSON list of objects with `question` and, if known, `answers`.", exists=True)
    ] = _EXAMPLES / "demo-questions.json",
) -> None:
    """Pre-read the example handbook and ask five questions about it, exact and fused side by side."""
    settings = get_settings()
    items = [Question(item["question"], tuple(item.get("answers", ()))) for item in json.loads(questions.read_text())]
    with running(settings), ApiClient.from_settings(settings) as client:
        say(f"adding {folder}")
        wait_until_read(client, add_files(client, files_to_add([folder])))
        model = client.status().model
        note = _PACKAGED_NOTE if model == PACKAGED_MODEL else f"The answers come from {escape(model)}."
        out.print(Panel(note, title="The model"))
        right = [show_question(client, number, item) for number, item in enumerate(items, start=1)]
        if all(item.answers for item in items):
            exact, fused = (sum(column) for column in zip(*right, strict=True))
            out.print(f"Right answers out of {len(items)}: {exact} exact, {fused} fused.")


@dataclass(frozen=True)
class Question:
    """`answers`: what a right answer holds one of, where that is known."""

    text: str
    answers: tuple[str, ...]

    def answered_by(self, answer: str) -> bool:
        return any(known.lower() in answer.lower() for known in self.answers)


def show_question(client: ApiClient, number: int, question: Question) -> tuple[bool, bool]:
    """Ask exactly and fused, show both; whether each is right."""
    exact, fused = ask_both(client, {"question": question.text, "max_tokens": _ANSWER_TOKENS})
    out.rule(f"[bold]{number}. {escape(question.text)}[/bold]", align="left")
    for name, answer in (("exact", exact), (f"fused, {fused.policy}", fused)):
        out.print(f"[bold]{escape(name)}[/bold]{_verdict(question, answer.answer)}: {escape(answer.answer)}")
        for citation in answer.citations:
            out.print(f"  {citation_line(citation)}")
    out.print()
    out.print(comparison(exact, fused))
    out.print()
    return question.answered_by(exact.answer), question.answered_by(fused.answer)


def _verdict(question: Question, answer: str) -> str:
    if not question.answers:
        return ""
    return " [green](right)[/green]" if question.answered_by(answer) else " [red](wrong)[/red]"


@contextmanager
def running(settings: Settings) -> Iterator[None]:
    """Preread running: the one that is there, or one of our own, stopped at the end.

    Raises ProcessFailed when ours ends before it is ready; it has said why by then.
    """
    with ApiClient.from_settings(settings) as client:
        if _is_ready(client):
            yield
            return
        from app.cli.processes import dies_with_parent
        from app.cli.stack import preread_command

        own = subprocess.Popen(
            preread_command("up"),
            start_new_session=True,
            preexec_fn=dies_with_parent(signal.SIGTERM),  # noqa: PLW1509  (one thread starts processes)
        )
        try:
            deadline = time.monotonic() + _START_SECONDS
            while not _is_ready(client):
                if own.poll() is not None or time.monotonic() > deadline:
                    raise ProcessFailed("Preread could not be started; what went wrong stands above.")
                time.sleep(_START_PAUSE_SECONDS)
            yield
        finally:
            own.terminate()
            own.wait(_STOP_SECONDS)


def _is_ready(client: ApiClient) -> bool:
    try:
        return client.readiness().ready
    except NotRunning:
        return False
