"""Conversations as the API handles them. Blocking: routes call it in a thread."""

from dataclasses import asdict

from app.core.access import Principal
from app.core.catalog import ChunkRecord, CitedPlace, Conversation
from app.web.schemas.ask import CitationOut
from app.web.schemas.conversations import ConversationDetailOut, ConversationOut, ConversationPageOut, TurnOut
from app.web.services import Services


class Conversations:
    """One principal's own; any other does not exist for it. Every method may raise ConversationNotFound."""

    def __init__(self, services: Services, principal: Principal) -> None:
        self._catalog = services.catalog
        self._tenant = principal.tenant
        self._owner = principal.id

    def page(self, limit: int, offset: int) -> ConversationPageOut:
        page = self._catalog.conversations(self._tenant, self._owner, limit, offset)
        return ConversationPageOut(items=[_out(each) for each in page.items], total=page.total)

    def get(self, conversation_id: str, limit: int, offset: int) -> ConversationDetailOut:
        """Citations are read anew from the documents: what is deleted or replaced is cited no more."""
        conversation = self._catalog.conversation(self._tenant, self._owner, conversation_id)
        turns = self._catalog.turns(self._tenant, self._owner, conversation_id, limit, offset)
        cited = {place.chunk_id for turn in turns for place in turn.citations}
        chunks = {chunk.id: chunk for chunk in self._catalog.chunks_by_id(self._tenant, sorted(cited))}
        items = [
            TurnOut(
                request_id=turn.request_id,
                question=turn.question,
                answer=turn.answer,
                status=turn.status,
                created_at=turn.created_at,
                citations=[
                    _citation_out(place, chunks[place.chunk_id])
                    for place in turn.citations
                    if place.chunk_id in chunks
                ],
            )
            for turn in turns
        ]
        return ConversationDetailOut(**asdict(conversation), items=items)

    def rename(self, conversation_id: str, title: str) -> ConversationOut:
        return _out(self._catalog.rename_conversation(self._tenant, self._owner, conversation_id, title))

    def delete(self, conversation_id: str) -> None:
        self._catalog.delete_conversation(self._tenant, self._owner, conversation_id)


def _out(conversation: Conversation) -> ConversationOut:
    return ConversationOut(**asdict(conversation))


def _citation_out(place: CitedPlace, chunk: ChunkRecord) -> CitationOut:
    return CitationOut(
        n=place.n,
        document_id=place.document_id,
        title=chunk.document_title,
        page=place.page,
        chunk_id=place.chunk_id,
        start=place.start,
        end=place.end,
        quote=chunk.text[place.start - chunk.start : place.end - chunk.start],
        score=place.score,
    )
