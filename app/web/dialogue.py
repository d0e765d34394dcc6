"""The conversation that a question belongs to, as far as the question needs it."""

from dataclasses import dataclass

from app.core.access import Principal
from app.core.catalog import Catalog
from app.web.schemas.ask import Status
from generator.prompt import Turn

NEW = "new"

_MOST_TURNS = 50
_LONGEST_TITLE = 80
_TOLD = (Status.ANSWERED, Status.TRUNCATED, Status.STOPPED)


@dataclass(frozen=True)
class Dialogue:
    """`history`: what may be put before the model, oldest first. `previous`: the last question that found anything."""

    history: tuple[Turn, ...] = ()
    previous: str | None = None


def dialogue_of(catalog: Catalog, principal: Principal, conversation_id: str | None) -> Dialogue:
    """An answer that rests on text that is gone by now is not put before the model again.

    Nor is one that found nothing or failed. Blocking. Raises ConversationNotFound.
    """
    if conversation_id is None or conversation_id == NEW:
        return Dialogue()
    turns = catalog.turns(principal.tenant, principal.id, conversation_id, _MOST_TURNS)
    live = catalog.live_chunk_ids(principal.tenant, {chunk for turn in turns for chunk in turn.chunk_ids})
    history = tuple(
        Turn(turn.question, turn.answer)
        for turn in turns
        if turn.status in _TOLD and turn.answer and live.issuperset(turn.chunk_ids)
    )
    found = [turn.question for turn in turns if turn.status != Status.NO_ANSWER]
    return Dialogue(history, found[-1] if found else None)


def begun(catalog: Catalog, principal: Principal, question: str) -> str:
    """The id of a new conversation."""
    return catalog.begin_conversation(principal.tenant, principal.id, title_of(question)).id


def title_of(question: str) -> str:
    """The question in one line, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= _LONGEST_TITLE:
        return line
    cut = line[: _LONGEST_TITLE - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
