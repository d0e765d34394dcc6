from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as PathParam

from app.core.catalog import ConversationNotFound
from app.web.access.guard import ASK
from app.web.deps import ConversationsDep, Limit, Offset
from app.web.openapi import problems
from app.web.schemas.conversations import (
    ConversationDetailOut,
    ConversationIn,
    ConversationOut,
    ConversationPageOut,
)

router = APIRouter(prefix="/conversations", tags=["conversations"])

ConversationId = Annotated[
    str, PathParam(max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="The conversation.")
]

_NOT_FOUND = problems(ConversationNotFound)


@router.get(
    "", operation_id="list_conversations", dependencies=[ASK], summary="Your conversations, the last used first"
)
def list_conversations(conversations: ConversationsDep, limit: Limit = 50, offset: Offset = 0) -> ConversationPageOut:
    return conversations.page(limit, offset)


@router.get(
    "/{conversation_id}",
    operation_id="get_conversation",
    dependencies=[ASK],
    summary="Show one conversation",
    responses=_NOT_FOUND,
)
def get_conversation(
    conversation_id: ConversationId, conversations: ConversationsDep, limit: Limit = 100, offset: Offset = 0
) -> ConversationDetailOut:
    """Its newest turns in order; `offset` counts from the newest. Passages that are gone are not cited any more."""
    return conversations.get(conversation_id, limit, offset)


@router.patch(
    "/{conversation_id}",
    operation_id="rename_conversation",
    dependencies=[ASK],
    summary="Give a conversation another title",
    responses=_NOT_FOUND,
)
def rename_conversation(
    conversation_id: ConversationId, wanted: ConversationIn, conversations: ConversationsDep
) -> ConversationOut:
    return conversations.rename(conversation_id, wanted.title)


@router.delete(
    "/{conversation_id}",
    operation_id="delete_conversation",
    dependencies=[ASK],
    summary="Delete a conversation and all its turns",
    status_code=204,
    responses=_NOT_FOUND,
)
def delete_conversation(conversation_id: ConversationId, conversations: ConversationsDep) -> None:
    conversations.delete(conversation_id)
