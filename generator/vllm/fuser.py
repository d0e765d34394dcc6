"""Fusion of the requests of one step: load, select, recompute, report."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generator.budget import Budget
from generator.plan import fresh_positions, needs_scores
from generator.policy import Policy, PolicyName, parse_policy
from generator.vllm.drift import Drift, Followed
from generator.vllm.loader import LoadedRequest, Loader
from generator.vllm.metadata import FusionTask, PrefetchTask
from generator.vllm.ranks import Ranks
from generator.vllm.recompute import Job, Recompute
from generator.vllm.reporting import Fused, Reporter
from generator.vllm.selection import Scores, Selector


@dataclass(frozen=True)
class _Planned:
    """`fresh` are positions of the fused context; what is to be filled behind it is computed too. `follows`: whether
    what is left alone of a chunk follows its fresh tokens."""

    request: LoadedRequest
    fresh: Tensor
    token_layers: int
    follows: bool

    @property
    def job(self) -> Job:
        task = self.request.task
        behind = torch.arange(task.end)[max(task.request.context_tokens, task.start) :]
        return Job(task.token_ids, task.block_ids, torch.cat([self.fresh, behind]))


class Fuser:
    """Fills the promised positions of requests before vLLM goes on with their questions.

    Requests that arrive in one step share the forwards of both stages; each waits for all, and its report says so.
    """

    def __init__(
        self,
        loader: Loader,
        selector: Selector,
        recompute: Recompute,
        drift: Drift,
        budget: Budget,
        ranks: Ranks,
        reporter: Reporter,
    ) -> None:
        self._loader = loader
        self.selector = selector
        self.recompute = recompute
        self._drift = drift
        self._budget = budget
        self._ranks = ranks
        self._reporter = reporter

    def prefetch(self, tasks: Sequence[PrefetchTask]) -> None:
        """Start fetching for requests that still wait."""
        for task in tasks:
            self._loader.prefetch(task)

    def fuse(self, tasks: Sequence[FusionTask]) -> None:
        policies = [_policy(task) for task in tasks]
        loaded = [
            self._loader.load(task, self.selector.layers_of(policy.name, task.request))
            for task, policy in zip(tasks, policies, strict=True)
        ]
        began = time.perf_counter()
        planned = self._plan(loaded, policies)
        selected = time.perf_counter()
        working = [(each, job) for each in planned if len((job := each.job).positions)]
        jobs = [job for _, job in working]
        followed = [
            Followed(owner, job.block_ids, each.request.placed, each.fresh)
            for owner, (each, job) in enumerate(working)
            if each.follows
        ]
        self.recompute(jobs, self._drift.of(followed))
        recomputed = time.perf_counter()
        self._budget.observe(recomputed - selected, sum(len(job.positions) for job in jobs))
        for each in planned:
            fused = Fused(
                load_s=each.request.load_s,
                select_s=selected - began,
                recompute_s=recomputed - selected,
                fresh=len(each.fresh),
                token_layers=each.token_layers,
            )
            self._reporter.fused(each.request.task, each.request.outcomes, fused)

    def _plan(self, loaded: Sequence[LoadedRequest], policies: Sequence[Policy]) -> list[_Planned]:
        planned = []
        for request, policy, found in zip(loaded, policies, self._scores(loaded, policies), strict=True):
            task = request.task
            budgeted = policy.with_share(self._share(request)) if policy.wants_share else policy
            values = found.values if found else None
            end = min(task.end, task.request.context_tokens)
            fresh = fresh_positions(request.segments, task.start, end, budgeted, values)
            planned.append(_Planned(request, fresh, found.token_layers if found else 0, policy.follows))
        return planned

    def _share(self, request: LoadedRequest) -> float:
        """Rank 0's share: each measures other seconds, and all must choose the same."""
        tokens = min(request.task.end, request.task.request.context_tokens) - request.task.start
        share = self._budget.share(request.load_s, tokens)
        return float(self._ranks.sum(torch.tensor([share if self._ranks.leads else 0.0])))

    def _scores(self, loaded: Sequence[LoadedRequest], policies: Sequence[Policy]) -> list[Scores | None]:
        """Scores where a scored policy has anything to choose from."""
        scores: list[Scores | None] = [None] * len(loaded)
        for name, score in ((PolicyName.IMPACT, self.selector.impact), (PolicyName.HKVD, self.selector.deviation)):
            chosen = [
                index
                for index, (request, policy) in enumerate(zip(loaded, policies, strict=True))
                if policy.name is name and needs_scores(request.segments, request.task.start)
            ]
            if chosen:
                for index, found in zip(chosen, score([loaded[index] for index in chosen]), strict=True):
                    scores[index] = found
        return scores


def _policy(task: FusionTask) -> Policy:
    return Policy(PolicyName.EXACT) if task.request.nested else parse_policy(task.request.policy)
