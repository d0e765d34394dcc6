"""A request that is preempted and resumed is fused again, and answers as if it never had been."""

import pytest
from fusion_rig import TENANT, Rig, random_ids, segments_of
from tiny_models import save_tiny_model

from app.core.ids import new_id
from generator.fusion_request import FusionRequest

QUESTION = random_ids(96, 10)


@pytest.mark.parametrize("policy", ["head@8", "impact@.2"])
def test_preempted_requests_are_fused_again(
    policy: str,
    tmp_path_factory: pytest.TempPathFactory,
    preamble: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = tmp_path_factory.mktemp("small")
    # 20 blocks of 32 tokens: two contexts of 213 tokens fit, but not with 150 more tokens each.
    small = {"block_size": 32, "num_gpu_blocks_override": 20}
    rig = Rig.start(save_tiny_model("llama", state / "model"), state, max_model_len=512, **small)
    try:
        chunks = [random_ids(seed, 90) for seed in (60, 61, 62, 63)]
        rig.preread(preamble, *chunks)
        pairs = [(chunks[0], chunks[1]), (chunks[2], chunks[3])]
        prompts = [([*preamble, *a, *b, *QUESTION], segments_of(preamble, a, b)) for a, b in pairs]

        def requests() -> list[tuple[list[int], FusionRequest]]:
            return [(ids, FusionRequest(new_id("ask"), TENANT, policy, segments)) for ids, segments in prompts]

        alone = [rig.ask([request], 150)[0] for request in requests()]
        fused: list[str] = []
        fuse = rig.worker_side.fuser.fuse

        def counting(tasks):  # type: ignore[no-untyped-def]
            fused.extend(task.request.request_id for task in tasks)
            fuse(tasks)

        monkeypatch.setattr(rig.worker_side.fuser, "fuse", counting)
        together = rig.ask(requests(), 150)
        assert len(fused) > len(set(fused)), "no request was preempted, so this proves nothing"
        assert [answer.token_ids for answer in together] == [answer.token_ids for answer in alone]
        assert all(chunk.tier for answer in together if answer.report for chunk in answer.report.chunks)
    finally:
        rig.close()
