"""When a request joins the coming step, and when answers that run go on first."""

from generator.vllm.admission import Admission


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def busy(ranks: int = 1, fresh_tokens: int = 100) -> tuple[Admission, Clock]:
    """An admission beside one running answer."""
    clock = Clock()
    admission = Admission(ranks, fresh_tokens, clock)
    admission.begin_step(["running"])
    return admission, clock


def test_with_no_answer_running_nobody_waits() -> None:
    admission = Admission(1, 100, Clock())
    assert not admission.must_wait("a", 500)
    admission.begin_step([])
    assert not admission.must_wait("a", 500)


def test_a_request_waits_until_its_kv_has_been_fetched() -> None:
    admission, _ = busy()
    assert admission.must_wait("a", 10)
    assert admission.begin_step(["running"]) == ["a"]
    assert admission.must_wait("a", 10)
    assert admission.begin_step(["running"]) == []
    admission.ready(["a"])
    assert not admission.must_wait("a", 10)


def test_every_rank_must_have_fetched() -> None:
    admission, _ = busy(ranks=2)
    assert admission.must_wait("a", 10)
    admission.ready(["a"])
    assert admission.must_wait("a", 10)
    admission.ready(["a"])
    assert not admission.must_wait("a", 10)


def test_it_joins_at_once_when_the_last_answer_ends() -> None:
    admission, _ = busy()
    assert admission.must_wait("a", 10)
    admission.forget("running")
    assert not admission.must_wait("a", 10)


def test_a_step_takes_fresh_tokens_up_to_its_limit_and_the_first_whatever_it_needs() -> None:
    admission, _ = busy()
    names = ["a", "b", "c"]
    for name in names:
        admission.must_wait(name, 80)
    admission.ready(names)
    assert not admission.must_wait("a", 300)
    admission.joined("a", 300)
    assert admission.must_wait("b", 80)
    admission.begin_step(["running", "a"])
    assert not admission.must_wait("b", 80)
    admission.joined("b", 80)
    assert not admission.must_wait("c", 20)
    assert admission.must_wait("c", 21)


def test_only_a_few_are_fetched_ahead_and_the_next_when_one_has_joined() -> None:
    admission, _ = busy()
    names = [f"request {n}" for n in range(6)]
    assert all(admission.must_wait(name, 1) for name in names)
    assert admission.begin_step(["running"]) == names[:4]
    admission.ready(names[:1])
    admission.joined(names[0], 1)
    assert admission.must_wait(names[4], 1)
    assert admission.begin_step(["running"]) == names[4:5]


def test_nobody_waits_for_ever() -> None:
    admission, clock = busy()
    assert admission.must_wait("a", 10)
    clock.now = 11.0
    assert not admission.must_wait("a", 10)


def test_a_request_that_ended_while_it_waited_is_not_fetched_for() -> None:
    admission, _ = busy()
    admission.must_wait("a", 10)
    admission.forget("a")
    assert admission.begin_step(["running"]) == []
    admission.ready(["a"])
