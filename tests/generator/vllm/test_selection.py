"""Policies that look before they choose: what they look at, what they choose, and what that costs."""

from dataclasses import replace

import pytest
import torch
from fusion_rig import TENANT, Rig, distance, random_ids, segments_of
from torch import Tensor

from app.core.ids import new_id
from generator.fusion_request import FusionRequest
from generator.identity import chunk_identity
from generator.policy import PolicyName
from generator.vllm.selection import existing_layers
from kernels.rope import rotate_keys
from kvstore.codecs.codecs import LOSSLESS
from kvstore.key import Reading
from kvstore.store import Hit

QUESTION = random_ids(95, 12)
SEPARATOR = [7, 8, 9]
SCORED = ["impact", "hkvd"]
SLACK = 8
"""What the filling of gaps may leave of a budget."""


@pytest.fixture(scope="module")
def chunks() -> list[list[int]]:
    return [random_ids(seed, 90) for seed in (70, 71, 72, 73)]


@pytest.fixture
def prompt(rig: Rig, preamble: list[int], chunks: list[list[int]]):
    """Makes (ids, request) of a policy over the pre-read chunks."""
    rig.preread(preamble, *chunks)
    return lambda policy, *, using=chunks: prompt_of(preamble, using, policy)


def prompt_of(preamble: list[int], chunks: list[list[int]], policy: str) -> tuple[list[int], FusionRequest]:
    ids = list(preamble)
    for number, chunk in enumerate(chunks):
        ids += (SEPARATOR if number else []) + chunk
    segments = segments_of(preamble, *chunks, separator=SEPARATOR)
    return ids + QUESTION, FusionRequest(new_id("ask"), TENANT, policy, segments)


@pytest.mark.parametrize("name", SCORED)
def test_with_ratio_1_the_answer_is_the_exact_one(rig: Rig, prompt, name: str) -> None:
    ids, request = prompt(f"{name}@1")
    fused, plain = rig.fused(ids, request), rig.exact(ids)
    reused = rig.fused(*prompt("none"))
    assert fused.report is not None
    assert fused.report.fresh_tokens == sum(segment.n_tokens for segment in request.segments[2:])
    assert distance(plain, fused) <= 2e-5
    assert distance(plain, reused) > 100 * distance(plain, fused), "plain reuse must differ, or this proves nothing"


@pytest.mark.parametrize("name", SCORED)
def test_the_share_is_kept_and_the_choice_is_charged(rig: Rig, prompt, chunks: list[list[int]], name: str) -> None:
    ids, request = prompt(f"{name}@.1")
    report = rig.fused(ids, request).report
    assert report is not None
    texts = 3 * len(SEPARATOR)
    assert texts + 27 - SLACK <= report.fresh_tokens <= texts + 27
    context, layers = request.context_tokens, len(rig.worker_side.layers)
    deepest = rig.worker_side.fuser.selector.layers_of(PolicyName.IMPACT, request)[-1] + 1
    looked = {"impact": deepest * (len(QUESTION) + texts), "hkvd": 2 * context}
    assert report.selection == pytest.approx(looked[name] / (layers * context))
    assert report.effective_recompute == pytest.approx(report.fresh_tokens / context + report.selection)


@pytest.mark.parametrize("name", SCORED)
def test_the_same_request_chooses_the_same_tokens_again(rig: Rig, prompt, name: str) -> None:
    first, second = (rig.fused(*prompt(f"{name}@.2"), max_tokens=4) for _ in range(2))
    assert torch.equal(first.logprobs, second.logprobs)


