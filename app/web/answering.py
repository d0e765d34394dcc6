"""One answer: from a prepared question to typed events, the last of which is `done` or `error`."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from app.core.access import Principal
from app.core.catalog import CitedPlace, ConversationTurn, GivenAnswer
from app.core.errors import PrereadError
from app.web.answer import Progress, answer_out, source_out, ttft_ms
from app.web.answer_stages import note_stages
from app.web.asked import Asked, Generation, Told
from app.web.live.answer import LiveAnswer
from app.web.live.answers import LiveAnswers
from app.web.live.errors import ServiceStopping
from app.web.lookups import Lookups, disabled
from app.web.no_answer import no_answer
from app.web.preparing import Preparing
from app.web.problems import problem_of
from app.web.racing import until
from app.web.schemas.ask import AnswerOut, AskRequest, DeltaEvent, MetaEvent, SourcesEvent
from app.web.services import Services
from app.web.stream import Event
from generator.engine import Finished
from generator.errors import EngineFailed, EngineUnavailable
from generator.policy import PolicyName

log = logging.getLogger(__name__)

_FAILED = "failed"
_KEEPING_SECONDS = 1.0
_REPORT_OF_STOPPED_SECONDS = 0.3


class Answering:
    """`live`: the answers that are being made in this process."""

    def __init__(self, services: Services, live: LiveAnswers) -> None:
        self._services = services
        self._lookups = Lookups(services)
        self._preparing = Preparing(services, self._lookups)
        self.live = live

    async def prepare(self, ask: AskRequest, principal: Principal, told: Told | None = None) -> Asked:
        """Raises what `Preparing.prepare` raises: nothing has been sent yet."""
        return await self._preparing.prepare(ask, principal, told)

    def begin(self, asked: Asked, *, streamed: bool) -> LiveAnswer:
        """The answer, which is made once somebody follows it."""
        return self.live.add(asked, lambda stop: self.answer(asked, stop), streamed=streamed)

    async def answer(self, asked: Asked, stop: asyncio.Event) -> AsyncGenerator[Event]:
        """`meta`, `sources`, `delta`…, then exactly one of `done` and `error`. `stop` ends the generation."""
        model = self._services.settings.model
        log.info("answer %s: %s, %d passages", asked.request_id, asked.policy, len(asked.passages))
        yield MetaEvent(
            request_id=asked.request_id,
            model=model,
            policy=str(asked.policy),
            conversation_id=asked.conversation_id,
        )
        yield SourcesEvent(passages=[source_out(p) for p in asked.passages], retrieval_ms=asked.retrieval_ms)
        progress = Progress()
        try:
            async with aclosing(self._deltas(asked, progress, stop)) as deltas:
                async for delta in deltas:
                    yield delta
            last: Event = answer_out(asked, progress, model)
        except PrereadError as error:
            log.warning("answer %s broke off: %s", asked.request_id, error)
            last = problem_of(error, asked.request_id)
        except Exception as error:
            log.exception("answer %s failed", asked.request_id)
            last = problem_of(error, asked.request_id)
        note_stages(asked, progress.begun, progress.first_text, progress.report, last)
        await self._keep(asked, progress, last)
        yield last

    async def close(self) -> None:
        """Wait until what was told of answers so far is counted and kept."""
        await self._lookups.drain()

    async def _deltas(self, asked: Asked, progress: Progress, stop: asyncio.Event) -> AsyncGenerator[DeltaEvent]:
        generation = asked.generation
        if generation is None:
            progress.pieces.append(no_answer(asked.question))
            yield DeltaEvent(text=progress.pieces[0])
            return
        pieces = self._services.engine.generate(generation.token_ids, generation.request, generation.sampling)
        accounting: asyncio.Task[None] | None = None
        async with aclosing(until(pieces, stop, self._services.stopping)) as arriving:
            async for piece in arriving:
                accounting = accounting or self._lookups.in_background(self._account(asked, generation, progress))
                if isinstance(piece, Finished):
                    progress.finished = _checked(piece)
                    continue
                progress.first_text = progress.first_text or time.perf_counter()
                progress.pieces.append(piece.text)
                yield DeltaEvent(text=piece.text)
        progress.stopped = progress.finished is None and stop.is_set()
        if progress.finished is None and not progress.stopped:
            raise ServiceStopping("Preread is being stopped; the answer is incomplete.", "Ask again in a minute.")
        if accounting is not None:
            await asyncio.wait((accounting,), timeout=_REPORT_OF_STOPPED_SECONDS if progress.stopped else None)

    async def _account(self, asked: Asked, generation: Generation, progress: Progress) -> None:
        """Fetch the engine's report; an answer without one is still an answer."""
        try:
            progress.report = await self._services.engine.report(asked.request_id)
            if asked.policy.name is PolicyName.EXACT:
                progress.lookups = disabled(asked.passages)
            else:
                progress.lookups = await self._lookups.account(
                    asked.tenant,
                    progress.report,
                    generation.fingerprint,
                    asked.passages,
                    generation.conditioned,
                    len(generation.token_ids),
                    progress.first_text and progress.first_text - asked.arrived,
                )
        except (EngineUnavailable, EngineFailed) as error:
            log.warning("no report of %s: %s", asked.request_id, error)
        except Exception:
            log.exception("the look-ups of %s are not known", asked.request_id)

    async def _keep(self, asked: Asked, progress: Progress, last: Event) -> None:
        """Note the answer, and what it said in its conversation. The answer does not wait long for the database."""
        keeping = self._lookups.in_background(self._services.counting.run(self._record, asked, progress, last))
        await asyncio.wait((keeping,), timeout=_KEEPING_SECONDS)

    def _record(self, asked: Asked, progress: Progress, last: Event) -> None:
        now, answer = datetime.now(UTC), last if isinstance(last, AnswerOut) else None
        status = str(answer.status) if answer else _FAILED
        given = GivenAnswer(
            request_id=asked.request_id,
            tenant=asked.tenant,
            owner=asked.owner,
            conversation_id=asked.conversation_id,
            status=status,
            policy=str(asked.policy),
            created_at=now,
            ttft_ms=ttft_ms(asked, progress),
            question=asked.question if self._services.settings.feedback_keeps_text else None,
        )
        turn = ConversationTurn(
            request_id=asked.request_id,
            question=asked.question,
            answer=progress.text,
            status=status,
            chunk_ids=tuple(passage.chunk_id for passage in asked.passages),
            citations=tuple(
                CitedPlace(each.n, each.document_id, each.chunk_id, each.page, each.start, each.end, each.score)
                for each in (answer.citations if answer else ())
            ),
            created_at=now,
        )
        try:
            self._services.catalog.record_answer(given, turn)
        except Exception:
            log.exception("answer %s was not kept", asked.request_id)


def _checked(finished: Finished) -> Finished:
    """Raises EngineFailed unless the answer came to an end of its own."""
    if finished.finish_reason not in ("stop", "length"):
        raise EngineFailed(f"The engine ended the answer early: {finished.finish_reason}.", "Ask again.")
    return finished
