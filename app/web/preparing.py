"""A question made ready: everything that can be refused has been, before the first event."""

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from app.core.access import Permission, Principal
from app.core.codes import Code
from app.core.errors import BadInput, Conflict
from app.core.ids import new_id
from app.core.request_context import stage
from app.web.access.errors import Forbidden
from app.web.asked import Asked, Generation, Told
from app.web.dialogue import NEW, Dialogue, begun, dialogue_of
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
from retrieval.follow_up import retrieve_follow_up
from retrieval.ordering import prefer_first
from retrieval.search import Passage


class CacheIncomplete(Conflict):
    code = Code.CACHE_INCOMPLETE


class ContradictoryCache(BadInput):
    code = Code.CONTRADICTORY_CACHE


class Preparing:
    def __init__(self, services: Services, lookups: Lookups) -> None:
        self._services = services
        self._lookups = lookups

    async def prepare(self, ask: AskRequest, principal: Principal, told: Told | None = None) -> Asked:
        """Retrieve passages and assemble the prompt. `told`: the history, where it is not a conversation's.

        Raises BadLabel, BadPolicy, ContradictoryCache, ConversationNotFound, Forbidden, QuestionTooLong,
        CacheIncomplete, EngineUnavailable.
        """
        asked = await self._services.asking.run(self._prepare, ask, principal, told, time.perf_counter())
        if ask.conversation_id != NEW:
            return asked
        # Behind the search, which goes on where the client has left: nothing is to be kept of it then.
        catalog, question = self._services.catalog, ask.question
        return replace(asked, conversation_id=await self._services.asking.run(begun, catalog, principal, question))

    def _prepare(self, ask: AskRequest, principal: Principal, told: Told | None, arrived: float) -> Asked:
        catalog = self._services.catalog
        policy = _policy(ask, self._services.default_policy)
        if ask.debug and Permission.ADMIN not in principal.permissions:
            raise Forbidden(f"{principal.name} may not see how answers are made.", "Ask without “debug”.")
        if told is None:
            dialogue = dialogue_of(catalog, principal, ask.conversation_id)
            told = Told(dialogue.history)
        else:
            dialogue = Dialogue(told.history, told.history[-1].question if told.history else None)
        began = time.perf_counter()
        with stage("retrieve"):
            passages = self._retrieve(ask, principal.tenant, dialogue.previous)
        retrieval_ms = 1000 * (time.perf_counter() - began)
        request_id = new_id("req")
        generation = None
        if passages:
            passages, generation = self._generation(request_id, ask, principal.tenant, policy, passages, told)
        return Asked(
            request_id=request_id,
            tenant=principal.tenant,
            owner=principal.id,
            question=ask.question,
            policy=policy,
            arrived=arrived,
            retrieval_ms=retrieval_ms,
            passages=passages,
            generation=generation,
            conversation_id=None if ask.conversation_id == NEW else ask.conversation_id,
            resumable=ask.resumable,
            debug=ask.debug,
            searched_with=dialogue.previous,
        )

    def _retrieve(self, ask: AskRequest, tenant: str, previous: str | None) -> tuple[Passage, ...]:
        settings, scope = self._services.settings, scope_of(ask.scope)

        def retrieve(question: str) -> list[Passage]:
            return self._services.retriever.retrieve(tenant, question, settings.top_k, settings.min_score, scope)

        return tuple(retrieve_follow_up(retrieve, ask.question, previous, settings.top_k))

    def _generation(
        self,
        request_id: str,
        ask: AskRequest,
        tenant: str,
        policy: Policy,
        passages: tuple[Passage, ...],
        told: Told,
    ) -> tuple[tuple[Passage, ...], Generation]:
        """What to send to the engine, and the passages that fit."""
        settings, status = self._services.settings, self._services.engine.status()
        conditioned = self._services.conditioning is not Conditioning.OFF and not policy.alone
        if conditioned and settings.first_place_margin > 0:
            passages = self._ordered(tenant, status, passages)
        answer_tokens = ask.max_tokens or settings.max_answer_tokens
        room = status.max_model_tokens - answer_tokens
        passages, prompt = self._assemble(passages, ask.question, told, room, conditioned)
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
            prompt.history_tokens,
        )
        return passages, generation

    def _ordered(self, tenant: str, status: EngineStatus, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        opened = self._lookups.opened(tenant, status.fingerprint, passages)
        return tuple(prefer_first(passages, opened, self._services.settings.first_place_margin))

    def _assemble(
        self, passages: tuple[Passage, ...], question: str, told: Told, room: int, conditioned: bool
    ) -> tuple[tuple[Passage, ...], Prompt]:
        """The prompt with as many passages as fit, at least one. Raises QuestionTooLong."""
        for number in range(len(passages), 1, -1):
            try:
                return passages[:number], self._prompt(passages[:number], question, told, room, conditioned)
            except QuestionTooLong:
                continue
        return passages[:1], self._prompt(passages[:1], question, told, room, conditioned)

    def _prompt(
        self, passages: Sequence[Passage], question: str, told: Told, room: int, conditioned: bool
    ) -> Prompt:
        return assemble(
            self._services.tokenizer,
            self._services.preamble,
            [passage.token_ids for passage in passages],
            question,
            max(room, 0),
            conditioned=conditioned,
            history=told.history,
            history_tokens=self._services.settings.history_tokens,
            instruction=told.instruction,
        )

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
