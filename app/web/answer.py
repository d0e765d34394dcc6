"""The finished answer, from what was asked and what became of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.web.asked import Asked
from app.web.lookups import Lookup
from app.web.schemas.ask import (
    AnswerOut,
    CacheOut,
    CitationOut,
    DebugOut,
    FusionOut,
    MissOut,
    PromptTokens,
    SegmentOut,
    SourceOut,
    Status,
    Timings,
    Usage,
)
from generator.engine import Finished, cache_salt
from generator.fusion_request import SegmentKind
from generator.policy import PolicyName
from generator.report import FusionReport
from retrieval.passages import cite
from retrieval.search import Passage


@dataclass
class Progress:
    """What is known of an answer so far. `begun`, `first_text`: `perf_counter` times; `stopped`: before its end."""

    begun: float = field(default_factory=time.perf_counter)
    pieces: list[str] = field(default_factory=list)
    first_text: float | None = None
    report: FusionReport | None = None
    lookups: list[Lookup] = field(default_factory=list)
    finished: Finished | None = None
    stopped: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()


def answer_out(asked: Asked, progress: Progress, model: str) -> AnswerOut:
    text, report = progress.text, progress.report
    return AnswerOut(
        request_id=asked.request_id,
        answer=text,
        status=_status(asked, progress),
        citations=[] if asked.generation is None else _citations(text, asked.passages),
        usage=_usage(asked, progress),
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
        model=model,
        policy=str(asked.policy),
        fusion=_fusion(asked, report),
        conversation_id=asked.conversation_id,
        debug=_debug(asked, progress) if asked.debug else None,
    )


def source_out(passage: Passage) -> SourceOut:
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


def ttft_ms(asked: Asked, progress: Progress) -> float | None:
    """From the question's arrival to the first text; None: there was none."""
    return None if progress.first_text is None else 1000 * (progress.first_text - asked.arrived)


def _status(asked: Asked, progress: Progress) -> Status:
    if progress.stopped:
        return Status.STOPPED
    if asked.generation is None or progress.finished is None or not progress.text:
        return Status.NO_ANSWER
    return Status.TRUNCATED if progress.finished.finish_reason == "length" else Status.ANSWERED


def _usage(asked: Asked, progress: Progress) -> Usage:
    """Of a stopped answer the engine tells no numbers: its tokens are at least as many as its pieces."""
    report, finished = progress.report, progress.finished
    prompt_tokens = len(asked.generation.token_ids) if asked.generation else 0
    pieces = len(progress.pieces) if asked.generation else 0
    return Usage(
        prompt_tokens=finished.prompt_tokens if finished else prompt_tokens,
        completion_tokens=finished.completion_tokens if finished else pieces,
        reused_tokens=report and report.reused_tokens,
        fresh_tokens=report and report.fresh_tokens,
        prefix_tokens=report and report.prefix_tokens,
    )


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


def _timings(asked: Asked, progress: Progress) -> Timings:
    # An exact request has no load, select or recompute stage.
    report = progress.report if asked.policy.name is not PolicyName.EXACT else None
    return Timings(
        retrieval_ms=asked.retrieval_ms,
        load_ms=1000 * report.load_s if report else None,
        select_ms=1000 * report.select_s if report else None,
        recompute_ms=1000 * report.recompute_s if report else None,
        ttft_ms=ttft_ms(asked, progress),
        total_ms=1000 * (time.perf_counter() - asked.arrived),
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


def _debug(asked: Asked, progress: Progress) -> DebugOut | None:
    """None where the model was not asked."""
    generation = asked.generation
    if generation is None:
        return None
    segments = generation.request.segments
    tokens = dict.fromkeys(SegmentKind, 0)
    for segment in segments:
        tokens[segment.kind] += segment.n_tokens
    behind = len(generation.token_ids) - generation.request.context_tokens
    chunks = iter(asked.passages)
    outcomes = {lookup.passage.chunk_id: lookup for lookup in progress.lookups}
    shown = []
    for segment in segments:
        passage = next(chunks) if segment.kind is SegmentKind.CHUNK else None
        lookup = outcomes.get(passage.chunk_id) if passage else None
        shown.append(
            SegmentOut(
                kind=segment.kind,
                start=segment.start,
                end=segment.end,
                readings=list(segment.readings),
                chunk_id=passage and passage.chunk_id,
                tier=lookup and lookup.tier,
                reason=lookup and lookup.reason,
            )
        )
    return DebugOut(
        prompt=PromptTokens(
            preamble=tokens[SegmentKind.PREAMBLE],
            passages=tokens[SegmentKind.CHUNK],
            numbers=tokens[SegmentKind.TEXT],
            history=generation.history_tokens,
            question=behind - generation.history_tokens,
        ),
        segments=shown,
        policy=str(asked.policy),
        conditioned=generation.conditioned,
        fingerprint=generation.fingerprint,
        cache_salt=cache_salt(generation.request),
        searched_with=asked.searched_with,
    )
