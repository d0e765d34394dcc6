import subprocess
import sys

from app.cli.guardian import Guardian, survivors

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_groups_withdrawn_are_no_survivors() -> None:
    assert survivors(["+10\n", "+11\n", "-10\n", "+12\n", "-99\n"]) == {11, 12}


def test_groups_still_listed_are_killed_when_the_pipe_closes() -> None:
    guardian = Guardian()
    listed, withdrawn = (subprocess.Popen(SLEEPER, start_new_session=True) for _ in range(2))
    guardian.watch(listed.pid)
    guardian.watch(withdrawn.pid)
    guardian.forget(withdrawn.pid)
    guardian.close()
    assert listed.wait(10) == -9
    assert withdrawn.poll() is None
    withdrawn.kill()
    withdrawn.wait()


def test_a_killed_guardian_is_replaced_and_still_knows_every_group() -> None:
    guardian = Guardian()
    first, second = (subprocess.Popen(SLEEPER, start_new_session=True) for _ in range(2))
    guardian.watch(first.pid)
    guardian._popen.kill()
    guardian._popen.wait()
    guardian.watch(second.pid)
    guardian.close()
    assert (first.wait(10), second.wait(10)) == (-9, -9)
