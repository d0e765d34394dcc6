import os
import signal

import pytest

from workers.time_limit import OutOfTime, deferred, install


@pytest.fixture(autouse=True)
def installed():
    before = signal.getsignal(signal.SIGUSR1)
    install()
    yield
    signal.signal(signal.SIGUSR1, before)


def run_out_of_time():
    os.kill(os.getpid(), signal.SIGUSR1)


def test_the_end_of_a_tasks_time_is_no_exception_of_its_document():
    assert not issubclass(OutOfTime, Exception)
    with pytest.raises(OutOfTime):
        run_out_of_time()


def test_an_import_is_not_broken_off_but_the_task_ends_after_it():
    done = []

    def load():
        with deferred():
            run_out_of_time()
            done.append("the whole block")

    with pytest.raises(OutOfTime):
        load()
    with deferred():
        done.append("the next task's")
    assert done == ["the whole block", "the next task's"]
