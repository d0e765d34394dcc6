"""A question made ready: everything that can be refused has been, before the first event."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.core.codes import Code
from app.core.errors import BadInput, Conflict
from app.core.ids import new_id
from app.core.request_context import stage
from app.web.lookups import Lookups
from app.web.schemas.ask import AskRequest, CacheMode
from app.web.scope import scope_of
from app.web.services import Services
from generator.conditioning import Conditioning
from generator.engine import EngineStatus, Sampling
from generator.errors import BadPolicy, QuestionTooLong
from generator.fusion_request import FusionRequest
from generator.identity import segment_identities
from generator.policy import Policy, PolicyName, parse_policy
from generator.prompt import Prompt, assemble
from retrieval.ordering import prefer_first
from retrieval.search import Passage


class CacheIncomplete(Conflict):
    code = Code.CACHE_INCOMPLETE


class ContradictoryCache(BadInput):
    code = Code.CONTRADICTORY_CACHE


@dataclass(frozen=True)
class Generation:
    """What to send to the engine; `conditioned`: whether its chunks have two readings."""

    token_ids: list[int]
    request: FusionRequest
    sampling: Sampling
    fingerprint: str
    conditioned: bool


@dataclass(frozen=True)
class Asked:
    """`arrived` is a `perf_counter` time; `generation` is None where no passage was found."""

    request_id: str
    tenant: str
    question: str
    policy: Policy
    arrived: float
    retrieval_ms: float
    passages: tuple[Passage, ...]
    generation: Generation | None


class Preparing:
    def __init__(self, services: Services, lookups: Lookups) -> None:
        self._services = services
        self._lookups = lookups

    async def prepare(self, ask: AskRequest, tenant: str) -> Asked:
        """Retrieve passages and assemble the prompt.

        Raises BadLabel, BadPolicy, ContradictoryCache, QuestionTooLong, CacheIncomplete, EngineUnavailable.
        """
        return await self._services.asking.run(self._prepare, ask, tenant, time.perf_counter())

    def _prepare(self, ask: AskRequest, tenant: str, arrived: float) -> Asked:
        settings = self._services.settings
        policy = _policy(ask, self._services.default_policy)
        began = time.perf_counter()
        with stage("retrieve"):
            passages = tuple(
                self._services.retriever.retrieve(
                    tenant, ask.question, settings.top_k, settings.min_score, scope_of(ask.scope)
                )
            )
        retrieval_ms = 1000 * (time.perf_counter() - began)
        request_id = new_id("req")
        if not passages:
            return Asked(request_id, tenant, ask.question, policy, arrived, retrieval_ms, (), None)
        status = self._services.engine.status()
        conditioned = self._services.conditioning is not Conditioning.OFF and not policy.alone
        if conditioned and settings.first_place_margin > 0:
            passages = self._ordered(tenant, status, passages)
        answer_tokens = ask.max_tokens or settings.max_answer_tokens
        room = status.max_model_tokens - answer_tokens
        passages, prompt = self._assemble(passages, ask.question, room, conditioned)
        request, withheld = self._withhold(
            FusionRequest(request_id, tenant, str(policy), prompt.segments), prompt, status.fingerprint
        )
        if ask.cache is CacheMode.ONLY:
            self._require_cache(tenant, status, passages, conditioned, withheld)
        generation = Generation(
            prompt.token_ids,
            request,
            Sampling(answer_tokens, ask.temperature),
            status.fingerprint,
            conditioned,
        )
        return Asked(request_id, tenant, ask.question, policy, arrived, retrieval_ms, passages, generation)

    def _ordered(self, tenant: str, status: EngineStatus, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        opened = self._lookups.opened(tenant, status.fingerprint, passages)
        return tuple(prefer_first(passages, opened, self._services.settings.first_place_margin))

    def _assemble(
        self, passages: tuple[Passage, ...], question: str, room: int, conditioned: bool
    ) -> tuple[tuple[Passage, ...], Prompt]:
        """The prompt with as many passages as fit, at least one. Raises QuestionTooLong."""
        for number in range(len(passages), 1, -1):
            try:
                return passages[:number], self._prompt(passages[:number], question, room, conditioned)
            except QuestionTooLong:
                continue
        return passages[:1], self._prompt(passages[:1], question, room, conditioned)

    def _prompt(self, passages: Sequence[Passage], question: str, room: int, conditioned: bool) -> Prompt:
        chunks = [passage.token_ids for passage in passages]
        tokenizer, preamble = self._services.tokenizer, self._services.preamble
        return assemble(tokenizer, preamble, chunks, question, max(room, 0), conditioned=conditioned)

    def _withhold(
        self, request: FusionRequest, prompt: Prompt, fingerprint: str
    ) -> tuple[FusionRequest, frozenset[str]]:
        """The request without readings that a deletion wanted gone and that may still lie somewhere, and their keys."""
        identities = segment_identities(request, prompt.token_ids, fingerprint)
        keys = [identity.key for each in identities for identity in each]
        withheld = frozenset(
            tombstone.key for tombstone in self._services.catalog.standing_tombstones(request.tenant, keys)
        )
        if not withheld:
            return request, withheld
        segments = tuple(
            replace(segment, readings=tuple(each.reading for each in offered if each.key not in withheld))
            for segment, offered in zip(request.segments, identities, strict=True)
        )
        return replace(request, segments=segments), withheld

    def _require_cache(
        self,
        tenant: str,
        status: EngineStatus,
        passages: Sequence[Passage],
        conditioned: bool,
        withheld: Collection[str],
    ) -> None:
        if not status.fusion:
            raise CacheIncomplete(f"The engine computes everything: {status.fusion_reason}.", "Ask with cache “auto”.")
        missing = self._lookups.missing(tenant, status.fingerprint, passages, conditioned, withheld)
        if missing:
            self._lookups.have_read(tenant, missing)
            raise CacheIncomplete(
                f"{len(missing)} of {len(passages)} chunks have not been pre-read.",
                "They are being read; ask again in a moment, or with cache “auto”.",
            )


def _policy(ask: AskRequest, default: str) -> Policy:
    policy = parse_policy(ask.policy or default)
    if ask.cache is CacheMode.OFF:
        return Policy(PolicyName.EXACT)
    if ask.cache is CacheMode.ONLY and policy.name is PolicyName.EXACT:
        raise ContradictoryCache("The policy “exact” computes everything, and cache “only” forbids it.")
    if ask.ratio is None:
        return policy
    if not policy.scored:
        raise BadPolicy(f"The policy “{policy}” has no ratio.", "Leave the ratio out, or ask with impact or hkvd.")
    return replace(policy, amount=ask.ratio)
