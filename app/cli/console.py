"""The terminal: one console for results, one for errors, and the line form of progress messages."""

from rich.console import Console
from rich.markup import escape

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """One line on what is happening."""
    out.print(f"[bold]==>[/bold] {escape(message)}")
