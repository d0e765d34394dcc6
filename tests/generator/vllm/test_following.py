"""What is left alone of a chunk follows what was made fresh of it."""

from collections.abc import Callable

import pytest
import torch
from fusion_rig import TENANT, Answer, Rig, distance, random_ids
from torch import Tensor

from app.core.ids import new_id
from generator.fusion_request import FusionRequest, Segment, SegmentKind
from generator.policy import Policy
from kvstore.blob import encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS
from kvstore.key import Reading

FIRST, SECOND = random_ids(110, 60), random_ids(111, 90)
QUESTION = random_ids(112, 10)


def prompt(preamble: list[int], policy: str) -> tuple[list[int], FusionRequest]:
    """The second chunk stands right behind the first, in its conditioned reading."""
    first, second = len(preamble), len(preamble) + len(FIRST)
    segments = (
        Segment(0, first, SegmentKind.PREAMBLE, (Reading.OPENING,)),
        Segment(first, second, SegmentKind.CHUNK, (Reading.OPENING,)),
        Segment(second, second + len(SECOND), SegmentKind.CHUNK, (Reading.CONDITIONED,)),
    )
    return [*preamble, *FIRST, *SECOND, *QUESTION], FusionRequest(new_id("ask"), TENANT, policy, segments)


@pytest.fixture
def off_by(rig: Rig, preamble: list[int]) -> Callable[[float, float], None]:
    """Puts a reading of the second chunk into the store that is what this context gives, but that in every layer all
    keys and all values are off by one vector each, of so many times the mean length."""

    def put(keys: float, values: float) -> None:
        rig.preread(preamble, FIRST)
        rig.preread_behind(preamble, FIRST, SECOND)
        identity, exact = rig.staged(preamble, SECOND, Reading.CONDITIONED)
        kv = ChunkKV(shifted(exact.keys, keys), shifted(exact.values, values))
        rig.worker_side.purge(TENANT, [identity.key])
        rig.store.put(TENANT, encode_blob(kv, identity, LOSSLESS))

    return put


def shifted(layers: tuple[Tensor, ...], size: float) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(3)
    moved = []
    for layer in layers:
        vector = torch.randn(layer.shape[1:], generator=generator)
        length = layer.to(torch.float32).norm(dim=(1, 2)).mean()
        moved.append((layer.to(torch.float32) - size * length * vector / vector.norm()).to(layer.dtype))
    return tuple(moved)


def unmoved(rig: Rig, preamble: list[int]) -> Answer:
    """With the same tokens fresh and the others left as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Policy, "follows", False)
        return rig.fused(*prompt(preamble, "impact@.3"))


@pytest.mark.parametrize(("keys", "values", "left"), [(0.5, 0.0, 0.25), (0.0, 0.5, 0.7)])
def test_what_a_chunk_has_in_common_is_put_right_everywhere(
    rig: Rig, preamble: list[int], off_by, keys: float, values: float, left: float
) -> None:
    off_by(keys, values)
    plain = rig.exact([*preamble, *FIRST, *SECOND, *QUESTION])
    moved = rig.fused(*prompt(preamble, "impact@.3"))
    assert distance(plain, moved) < left * distance(plain, unmoved(rig, preamble))


def test_a_reading_that_is_right_stays_so(rig: Rig, preamble: list[int], off_by) -> None:
    off_by(0.0, 0.0)
    plain = rig.exact([*preamble, *FIRST, *SECOND, *QUESTION])
    assert distance(plain, rig.fused(*prompt(preamble, "impact@.2"))) <= 2e-5


def test_a_chunk_whose_fresh_tokens_take_several_forwards_is_moved_by_all_of_them(
    rig: Rig, preamble: list[int], off_by, monkeypatch: pytest.MonkeyPatch
) -> None:
    off_by(0.5, 0.0)
    plain = rig.exact([*preamble, *FIRST, *SECOND, *QUESTION])
    alone = unmoved(rig, preamble)
    monkeypatch.setattr(rig.worker_side.fuser.recompute, "_max_tokens", 9)
    forwards = []
    forward = rig.worker_side.fuser.recompute.forward
    monkeypatch.setattr(
        rig.worker_side.fuser.recompute, "forward", lambda *each: (forwards.append(each), forward(*each))
    )
    moved = rig.fused(*prompt(preamble, "impact@.3"))
    assert len(forwards) > 3, "all went through one forward, so this proves nothing"
    assert distance(plain, moved) < 0.5 * distance(plain, alone)
