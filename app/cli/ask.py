"""`preread ask`: one question, answered here."""

import json
from typing import Annotated, Any

import typer
from rich.markup import escape

from app.cli.answer_view import cache_line, citation_line, comparison, difference
from app.cli.client import ApiClient
from app.cli.console import out
from app.core.settings import get_settings
from app.web.schemas.ask import AnswerOut, CacheMode


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    cache: Annotated[
        CacheMode, typer.Option(help="off: compute everything; only: refuse when a chunk is missing.")
    ] = CacheMode.AUTO,
    policy: Annotated[str | None, typer.Option(help="How fresh tokens are chosen, such as head@16.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole answer as one JSON object.")] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Ask twice, exact and fused, and compare.")] = False,
) -> None:
    """Ask about the documents."""
    body: dict[str, Any] = {"question": question, "cache": cache.value, "policy": policy}
    with ApiClient.from_settings(get_settings()) as client:
        if compare:
            _show_comparison(*ask_both(client, body), as_json=as_json)
        elif as_json:
            typer.echo(client.ask(body).model_dump_json())
        else:
            _show(_stream(client, body))


def ask_both(client: ApiClient, body: dict[str, Any]) -> tuple[AnswerOut, AnswerOut]:
    """The exact answer, then the fused one."""
    exact = client.ask({**body, "cache": CacheMode.OFF.value, "policy": None})
    return exact, client.ask(body)


def _stream(client: ApiClient, body: dict[str, Any]) -> AnswerOut:
    """Print the text as it comes; return the finished answer."""
    streamed = False
    for event in client.ask_streaming(body):
        if event.name == "delta":
            out.file.write(event.data["text"])
            out.file.flush()
            streamed = True
        elif event.name == "done":
            answer = AnswerOut.model_validate(event.data)
            out.print("" if streamed else escape(answer.answer))
            return answer
    raise AssertionError("a stream without a terminal event")


def _show(answer: AnswerOut) -> None:
    for citation in answer.citations:
        out.print(f"  {citation_line(citation)}")
    out.print(f"[dim]{cache_line(answer)}[/dim]")


def _show_comparison(exact: AnswerOut, fused: AnswerOut, *, as_json: bool) -> None:
    if as_json:
        both = {"exact": exact.model_dump(mode="json"), "fused": fused.model_dump(mode="json")}
        typer.echo(json.dumps({**both, "same_words": exact.answer.split() == fused.answer.split()}))
        return
    out.print(escape(fused.answer))
    for citation in fused.citations:
        out.print(f"  {citation_line(citation)}")
    out.print()
    out.print(comparison(exact, fused))
    out.print(escape(difference(exact.answer, fused.answer)))
