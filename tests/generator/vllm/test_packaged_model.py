"""The packaged model in bfloat16: fused answers against plain ones, and both against the noise of batching."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from fusion_rig import TENANT, Answer, Rig, segments_of

from app.core.ids import new_id
from app.core.settings import Settings
from generator.chat import ModelTokenizer
from generator.fusion_request import FusionRequest
from generator.model_source import resolve_model
from generator.preamble import build_preamble

pytestmark = pytest.mark.alone

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
_TIE_NATS = 0.25
PAGES = ("holidays.md", "expenses.md", "travel.md")


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rig, list[int], list[list[int]], list[int]]]:
    """An engine, its preamble, three chunks of the handbook, and a question."""
    settings = Settings()
    model = resolve_model(settings)
    tokenizer = ModelTokenizer(model)
    preamble = build_preamble(tokenizer, settings)
    chunks = [tokenizer.encode((HANDBOOK / page).read_text())[:384] for page in PAGES]
    question = tokenizer.encode("\n\nQuestion: How many days of paid holiday are there?") + list(preamble.tail)
    rig = Rig.start(model, tmp_path_factory.mktemp("packaged"), dtype="bfloat16")
    rig.preread(list(preamble.ids), *chunks)
    yield rig, list(preamble.ids), chunks, question
    rig.close()


def divergence(one: Answer, other: Answer) -> float:
    """KL of the first token, in nats."""
    p, q = one.logprobs[0].double(), other.logprobs[0].double()
    return float((p.exp() * (p - q)).sum())


def first_clear_difference(plain: Answer, other: Answer) -> int | None:
    """The first token that differs, unless it was a tie in the plain run: what follows a tie may be anything.

    A tie: closer than two steps of bfloat16 for logits from 16 to 32.
    """
    pairs = enumerate(zip(plain.token_ids, other.token_ids, strict=True))
    place, tokens = next(((place, pair) for place, pair in pairs if pair[0] != pair[1]), (None, None))
    if place is None or tokens is None:
        return None
    ours, theirs = (float(plain.logprobs[place][token]) for token in tokens)
    return place if ours - theirs > _TIE_NATS else None


def noise_of_batching(rig: Rig, ids: list[int], plain: Answer) -> float:
    """The largest divergence between the prompt served alone and beside others."""
    return max(
        divergence(plain, rig.ask([(ids, None), (ids[: len(ids) - cut], None), (ids[cut:], None)])[0])
        for cut in (1, 33, 200)
    )


def test_with_every_token_fresh_the_difference_is_the_noise_of_batching(
    packaged: tuple[Rig, list[int], list[list[int]], list[int]],
) -> None:
    rig, preamble, chunks, question = packaged
    ids = [*preamble, *chunks[0], *chunks[1], *chunks[2], *question]
    segments = segments_of(preamble, *chunks)
    plain = rig.exact(ids)
    noise = noise_of_batching(rig, ids, plain)
    request = FusionRequest(new_id("ask"), TENANT, "exact", segments, nested=True)
    nested = rig.fused(ids, request)
    reuse = rig.fused(ids, FusionRequest(new_id("ask"), TENANT, "none", segments))
    error, loss = divergence(plain, nested), divergence(plain, reuse)
    print(f"KL of the first token: batching {noise:.2e}, nested forward {error:.2e}, plain reuse {loss:.2e}")
    assert nested.report is not None
    assert nested.report.fresh_tokens == segments[-1].end
    assert error <= max(3 * noise, 2e-3)
    assert loss > error


def test_an_opening_chunk_in_first_place_equals_full_prefill(
    packaged: tuple[Rig, list[int], list[list[int]], list[int]],
) -> None:
    rig, preamble, chunks, question = packaged
    ids = [*preamble, *chunks[0], *question]
    fused = rig.fused(ids, FusionRequest(new_id("ask"), TENANT, "none", segments_of(preamble, chunks[0])), 16)
    plain = rig.exact(ids, 16)
    noise, error = noise_of_batching(rig, ids, plain), divergence(plain, fused)
    print(f"KL of the first token: batching {noise:.2e}, an opening first chunk reused {error:.2e}")
    # Chunk KV is kept un-rotated in bfloat16: the keys are rounded once more than those of a plain run.
    assert error <= max(3 * noise, 4e-3)
    assert first_clear_difference(plain, fused) is None


def test_the_preamble_comes_back_bit_for_bit(
    packaged: tuple[Rig, list[int], list[list[int]], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys that are written when the preamble is loaded are those that were computed when it was pre-read."""
    rig, preamble, _, question = packaged
    layer = rig.worker_side.layers[-1]
    write = layer.impl.do_kv_cache_update
    written: list[tuple[torch.Tensor, torch.Tensor]] = []

    def keep(*arguments: torch.Tensor) -> None:
        written.append((arguments[1].clone(), arguments[2].clone()))
        write(*arguments)

    monkeypatch.setattr(layer.impl, "do_kv_cache_update", keep)
    rig.exact(preamble)
    rig.fused([*preamble, *question], FusionRequest(new_id("ask"), TENANT, "none", segments_of(preamble)))
    (computed_keys, computed_values), (loaded_keys, loaded_values) = written[:2]
    assert torch.equal(loaded_keys, computed_keys.view_as(loaded_keys))
    assert torch.equal(loaded_values, computed_values.view_as(loaded_values))
