"""Requests that arrive while others answer: fetched for in the background, taken up when ready, harmless when gone."""

from collections.abc import Sequence
from concurrent.futures import Future

import pytest
from crowd import Crowd
from fusion_rig import TENANT, Answer, Rig, random_ids, segments_of

from app.core.ids import new_id
from generator.arriving import Arriving, Begun, Fetched, Wanted
from generator.fusion_request import FusionRequest
from generator.identity import chunk_identity
from generator.vllm.prefetch import Prefetcher
from kvstore.identity import BlobIdentity
from kvstore.key import Reading

QUESTION = random_ids(94, 12)
ABSENT = Fetched(None, reason="absent")


NOT_WANTED = Wanted((), 5)


def wanted(number: int) -> Wanted:
    return Wanted((BlobIdentity(f"{number:064x}", "b" * 64, "c" * 64, "d" * 64, Reading.OPENING),), 5)


@pytest.fixture
def chunks(rig: Rig, preamble: list[int]) -> list[list[int]]:
    chunks = [random_ids(seed, 90) for seed in (80, 81, 82)]
    rig.preread(preamble, *chunks)
    return chunks


def prompt_of(preamble: list[int], chunks: list[list[int]], policy: str) -> tuple[list[int], FusionRequest]:
    ids = [*preamble, *(token for chunk in chunks for token in chunk), *QUESTION]
    return ids, FusionRequest(new_id("ask"), TENANT, policy, segments_of(preamble, *chunks))


def test_a_request_beside_a_running_answer_waits_for_its_kv_and_answers_as_it_does_alone(
    rig: Rig, preamble: list[int], chunks: list[list[int]]
) -> None:
    alone: Answer = rig.fused(*prompt_of(preamble, chunks, "head@8"), max_tokens=4)
    crowd = Crowd(rig)
    running = crowd.add(random_ids(90, 30), None, 60)
    crowd.step()
    crowd.step()
    ids, request = prompt_of(preamble, chunks, "head@8")
    asked = crowd.add(ids, request, 4)
    arrived = crowd.step_number
    crowd.finish()
    assert crowd.tokens[asked] == alone.token_ids
    assert crowd.steps[asked][0] > arrived + 1, "it was taken up at once: nothing was fetched in the background"
    assert crowd.steps[running] == list(range(1, 61)), "the running answer missed a step"
    assert rig.notes.read("report", request.request_id) is not None


def test_requests_too_many_for_one_step_join_one_after_the_other(
    rig: Rig, preamble: list[int], chunks: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rig.scheduler_side.admission, "fresh_tokens", 20)
    joined: list[int] = []
    fuse = rig.worker_side.fuser.fuse

    def counting(tasks):  # type: ignore[no-untyped-def]
        joined.append(len(tasks))
        fuse(tasks)

    monkeypatch.setattr(rig.worker_side.fuser, "fuse", counting)
    crowd = Crowd(rig)
    crowd.add(random_ids(91, 30), None, 60)
    crowd.step()
    asked = [crowd.add(*prompt_of(preamble, chunks, "head@8"), 2) for _ in range(3)]
    crowd.finish()
    assert max(joined) == 1
    assert sum(joined) == 3
    assert len({tuple(crowd.tokens[name]) for name in asked}) == 1


def test_a_request_that_is_aborted_while_it_waits_leaves_nothing_behind(
    rig: Rig, preamble: list[int], chunks: list[list[int]]
) -> None:
    crowd = Crowd(rig)
    crowd.add(random_ids(92, 30), None, 8)
    crowd.step()
    asked = crowd.add(*prompt_of(preamble, chunks, "head@8"), 4)
    crowd.step()
    crowd.engine.abort_request([asked], internal=False)
    crowd.finish()
    assert asked not in crowd.tokens
    assert rig.worker_side.held_requests == 0
    assert rig.scheduler_side.tracked_requests == 0


def test_what_is_deleted_while_a_request_waits_for_it_is_not_used(
    rig: Rig, preamble: list[int], chunks: list[list[int]]
) -> None:
    doomed = random_ids(89, 90)
    rig.preread(preamble, doomed)
    crowd = Crowd(rig)
    crowd.add(random_ids(93, 30), None, 40)
    crowd.step()
    ids, request = prompt_of(preamble, [chunks[0], doomed], "none")
    crowd.add(ids, request, 2)
    crowd.step()
    key = chunk_identity(rig.config.fingerprint, preamble, doomed, Reading.OPENING).key
    rig.llm.collective_rpc("preread_purge", args=(TENANT, [key]))
    crowd.finish()
    report = rig.notes.read("report", request.request_id)
    assert report is not None
    assert [chunk["tier"] is None for chunk in report["chunks"]] == [False, True]


class SlowFetcher:
    """Has what it was asked for once `answer` is called."""

    def __init__(self) -> None:
        self.begun: list[Future[Begun]] = []

    def fetch(self, tenant: str, wanted: Sequence[Wanted]) -> list[Arriving]:
        begun: list[Future[Begun]] = [Future() for _ in wanted]
        self.begun += begun
        return [Arriving(each) for each in begun]

    def answer(self, *numbers: int) -> None:
        for number in numbers:
            self.begun[number].set_result(Begun(ABSENT))


@pytest.fixture
def slow() -> SlowFetcher:
    return SlowFetcher()


@pytest.fixture
def prefetcher(slow: SlowFetcher) -> Prefetcher:
    return Prefetcher(slow)  # type: ignore[arg-type]


def test_a_request_is_ready_once_all_of_its_chunks_are_there(slow: SlowFetcher, prefetcher: Prefetcher) -> None:
    prefetcher.start("asked", TENANT, [wanted(1), wanted(2)])
    slow.answer(0)
    assert prefetcher.newly_ready() == []
    slow.answer(1)
    assert prefetcher.newly_ready() == ["asked"]
    assert prefetcher.newly_ready() == []


def test_a_purge_while_something_is_fetched_makes_nobody_wait_for_what_is_given_up(
    slow: SlowFetcher, prefetcher: Prefetcher
) -> None:
    prefetcher.start("asked", TENANT, [wanted(1)])
    assert prefetcher.newly_ready() == []
    prefetcher.forget_all()
    assert prefetcher.newly_ready() == ["asked"]
    assert prefetcher.newly_ready() == []
    assert slow.begun[0].cancelled()
    (taken,) = prefetcher.take("asked", TENANT, [wanted(1)])
    slow.answer(1)
    assert taken.found() == ABSENT, "what was fetched before the purge was used"
    assert prefetcher.held == 0


def test_what_is_fetched_for_a_request_that_ends_is_given_up(slow: SlowFetcher, prefetcher: Prefetcher) -> None:
    prefetcher.start("asked", TENANT, [wanted(1)])
    prefetcher.forget(["asked", "never heard of"])
    assert slow.begun[0].cancelled()
    assert prefetcher.held == 0


def test_a_request_taken_up_before_all_is_fetched_waits_only_for_what_it_still_needs(
    slow: SlowFetcher, prefetcher: Prefetcher
) -> None:
    prefetcher.start("asked", TENANT, [wanted(1), wanted(2)])
    slow.answer(1)
    unneeded, needed = prefetcher.take("asked", TENANT, [NOT_WANTED, wanted(2)])
    assert unneeded.found().kv is None
    assert needed.found() == ABSENT
