"""A question goes before pre-reading, also before a chunk that is half read, which is captured whole all the same."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from fusion_rig import TENANT, Rig, random_ids, segments_of, wait_for_note
from vllm import SamplingParams

from app.core.ids import new_id
from generator.engine import cache_salt
from generator.fusion_request import FusionRequest
from generator.vllm.turns import Turns
from kvstore.key import Reading
from kvstore.staging import staged_path

STEP = 32


@pytest.fixture
def scheduled(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, int]]]:
    """The tokens of each request in each step, by the first letters of its name; steps that pre-read are small."""
    scheduler = rig.core.scheduler
    steps: list[dict[str, int]] = []
    schedule = scheduler.schedule

    def noting(*arguments: bool) -> object:
        output = schedule(*arguments)
        steps.append({name.split("-")[0]: count for name, count in output.num_scheduled_tokens.items()})
        return output

    monkeypatch.setattr(scheduler, "schedule", noting)
    monkeypatch.setattr(scheduler, "_turns", Turns(STEP))
    rig.exact([5, 6, 7])  # within a minute of a question
    steps.clear()
    yield steps
    while rig.llm.llm_engine.has_unfinished_requests():
        rig.llm.llm_engine.step()


def add(rig: Rig, name: str, ids: Sequence[int], request: FusionRequest | None = None, max_tokens: int = 1) -> None:
    extra = {"kv_transfer_params": request.to_params()} if request else {}
    prompt = {"prompt_token_ids": list(ids), "cache_salt": cache_salt(request) if request else new_id("salt")}
    sampling = SamplingParams(temperature=0, max_tokens=max_tokens, ignore_eos=True, detokenize=False, extra_args=extra)
    rig.llm.llm_engine.add_request(name, prompt, sampling)  # type: ignore[arg-type]


def capture_of(preamble: Sequence[int], chunk: Sequence[int]) -> tuple[list[int], FusionRequest]:
    segments = segments_of(preamble, chunk)
    return [*preamble, *chunk], FusionRequest(new_id("pre"), TENANT, "none", segments, capture=Reading.OPENING)


def run(rig: Rig, until: str = "") -> None:
    """Steps until `until` has ended, or all have."""
    while rig.llm.llm_engine.has_unfinished_requests():
        if until in [output.request_id for output in rig.llm.llm_engine.step() if output.finished]:
            return


def test_a_question_is_computed_before_the_rest_of_a_chunk_and_the_chunk_is_captured_whole(
    rig: Rig, preamble: list[int], scheduled: list[dict[str, int]]
) -> None:
    chunk = random_ids(300, 90)
    ids, capture = capture_of(preamble, chunk)
    add(rig, "chunk", ids, capture)
    rig.llm.llm_engine.step()
    assert scheduled == [{"chunk": STEP}]
    add(rig, "question", random_ids(301, 60))
    run(rig, until="question")
    assert scheduled[1:] == [{"question": 60}]
    run(rig)
    assert all(step.get("chunk", 0) <= STEP for step in scheduled)
    rig.exact([5, 6, 7])
    assert wait_for_note(rig.notes, capture.request_id)["problem"] is None
    _, disturbed = rig.staged(preamble, chunk, Reading.OPENING)
    staged_path(Path(rig.config.staging_dir), rig.staged(preamble, chunk, Reading.OPENING)[0].key).unlink()
    assert rig.capture(ids, capture.segments) is None
    _, alone = rig.staged(preamble, chunk, Reading.OPENING)
    for one, other in zip((*disturbed.keys, *disturbed.values), (*alone.keys, *alone.values), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_a_question_that_comes_after_chunks_goes_before_those_that_wait(
    rig: Rig, preamble: list[int], scheduled: list[dict[str, int]]
) -> None:
    for number in range(2):
        add(rig, f"chunk{number}", *capture_of(preamble, random_ids(310 + number, 90)))
    add(rig, "question", random_ids(312, 60))
    run(rig, until="question")
    assert scheduled == [{"question": 60}]


def test_one_chunk_is_read_at_a_time(rig: Rig, preamble: list[int], scheduled: list[dict[str, int]]) -> None:
    for number in range(3):
        add(rig, f"chunk{number}", *capture_of(preamble, random_ids(320 + number, 90)))
    run(rig)
    assert all(len(step) <= 1 for step in scheduled)
    assert {name for step in scheduled for name in step} == {"chunk0", "chunk1", "chunk2"}


def test_chunks_are_read_while_an_answer_is_being_written(
    rig: Rig, preamble: list[int], scheduled: list[dict[str, int]]
) -> None:
    add(rig, "answer", random_ids(330, 20), max_tokens=400)
    rig.llm.llm_engine.step()
    add(rig, "chunk", *capture_of(preamble, random_ids(331, 90)))
    run(rig, until="chunk")
    beside = [step for step in scheduled if "chunk" in step]
    assert all(step["answer"] == 1 and step["chunk"] <= STEP for step in beside)
    follows = pairwise(scheduled)
    assert not any("chunk" in step and "chunk" in after for step, after in follows), "the answer goes on in between"