def test_impact_is_the_questions_attention_over_the_cached_keys(
    rig: Rig, prompt, preamble: list[int], chunks: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a dense recount from the store's keys and the queries that the layers were given."""
    selector = rig.worker_side.fuser.selector
    _, request = prompt("impact@.2")
    layers = selector.layers_of(PolicyName.IMPACT, request)
    queries: dict[int, Tensor] = {}
    found: list[Tensor] = []
    for index in layers:
        layer = rig.worker_side.layers[index]
        attend = layer.impl.forward

        def watch(attention, query, *rest, index=index, attend=attend, **more):  # type: ignore[no-untyped-def]
            queries.setdefault(index, query.clone())
            return attend(attention, query, *rest, **more)

        monkeypatch.setattr(layer.impl, "forward", watch)
    impact = selector.impact

    def keep(requests):  # type: ignore[no-untyped-def]
        scores = impact(requests)
        found.append(scores[0].values)
        return scores

    monkeypatch.setattr(selector, "impact", keep)
    second = prompt_of(preamble, chunks[:2], "impact@.2")
    rig.fused(*second)
    positions = torch.cat([torch.arange(s.start, s.end) for s in second[1].segments if s.kind != "text"])
    expected = torch.zeros(second[1].context_tokens)
    for index in layers:
        keys = stored_keys(rig, index, preamble, chunks[:2], positions)
        layer = rig.worker_side.layers[index]
        rows = queries[index].view(-1, layer.attention.num_heads, layer.shape[1])[-len(QUESTION) :]
        group = layer.attention.num_heads // layer.shape[0]
        scores = torch.einsum("qhd,thd->hqt", rows, keys.repeat_interleave(group, dim=1)) * layer.impl.scale
        expected[positions] += scores.softmax(dim=-1).sum(dim=(0, 1))
    assert torch.allclose(found[0][: len(expected)], expected, atol=1e-4)


def stored_keys(rig: Rig, index: int, preamble: list[int], chunks: list[list[int]], positions: Tensor) -> Tensor:
    keys = []
    for before, ids in [((), preamble), *((preamble, chunk) for chunk in chunks)]:
        hit = rig.store.get(TENANT, chunk_identity(rig.config.fingerprint, before, ids, Reading.OPENING))
        assert isinstance(hit, Hit)
        keys.append(hit.blob.layer(index, LOSSLESS)[0].to(torch.float32))
    rotary = rig.worker_side.layers[index].rotary
    cos, sin = rotary.cos_sin(positions)
    return rotate_keys(torch.cat(keys), cos, sin, neox=rotary.neox, rotary_dim=rotary.rotary_dim)


@pytest.mark.parametrize("name", SCORED)
def test_missing_chunks_are_fresh_whatever_the_scores_say(
    rig: Rig, preamble: list[int], chunks: list[list[int]], name: str
) -> None:
    rig.preread(preamble, *chunks)
    unread = random_ids(79, 90)
    using = [chunks[0], unread, chunks[1], chunks[2]]
    ids, request = prompt_of(preamble, using, f"{name}@.1")
    answer = rig.fused(ids, request)
    assert answer.report is not None
    forced = len(unread) + 3 * len(SEPARATOR)
    assert forced + 18 - SLACK <= answer.report.fresh_tokens <= forced + 18
    ids, request = prompt_of(preamble, using, f"{name}@1")
    assert distance(rig.exact(ids), rig.fused(ids, request)) <= 2e-5


def test_a_missing_last_chunk_stands_in_for_a_question_that_waits_for_the_next_step(
    rig: Rig, preamble: list[int], chunks: list[list[int]]
) -> None:
    """The engine computes 128 tokens a step: of 300 missing ones behind the hits, the question is not among them."""
    rig.preread(preamble, *chunks)
    ids, request = prompt_of(preamble, [*chunks[:2], random_ids(78, 300)], "impact@.1")
    answer = rig.fused(ids, request)
    assert answer.report is not None
    assert [chunk.tier is None for chunk in answer.report.chunks] == [False, False, True]
    assert answer.report.reused_tokens > 0


@pytest.mark.parametrize("name", SCORED)
def test_with_nothing_to_choose_from_nothing_is_looked_at(rig: Rig, prompt, chunks: list[list[int]], name: str) -> None:
    report = rig.fused(*prompt(f"{name}@.5", using=chunks[:1])).report
    assert report is not None
    assert (report.fresh_tokens, report.selection) == (0, 0.0)


def test_a_policy_without_an_amount_gets_its_share_from_the_budget(rig: Rig, prompt) -> None:
    report = rig.fused(*prompt("impact")).report
    assert report is not None
    floor, ceiling = rig.config.share_floor, rig.config.share_ceiling
    assert 3 * len(SEPARATOR) + floor * 270 - SLACK <= report.fresh_tokens <= 3 * len(SEPARATOR) + ceiling * 270 + 1


def test_requests_of_one_step_share_forwards_and_answer_as_each_does_alone(
    rig: Rig, prompt, chunks: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    policies = ["impact@.1", "hkvd@.1", "head@4", "none", "impact@.3"]
    alone = [rig.fused(*prompt(policy, using=chunks[:2])) for policy in policies]
    sizes: list[int] = []
    fuse = rig.worker_side.fuser.fuse

    def counting(tasks):  # type: ignore[no-untyped-def]
        sizes.append(len(tasks))
        fuse(tasks)

    monkeypatch.setattr(rig.worker_side.fuser, "fuse", counting)
    together = rig.ask([prompt(policy, using=chunks[:2]) for policy in policies])
    assert max(sizes) > 1, "no two requests were fused in one step, so this proves nothing"
    for one, other in zip(alone, together, strict=True):
        assert distance(one, other) <= 2e-5
        assert one.report is not None
        assert other.report is not None
        assert one.report.fresh_tokens == other.report.fresh_tokens


def test_a_request_may_name_the_layers_it_looks_at(rig: Rig, prompt) -> None:
    ids, request = prompt("impact@.1")
    report = rig.fused(ids, replace(request, impact_layers=(0,))).report
    assert report is not None
    fresh = len(QUESTION) + 3 * len(SEPARATOR)
    assert report.selection == pytest.approx(fresh / (len(rig.worker_side.layers) * request.context_tokens))


def test_layers_are_those_that_exist_or_some_of_the_middle() -> None:
    assert existing_layers((8, 3, 3, 40), 30) == (3, 8)
    assert existing_layers((-1,), 30) == (29,)
    assert existing_layers((40,), 30) == existing_layers((), 30) == (12, 13, 14)
    assert existing_layers((), 1) == (0,)
