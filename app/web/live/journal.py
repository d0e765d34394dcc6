"""Running answers written to Redis behind their backs, so that other web processes can stop and resume them."""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.core.ids import new_id
from app.web.asked import Asked
from app.web.live.message import Message
from app.web.live.shared import (
    ALIVE_SECONDS,
    FIELD,
    RUNNING_SECONDS,
    TICK_SECONDS,
    Header,
    events_key,
    header_key,
    inbox_key,
    web_key,
)
from app.web.stream import Event, frame_of

log = logging.getLogger(__name__)

_MOST_BYTES = 2_000_000
_MOST_MESSAGES = 100


@dataclass
class _Entry:
    """What is not written yet of one answer; `written`: the header as it stands in Redis."""

    header: Header
    written: Header | None = None
    pending: list[tuple[int, str, str]] = field(default_factory=list)
    bytes: int = 0
    ended: bool = False

    def give_up_events(self) -> None:
        self.header = replace(self.header, events=False)
        self.pending.clear()


@dataclass(frozen=True)
class _Sent:
    """What of an entry was sent: the places of its commands in the pipeline, its header, how many events."""

    commands: range
    header: Header
    events: int
    ended: bool


class Journal:
    """Writes all answers' news in one go, a few times a second, and takes messages for them out of its inbox.

    Where Redis does not answer, answers go on; what was to be written of them is dropped, and they cannot be resumed
    elsewhere. The same holds for an answer of more than two million bytes.
    """

    def __init__(self, redis: Redis, resume_seconds: int, heed: Callable[[Message], None]) -> None:
        self._web = new_id("web")
        self._redis = redis
        self._resume_seconds = resume_seconds
        self._heed = heed
        self._entries: dict[str, _Entry] = {}
        self._begun = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._away = False

    def begin(self, asked: Asked, *, events: bool) -> None:
        """`events`: whether they are to be kept, or only who asked and where it is answered."""
        self._entries[asked.request_id] = _Entry(Header(asked.tenant, asked.owner, self._web, events))
        self._begun.set()
        self._writing = self._writing or asyncio.create_task(self._write())

    def note(self, request_id: str, number: int, event: Event) -> None:
        entry = self._entries[request_id]
        if not entry.header.events:
            return
        frame = frame_of(number, event)
        entry.pending.append((number, frame.name, frame.data))
        entry.bytes += len(frame.data)
        if entry.bytes > _MOST_BYTES:
            entry.give_up_events()

    def end(self, request_id: str) -> None:
        self._entries[request_id].ended = True

    async def close(self) -> None:
        """Write what is left."""
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait((self._writing,))
            await self._flush()

    async def _write(self) -> None:
        while True:
            await self._begun.wait()
            await self._flush()
            if not self._entries:
                self._begun.clear()
            await asyncio.sleep(TICK_SECONDS)

    async def _flush(self) -> None:
        pipeline = self._redis.pipeline(transaction=True)
        pipeline.execute_command("SET", web_key(self._web), "1", "EX", ALIVE_SECONDS)
        sent = {request_id: self._put(pipeline, request_id, entry) for request_id, entry in self._entries.items()}
        pipeline.execute_command("LPOP", inbox_key(self._web), _MOST_MESSAGES)
        try:
            results: list[Any] = await pipeline.execute(raise_on_error=False)
        except (RedisError, OSError) as error:
            self._lost(error)
            results = []
        except Exception as error:
            log.exception("running answers were not written to Redis")
            self._lost(error)
            results = []
        else:
            self._heed_all(results[-1])
        for request_id, part in sent.items():
            self._settle(request_id, part, results)

    def _put(self, pipeline: Any, request_id: str, entry: _Entry) -> _Sent:
        first = len(pipeline.command_stack)
        life = self._resume_seconds if entry.ended else RUNNING_SECONDS
        header, events = header_key(request_id), events_key(request_id)
        if entry.written != entry.header or entry.ended:
            pipeline.execute_command("SET", header, entry.header.to_json(), "EX", life)
        if entry.written is not None and entry.written.events and not entry.header.events:
            pipeline.execute_command("DEL", events)
        if entry.pending:
            pipeline.execute_command("XADD", events, f"{entry.pending[-1][0]}-0", FIELD, json.dumps(entry.pending))
        if entry.pending or entry.ended:
            pipeline.execute_command("EXPIRE", events, life)
        return _Sent(range(first, len(pipeline.command_stack)), entry.header, len(entry.pending), entry.ended)

    def _settle(self, request_id: str, sent: _Sent, results: list[Any]) -> None:
        """`results` of all commands; none where they did not arrive."""
        entry = self._entries[request_id]
        if results:
            entry.written = sent.header
            del entry.pending[: sent.events]
            refused = [results[at] for at in sent.commands if isinstance(results[at], RedisError)]
            if refused:
                log.warning("answer %s cannot be resumed elsewhere: %s", request_id, refused[0])
                entry.give_up_events()
                return  # to be written once more, without them
        if sent.ended:
            del self._entries[request_id]

    def _heed_all(self, messages: list[str] | None) -> None:
        if self._away:
            log.warning("the queue's Redis answers again: new answers can be resumed")
            self._away = False
        for text in messages or ():
            message = Message.parse(text)
            if message is not None:
                self._heed(message)

    def _lost(self, error: Exception) -> None:
        if not self._away:
            log.warning("the queue's Redis does not answer, answers cannot be resumed: %s", error)
            self._away = True
        for entry in self._entries.values():
            entry.give_up_events()
