"""Pre-reading by request: what is staged is whole and un-rotated, or there is a reason instead."""

import subprocess
import sys
from pathlib import Path

import torch
from fusion_rig import TENANT, Rig, random_ids, segments_of, wait_for_note, whole
from vllm import SamplingParams

from app.core.ids import new_id
from generator.fusion_request import FusionRequest
from generator.identity import capture_identity
from kvstore.key import Reading
from kvstore.staging import read_staged, staged_path


def test_a_capture_over_several_steps_is_whole(rig: Rig, preamble: list[int]) -> None:
    """This engine prefills 128 tokens a step, so that 300 tokens behind the preamble take three."""
    chunk = random_ids(40, 300)
    segments = segments_of(preamble, chunk)
    request = FusionRequest(new_id("pre"), TENANT, "none", segments, capture=Reading.OPENING)
    identity = capture_identity(request, [*preamble, *chunk], rig.config.fingerprint)
    assert rig.capture([*preamble, *chunk], segments) is None
    found, kv = read_staged(staged_path(Path(rig.config.staging_dir), identity.key))
    assert found == identity
    assert kv.n_tokens == 300
    assert kv.n_layers == 4
    assert all(torch.isfinite(tensor).all() for tensor in (*kv.keys, *kv.values))
    assert all(bool(tensor.abs().sum(dim=(1, 2)).min() > 0) for tensor in (*kv.keys, *kv.values))


def test_captured_keys_do_not_depend_on_where_the_chunk_stood(rig: Rig) -> None:
    """In layer 0 a key depends on its token alone, so un-rotated keys of one token at many positions are all equal."""
    ids = [77] * 200
    assert rig.capture(ids, whole(ids)) is None
    request = FusionRequest("pre_1", TENANT, "none", whole(ids), capture=Reading.OPENING)
    identity = capture_identity(request, ids, rig.config.fingerprint)
    _, kv = read_staged(staged_path(Path(rig.config.staging_dir), identity.key))
    keys = kv.keys[0].to(torch.float32)
    assert float((keys - keys[0]).abs().max()) < 1e-4 * float(keys.abs().max())


def test_an_aborted_pre_reading_stages_nothing_and_says_so(rig: Rig, preamble: list[int]) -> None:
    chunk = random_ids(41, 400)
    request = FusionRequest(new_id("pre"), TENANT, "none", segments_of(preamble, chunk), capture=Reading.OPENING)
    engine = rig.llm.llm_engine
    sampling = SamplingParams(max_tokens=1, detokenize=False, extra_args={"kv_transfer_params": request.to_params()})
    engine.add_request("1000000", {"prompt_token_ids": [*preamble, *chunk], "cache_salt": new_id("salt")}, sampling)
    engine.step()
    engine.abort_request(["1000000"])
    rig.exact([5, 6, 7])
    assert "tokens were not computed" in wait_for_note(rig.notes, request.request_id)["problem"]
    identity = capture_identity(request, [*preamble, *chunk], rig.config.fingerprint)
    assert not staged_path(Path(rig.config.staging_dir), identity.key).exists()
    assert not rig.worker_side.capturing


def test_tokens_found_in_the_prefix_cache_are_never_captured_so_the_capture_fails(
    rig: Rig, preamble: list[int]
) -> None:
    chunk = random_ids(42, 200)
    request = FusionRequest(new_id("pre"), TENANT, "none", segments_of(preamble, chunk), capture=Reading.OPENING)
    ids = [*preamble, *chunk]
    salt = new_id("salt")
    plain = SamplingParams(max_tokens=1, detokenize=False)
    rig.llm.generate([{"prompt_token_ids": ids, "cache_salt": salt}], plain, use_tqdm=False)
    capturing = SamplingParams(max_tokens=1, detokenize=False, extra_args={"kv_transfer_params": request.to_params()})
    rig.llm.generate([{"prompt_token_ids": ids, "cache_salt": salt}], capturing, use_tqdm=False)
    rig.exact([5, 6, 7])
    assert "tokens were not computed" in wait_for_note(rig.notes, request.request_id)["problem"]


_THREADS = """
from concurrent.futures import ThreadPoolExecutor
import torch
from generator.vllm.capture import _on_one_core

torch.set_num_threads(2)
with ThreadPoolExecutor(1, initializer=_on_one_core) as staging:
    print(staging.submit(torch.get_num_threads).result(), torch.get_num_threads())
"""


def test_staging_computes_on_one_core_and_the_model_on_as_many_as_before() -> None:
    # In a process of its own: an engine that ran in this one has bound its threads to cores.
    run = subprocess.run([sys.executable, "-c", _THREADS], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["1", "2"]
