"""Answers that are being made, here or in another web process, and just after: stopped, and followed again."""

from collections.abc import AsyncGenerator

from fastapi.concurrency import run_in_threadpool
from redis.exceptions import RedisError

from app.core.access import Permission, Principal
from app.core.catalog import AnswerNotFound
from app.web.live.answers import LiveAnswers
from app.web.live.errors import AnswerEnded, ResumeUnavailable, StopUnavailable
from app.web.live.message import Message, Verb
from app.web.live.shared import Header
from app.web.services import Services
from app.web.stream import Frame, framed


class Ongoing:
    """As one principal may see them: its own; an admin may also stop those of others in the tenant."""

    def __init__(self, services: Services, live: LiveAnswers, principal: Principal) -> None:
        self._services = services
        self._live = live
        self._principal = principal

    async def stop(self, request_id: str) -> None:
        """End an answer with what there is of it.

        Raises AnswerNotFound, AnswerEnded, and StopUnavailable where another process may have it and cannot be told.
        """
        here = self._live.get(request_id)
        if here is not None:
            self._require(request_id, here.asked.tenant, here.asked.owner, stopping=True)
            here.stop()
            return
        given = await run_in_threadpool(
            self._services.catalog.given_answer, self._principal.tenant, request_id
        )
        if given is not None:
            self._require(request_id, given.tenant, given.owner, stopping=True)
            raise _ended(request_id)
        try:
            header = await self._header(request_id, stopping=True)
            last = await self._live.elsewhere.last(request_id)
            if (last is not None and last.terminal) or not await self._live.elsewhere.is_alive(header.web):
                raise _ended(request_id)
            await self._live.elsewhere.tell(header.web, Message(Verb.STOP, request_id))
        except (RedisError, OSError) as error:
            raise StopUnavailable(
                "The answer is not made in this process, and the others cannot be told.",
                "Close its connection, or try again when Redis answers.",
            ) from error

    async def follow(self, request_id: str, after: int) -> AsyncGenerator[Frame | None] | None:
        """The events behind number `after`, to the terminal one; None: that was the terminal one.

        Raises AnswerNotFound, ResumeUnavailable.
        """
        here = self._live.get(request_id)
        if here is not None:
            self._require(request_id, here.asked.tenant, here.asked.owner)
            return framed(here.follow(after))
        elsewhere = self._live.elsewhere
        try:
            header = await self._header(request_id)
            last = await elsewhere.last(request_id)
        except (RedisError, OSError) as error:
            raise ResumeUnavailable(
                "Answers cannot be resumed: the queue's Redis does not answer.", "Try again later, or ask again."
            ) from error
        if not header.events:
            raise ResumeUnavailable(
                f"The events of {request_id} were not kept.", "Ask again; with “stream” or “resumable” they are kept."
            )
        if last is not None and last.terminal and after >= (last.number or 0):
            return None
        return elsewhere.follow(request_id, header.web, after)

    async def _header(self, request_id: str, *, stopping: bool = False) -> Header:
        header = await self._live.elsewhere.header(request_id)
        if header is None:
            raise self._not_found(request_id)
        self._require(request_id, header.tenant, header.owner, stopping=stopping)
        return header

    def _require(self, request_id: str, tenant: str, owner: str, *, stopping: bool = False) -> None:
        """Raises AnswerNotFound."""
        principal = self._principal
        own = owner == principal.id or (stopping and Permission.ADMIN in principal.permissions)
        if tenant != principal.tenant or not own:
            raise self._not_found(request_id)

    def _not_found(self, request_id: str) -> AnswerNotFound:
        return AnswerNotFound(
            f"There is no answer {request_id}.",
            f"Its events can be read until {self._services.settings.resume_seconds} s after its end.",
        )


def _ended(request_id: str) -> AnswerEnded:
    return AnswerEnded(f"The answer {request_id} has ended.", "There is nothing left to stop.")
