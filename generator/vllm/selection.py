"""The select stage: scores of the loaded tokens of requests whose policy looks at them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generator.fusion_request import FusionRequest
from generator.policy import PolicyName
from generator.vllm.loader import LoadedRequest
from generator.vllm.loading import WrittenLayer
from generator.vllm.pages import LayerPages
from generator.vllm.ranks import Ranks
from generator.vllm.recompute import Job, Recompute
from generator.vllm.taps import KvTap, QueryTap
from kernels.deviation import kv_deviation
from kernels.impact import attention_impact


@dataclass(frozen=True)
class Scores:
    """values: (task.end,) float32, the higher the sooner fresh; `token_layers` were computed to find them."""

    values: Tensor
    token_layers: int


class Selector:
    """Both policies run the model over a part of the request as far as the last layer that they look at.

    `impact_layers`: layers whose attention from the question is summed where the request names none. `check_layer`:
    where `hkvd` compares.
    """

    def __init__(
        self,
        layers: Sequence[LayerPages],
        recompute: Recompute,
        ranks: Ranks,
        impact_layers: Sequence[int],
        check_layer: int,
    ) -> None:
        self._layers = layers
        self._recompute = recompute
        self._ranks = ranks
        self._impact_layers = tuple(impact_layers)
        self._queries = QueryTap(layers)
        self._kv = KvTap(layers, check_layer)

    def layers_of(self, name: PolicyName, request: FusionRequest) -> tuple[int, ...]:
        """Layers whose written KV the policy looks at."""
        if name is PolicyName.IMPACT:
            own = request.impact_layers
            return existing_layers(own, len(self._layers)) if own else self._impact_layers
        return (self._kv.layer,) if name is PolicyName.HKVD else ()

    def impact(self, requests: Sequence[LoadedRequest]) -> list[Scores]:
        """How much each question looks at each loaded token, summed over the layers that were kept.

        What has no KV yet is computed along with the question, which would otherwise attend to nothing there. Where no
        token of the question is scheduled in this step, the tokens behind the loaded ones stand in for it.
        """
        jobs = [_job(request, request.unloaded) for request in requests]
        values = [torch.zeros(request.task.end) for request in requests]
        asked = [_first_asking(request) for request in requests]
        chosen = [index for request in requests for index in request.written]
        for runs in self._recompute.slices(jobs):
            with self._queries.recording(chosen) as queries:
                self._recompute.forward(jobs, runs)
            owners = runs.token_owners
            for owner, request in enumerate(requests):
                rows = (owners == owner) & (runs.positions >= asked[owner])
                for index, written in request.written.items():
                    impact = attention_impact(queries[index][rows], written.keys, self._layers[index].impl.scale)
                    values[owner][written.positions] += impact
        depth = max(chosen) + 1
        return [
            Scores(self._ranks.sum(each), depth * len(job.positions)) for each, job in zip(values, jobs, strict=True)
        ]

    def deviation(self, requests: Sequence[LoadedRequest]) -> list[Scores]:
        """How far each loaded token's keys and values at the check layer lie from those computed in this context.

        As published, the layers before it are computed for all tokens, and stay so.
        """
        positions = [torch.arange(request.task.start, _context_end(request)) for request in requests]
        jobs = [_job(request, each) for request, each in zip(requests, positions, strict=True)]
        fresh: list[list[Tensor]] = [[] for _ in requests]
        for runs in self._recompute.slices(jobs):
            with self._kv.recording() as seen:
                self._recompute.forward(jobs, runs)
            owners = runs.token_owners
            for owner in range(len(requests)):
                fresh[owner].append(torch.stack(seen)[:, owners == owner])
        return [
            Scores(self._deviation(request, torch.cat(parts, dim=1)), (self._kv.layer + 1) * len(job.positions))
            for request, parts, job in zip(requests, fresh, jobs, strict=True)
        ]

    def _deviation(self, request: LoadedRequest, fresh: Tensor) -> Tensor:
        """fresh: (2, task.end - task.start, kv_heads, head_dim), keys and values."""
        written: WrittenLayer = request.written[self._kv.layer]
        keys, values = fresh[:, written.positions - request.task.start]
        scores = torch.zeros(request.task.end)
        scores[written.positions] = kv_deviation(keys, values, written.keys, written.values)
        return self._ranks.sum(scores)


def _job(request: LoadedRequest, positions: Tensor) -> Job:
    return Job(request.task.token_ids, request.task.block_ids, positions)


def _first_asking(request: LoadedRequest) -> int:
    """The first position whose queries count: the question's, else whatever stands behind the loaded tokens."""
    context = request.task.request.context_tokens
    return context if request.task.scheduled > context else request.task.end


def _context_end(request: LoadedRequest) -> int:
    return min(request.task.end, request.task.request.context_tokens)


def existing_layers(wanted: Sequence[int], n_layers: int) -> tuple[int, ...]:
    """The layers of `wanted` that a model of `n_layers` has, -1 being its last; three of its middle if none."""
    found = sorted({layer % n_layers for layer in wanted if -n_layers <= layer < n_layers})
    middle = n_layers * 2 // 5
    return tuple(found) or tuple(range(middle, min(middle + 3, n_layers)))
