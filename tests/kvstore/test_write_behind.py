"""Work that nobody waits for is done in order, and neither piles up nor fails anybody."""

import threading

from kvstore.write_behind import WriteBehind


def test_work_is_done_in_order():
    done, behind = [], WriteBehind(100)
    for number in range(50):
        assert behind.submit(lambda number=number: done.append(number))
    behind.settle()
    assert done == list(range(50))


def test_what_would_pile_up_is_left_out():
    held, done, behind = threading.Event(), [], WriteBehind(3)
    accepted = [behind.submit(lambda: (held.wait(60), done.append(1))) for _ in range(5)]
    assert accepted == [True, True, True, False, False]
    held.set()
    behind.settle()
    assert len(done) == 3
    assert behind.submit(lambda: done.append(2))
    behind.settle()
    assert done[-1] == 2


def test_a_failure_is_logged_and_the_next_is_done(caplog):
    done, behind = [], WriteBehind(3)
    behind.submit(lambda: 1 / 0)
    behind.submit(lambda: done.append(1))
    behind.settle()
    assert done == [1]
    assert "division by zero" in caplog.text


def test_nothing_to_wait_for_is_no_wait():
    WriteBehind(3).settle()
