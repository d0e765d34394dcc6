"""Work that nobody waits for is done in order, and neither piles up nor fails anybody."""

import threading

from kvstore.write_behind import WriteBehind


def test_work_is_done_in_order():
    done, behind = [], WriteBehind(100)
    for number in range(50):
        assert behind.submit(number, lambda number=number: done.append(number))
    behind.settle()
    assert done == list(range(50))


def test_what_would_pile_up_is_left_out():
    held, done, behind = threading.Event(), [], WriteBehind(3)
    accepted = [behind.submit(number, lambda: (held.wait(60), done.append(1))) for number in range(5)]
    assert accepted == [True, True, True, False, False]
    held.set()
    behind.settle()
    assert len(done) == 3
    assert behind.submit("again", lambda: done.append(2))
    behind.settle()
    assert done[-1] == 2


def test_a_failure_is_logged_and_the_next_is_done(caplog):
    done, behind = [], WriteBehind(3)
    behind.submit("bad", lambda: 1 / 0)
    behind.submit("good", lambda: done.append(1))
    behind.settle()
    assert done == [1]
    assert "division by zero" in caplog.text


def test_nothing_to_wait_for_is_no_wait():
    WriteBehind(3).settle()


def test_what_is_not_wanted_any_more_is_left_out_or_waited_for():
    begun, held, done, behind = threading.Event(), threading.Event(), [], WriteBehind(9)
    behind.submit("running", lambda: (begun.set(), held.wait(60), done.append("running")))
    for name in ("unwanted", "wanted", "unwanted"):
        behind.submit(name, lambda name=name: done.append(name))
    assert begun.wait(60)
    behind.cancel(["unwanted"])
    threading.Timer(0.05, held.set).start()
    behind.cancel(["running"])
    assert done[:1] == ["running"], "what has begun is waited for"
    behind.settle()
    assert done == ["running", "wanted"]
