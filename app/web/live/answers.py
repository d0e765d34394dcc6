"""The answers that are being made in this process, by request id."""

import asyncio

from app.core.settings import Settings
from app.web.asked import Asked
from app.web.live.answer import LiveAnswer, Producer
from app.web.live.elsewhere import Elsewhere
from app.web.live.journal import Journal
from app.web.live.message import Message, Verb
from app.web.live.shared import queue_redis
from app.web.stream import Event, is_terminal


class LiveAnswers:
    """An answer leaves when it has ended; what it said can then be read in the journal for a while."""

    def __init__(self, settings: Settings) -> None:
        self._patience_seconds = float(settings.resume_seconds)
        self._answers: dict[str, LiveAnswer] = {}
        self._redis = queue_redis(settings)
        self._journal = Journal(self._redis, settings.resume_seconds, self._heed)
        self.elsewhere = Elsewhere(self._redis, settings.resume_seconds)

    def __len__(self) -> int:
        return len(self._answers)

    def add(self, asked: Asked, produce: Producer, *, streamed: bool) -> LiveAnswer:
        """The answer, which is made once somebody follows it."""
        return LiveAnswer(asked, produce, self, self._patience_seconds, streamed=streamed)

    def get(self, request_id: str) -> LiveAnswer | None:
        return self._answers.get(request_id)

    def begun(self, answer: LiveAnswer) -> None:
        self._answers[answer.asked.request_id] = answer
        self._journal.begin(answer.asked, events=answer.streamed or answer.asked.resumable)

    def happened(self, answer: LiveAnswer, number: int, event: Event) -> None:
        request_id = answer.asked.request_id
        self._journal.note(request_id, number, event)
        if is_terminal(event):
            del self._answers[request_id]
            self._journal.end(request_id)

    async def close(self) -> None:
        """End all that are left, and write down how."""
        await asyncio.gather(*(answer.cancel() for answer in list(self._answers.values())))
        await self._journal.close()
        await self._redis.aclose()

    def _heed(self, message: Message) -> None:
        """What another process wants of this one."""
        answer = self._answers.get(message.request_id)
        if answer is None:
            return
        if message.verb is Verb.STOP:
            answer.stop()
        else:
            answer.touch()
