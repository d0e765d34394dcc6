"""One answer: from a prepared question to typed events, the last of which is `done` or `error`."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from app.core.errors import PrereadError
from app.web.answer_stages import note_stages
from app.web.asked import Asked, Generation, Preparing
from app.web.lookups import Lookup, Lookups, disabled
from app.web.no_answer import no_answer
from app.web.problems import problem_of
from app.web.racing import until
from app.web.schemas.ask import (
    AnswerOut,
    AskRequest,
    CacheOut,
    CitationOut,
    DeltaEvent,
    FusionOut,
    MetaEvent,
    MissOut,
    SourceOut,
    SourcesEvent,
    Status,
    Timings,
    Usage,
)
from app.web.services import Services
from app.web.stream import Event
from generator.engine import Finished
from generator.errors import EngineFailed, EngineUnavailable
from generator.policy import PolicyName
from generator.report import FusionReport
from retrieval.passages import cite
from retrieval.search import Passage

log = logging.getLogger(__name__)


@dataclass
class _Progress:
    """What is known of an answer so far; `begun` and `first_text` are `perf_counter` times."""

    begun: float = field(default_factory=time.perf_counter)
    text: list[str] = field(default_factory=list)
    first_text: float | None = None
    report: FusionReport | None = None
    lookups: list[Lookup] = field(default_factory=list)
    finished: Finished | None = None


class Answering:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._lookups = Lookups(services)
        self._preparing = Preparing(services, self._lookups)

    async def prepare(self, ask: AskRequest, tenant: str) -> Asked:
        """Raises what `Preparing.prepare` raises: nothing has been sent yet."""
        return await self._preparing.prepare(ask, tenant)

    async def answer(self, asked: Asked) -> AsyncGenerator[Event]:
        """`meta`, `sources`, `delta`…, then exactly one of `done` and `error`. Closing it ends the generation."""
        settings = self._services.settings
        log.info("answer %s: %s, %d passages", asked.request_id, asked.policy, len(asked.passages))
        yield MetaEvent(request_id=asked.request_id, model=settings.model, policy=str(asked.policy))
        yield SourcesEvent(passages=[_source(p) for p in asked.passages], retrieval_ms=asked.retrieval_ms)
        progress = _Progress()
        try:
            async with aclosing(self._deltas(asked, progress)) as deltas:
                async for delta in deltas:
                    yield delta
            last: Event = self._done(asked, progress)
        except PrereadError as error:
            log.warning("answer %s broke off: %s", asked.request_id, error)
            last = problem_of(error, asked.request_id)
        except Exception as error:
            log.exception("answer %s failed", asked.request_id)
            last = problem_of(error, asked.request_id)
        note_stages(asked, progress.begun, progress.first_text, progress.report, last)
        yield last

    async def close(self) -> None:
        await self._lookups.drain()

    async def _deltas(self, asked: Asked, progress: _Progress) -> AsyncGenerator[DeltaEvent]:
        if asked.generation is None:
            progress.text.append(no_answer(asked.question))
            yield DeltaEvent(text=progress.text[0])
            return
        generation = asked.generation
        pieces = self._services.engine.generate(generation.token_ids, generation.request, generation.sampling)
        accounting: asyncio.Task[None] | None = None
        async with aclosing(until(self._services.stopping, pieces)) as arriving:
            async for piece in arriving:
                accounting = accounting or self._lookups.in_background(self._account(asked, generation, progress))
                if isinstance(piece, Finished):
                    progress.finished = _checked(piece)
                    continue
                progress.first_text = progress.first_text or time.perf_counter()
                progress.text.append(piece.text)
                yield DeltaEvent(text=piece.text)
        if accounting is not None:
            await asyncio.shield(accounting)

    async def _account(self, asked: Asked, generation: Generation, progress: _Progress) -> None:
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

    def _done(self, asked: Asked, progress: _Progress) -> AnswerOut:
        text = "".join(progress.text).strip()
        report = progress.report
        finished = progress.finished
        return AnswerOut(
            request_id=asked.request_id,
            answer=text,
            status=_status(asked, text, finished),
            citations=_citations(text, asked.passages) if finished else [],
            usage=Usage(
                prompt_tokens=finished.prompt_tokens if finished else 0,
                completion_tokens=finished.completion_tokens if finished else 0,
                reused_tokens=report and report.reused_tokens,
                fresh_tokens=report and report.fresh_tokens,
                prefix_tokens=report and report.prefix_tokens,
            ),
            timings=_timings(asked, progress),
            cache=CacheOut(
                chunks=len(asked.passages),
                hits=sum(lookup.tier is not None for lookup in progress.lookups),
                misses=[
                    MissOut(chunk_id=lookup.passage.chunk_id, reason=lookup.reason)
                    for lookup in progress.lookups
                    if lookup.reason is not None
                ],
            ),
            model=self._services.settings.model,
            policy=str(asked.policy),
            fusion=_fusion(asked, report),
        )


def _checked(finished: Finished) -> Finished:
    """Raises EngineFailed unless the answer came to an end of its own."""
    if finished.finish_reason not in ("stop", "length"):
        raise EngineFailed(f"The engine ended the answer early: {finished.finish_reason}.", "Ask again.")
    return finished


def _status(asked: Asked, text: str, finished: Finished | None) -> Status:
    if asked.generation is None or finished is None or not text:
        return Status.NO_ANSWER
    return Status.TRUNCATED if finished.finish_reason == "length" else Status.ANSWERED


def _fusion(asked: Asked, report: FusionReport | None) -> FusionOut:
    if report is not None and report.reused_tokens:
        return FusionOut(used=True, reason=None)
    if not asked.passages:
        return FusionOut(used=False, reason="no passage was found")
    if asked.policy.name is PolicyName.EXACT:
        return FusionOut(used=False, reason="the policy is exact")
    if report is None:
        return FusionOut(used=False, reason="the engine gave no report")
    return FusionOut(used=False, reason=report.not_fused or "no chunk had usable KV")


def _timings(asked: Asked, progress: _Progress) -> Timings:
    # An exact request has no load, select or recompute stage.
    report = progress.report if asked.policy.name is not PolicyName.EXACT else None

    def since(moment: float | None) -> float | None:
        return None if moment is None else 1000 * (moment - asked.arrived)

    return Timings(
        retrieval_ms=asked.retrieval_ms,
        load_ms=1000 * report.load_s if report else None,
        select_ms=1000 * report.select_s if report else None,
        recompute_ms=1000 * report.recompute_s if report else None,
        ttft_ms=since(progress.first_text),
        total_ms=1000 * (time.perf_counter() - asked.arrived),
    )


def _source(passage: Passage) -> SourceOut:
    return SourceOut(
        n=passage.n,
        document_id=passage.document_id,
        title=passage.title,
        name=passage.name,
        page=passage.page,
        chunk_id=passage.chunk_id,
        score=passage.score,
        text=passage.text,
    )


def _citations(text: str, passages: Sequence[Passage]) -> list[CitationOut]:
    return [
        CitationOut(
            n=citation.n,
            document_id=citation.document_id,
            title=citation.title,
            page=citation.page,
            chunk_id=citation.chunk_id,
            start=citation.start,
            end=citation.end,
            quote=citation.quote,
            score=citation.score,
        )
        for citation in cite(text, passages)
    ]
