"""Answers that other web processes are making, or have made, as far as they are written down in Redis."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from app.web.live.errors import AnswerLost, ResumeUnavailable
from app.web.live.message import Message, Verb
from app.web.live.shared import FIELD, TICK_SECONDS, Header, events_key, header_key, inbox_key, web_key
from app.web.problems import problem_of
from app.web.stream import IDLE_SECONDS, Frame, frame_of

log = logging.getLogger(__name__)

_LOOKS = 4
_INBOX_SECONDS = 60
_READING_SECONDS = 1.0


@dataclass(frozen=True)
class _View:
    """One look: events behind a number, the last of all, and whether the answer is still kept and its process alive."""

    frames: list[Frame]
    last: Frame | None
    header: Header | None
    alive: bool

    @property
    def ended(self) -> bool:
        return self.last is not None and self.last.terminal

    @property
    def readable(self) -> bool:
        return self.header is not None and self.header.events


class Elsewhere:
    """Every method may raise RedisError or OSError, but for `follow`."""

    def __init__(self, redis: Redis, resume_seconds: int) -> None:
        self._redis = redis
        self._resume_seconds = resume_seconds

    async def header(self, request_id: str) -> Header | None:
        """Looked for several times: the process that answers writes it a moment after it has begun."""
        for look in range(_LOOKS):
            if look:
                await asyncio.sleep(TICK_SECONDS)
            (text,) = await self._call(("GET", header_key(request_id)))
            if text is not None:
                return Header.from_json(text)
        return None

    async def is_alive(self, web: str) -> bool:
        (found,) = await self._call(("EXISTS", web_key(web)))
        return bool(found)

    async def tell(self, web: str, message: Message) -> None:
        inbox = inbox_key(web)
        await self._call(("RPUSH", inbox, str(message)), ("EXPIRE", inbox, _INBOX_SECONDS))

    async def last(self, request_id: str) -> Frame | None:
        """The newest event that is written down."""
        (entries,) = await self._call(_newest(request_id))
        return next(reversed(_frames_in(entries, 0)), None)

    async def follow(self, request_id: str, web: str, after: int) -> AsyncGenerator[Frame | None]:
        """The events behind number `after`, to a terminal one; None where none came for a while.

        A process that is gone leaves no terminal event: then it is an error, the same for whoever resumes. Where Redis
        stops answering it is an error without a number, since the answer itself may go on.
        """
        try:
            async with aclosing(self._frames(request_id, web, after)) as frames:
                async for frame in frames:
                    yield frame
        except (RedisError, OSError, ResumeUnavailable) as error:
            log.warning("answer %s cannot be followed: %s", request_id, error)
            refusal = error if isinstance(error, ResumeUnavailable) else _unreadable()
            yield frame_of(None, problem_of(refusal, request_id))

    async def _frames(self, request_id: str, web: str, after: int) -> AsyncGenerator[Frame | None]:
        heard = told = time.monotonic()
        while True:
            view = await self._look(request_id, web, after)
            for frame in view.frames:
                after, heard = frame.number or after, time.monotonic()
                yield frame
                if frame.terminal:
                    return  # a process that was taken for gone may have gone on writing
            if view.ended:
                return
            if not view.readable:
                raise _unreadable()
            if not view.alive:
                await self._declare_lost(request_id, after + 1)
                continue
            if time.monotonic() - told > _READING_SECONDS:
                told = time.monotonic()
                await self.tell(web, Message(Verb.READING, request_id))
            if time.monotonic() - heard > IDLE_SECONDS:
                heard = time.monotonic()
                yield None
            await asyncio.sleep(TICK_SECONDS)

    async def _look(self, request_id: str, web: str, after: int) -> _View:
        entries, newest, header, alive = await self._call(
            ("XRANGE", events_key(request_id), f"({after}-0", "+"),
            _newest(request_id),
            ("GET", header_key(request_id)),
            ("EXISTS", web_key(web)),
        )
        return _View(
            frames=_frames_in(entries, after),
            last=next(reversed(_frames_in(newest, 0)), None),
            header=Header.from_json(header) if header else None,
            alive=bool(alive),
        )

    async def _declare_lost(self, request_id: str, number: int) -> None:
        """Write down the terminal event that its process owes, unless another reader has just done so."""
        error = AnswerLost("The process that answered is gone; the answer is incomplete.", "Ask again.")
        frame = frame_of(number, problem_of(error, request_id))
        entry = json.dumps([(number, frame.name, frame.data)])
        events = events_key(request_id)
        try:
            await self._call(("XADD", events, f"{number}-0", FIELD, entry))
        except ResponseError as refusal:
            log.info("answer %s was declared lost before: %s", request_id, refusal)
        await self._call(*(("EXPIRE", key, self._resume_seconds) for key in (events, header_key(request_id))))

    async def _call(self, *commands: tuple[str | int, ...]) -> list[Any]:
        """The replies to the commands, which are done as one."""
        pipeline = self._redis.pipeline(transaction=True)
        for command in commands:
            pipeline.execute_command(*command)
        return await pipeline.execute()


def _newest(request_id: str) -> tuple[str | int, ...]:
    return "XREVRANGE", events_key(request_id), "+", "-", "COUNT", 1


def _frames_in(entries: Any, after: int) -> list[Frame]:
    """The events behind number `after` in a stream's entries."""
    return [
        Frame(number, name, data)
        for _, fields in entries
        for number, name, data in json.loads(fields[FIELD])
        if number > after
    ]


def _unreadable() -> ResumeUnavailable:
    return ResumeUnavailable("The answer's events cannot be read now.", "Try again in a moment, or ask again.")
