import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from app.cli.errors import ProcessFailed
from app.cli.restarts import Restarts
from app.cli.supervisor import Stage, Supervisor

WRITE_PID = "import os, pathlib, sys, time; pathlib.Path({path!r}).open('a').write(f'{{os.getpid()}}\\n'); "
STAY = "time.sleep(600)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
WITH_CHILD = (
    "import subprocess; "
    "p = subprocess.Popen([sys.executable, '-c', 'import signal, time;"
    " signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)'], start_new_session={session}); "
    "pathlib.Path({path!r}).open('a').write(f'{{p.pid}}\\n'); "
)
OUTLIVING = """
import sys
from pathlib import Path
from app.cli.processes import ProcessSpec
from app.cli.supervisor import Stage, Supervisor

with Supervisor(
    [Stage([ProcessSpec("parent", [sys.executable, "-c", sys.argv[2]])])],
    log_dir=Path(sys.argv[1]), say=print, grace_seconds=1,
) as supervisor:
    supervisor.stop_on_signals()
    supervisor.start()
    supervisor.watch()
"""


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def supervisor_of(*stages: Stage, log_dir: Path, **options: object) -> Supervisor:
    said = options.pop("said", [])
    return Supervisor(stages, log_dir=log_dir, say=said.append, grace_seconds=options.pop("grace", 5.0), **options)


def test_a_stage_starts_only_when_the_one_before_is_ready(tmp_path, python_process) -> None:
    first, second, events = tmp_path / "first", tmp_path / "second", []
    stages = (
        Stage([python_process("a", WRITE_PID.format(path=str(first)) + STAY, is_ready=first.exists)]),
        Stage(
            [python_process("b", WRITE_PID.format(path=str(second)) + STAY, is_ready=second.exists)],
            prepare=lambda: events.append((first.exists(), second.exists())),
        ),
    )
    with supervisor_of(*stages, log_dir=tmp_path) as supervisor:
        supervisor.start()
        assert second.exists()
    assert events == [(True, False)]


def test_a_process_that_dies_while_starting_is_an_error_with_its_last_lines(tmp_path, python_process) -> None:
    broken = python_process("broken", "import sys; print('no such model'); sys.exit(3)", is_ready=lambda: False)
    last_words = r"broken ended with code 3 while starting(.|\n)*no such model"
    with (
        supervisor_of(Stage([broken]), log_dir=tmp_path) as supervisor,
        pytest.raises(ProcessFailed, match=last_words) as caught,
    ):
        supervisor.start()
    assert str(tmp_path / "broken.log") in caught.value.hint


def test_a_process_that_never_becomes_ready_is_an_error(tmp_path, python_process) -> None:
    slow = python_process("slow", "import time; " + STAY, is_ready=lambda: False, ready_seconds=0.3)
    with (
        supervisor_of(Stage([slow]), log_dir=tmp_path) as supervisor,
        pytest.raises(ProcessFailed, match="was not ready"),
    ):
        supervisor.start()


def test_a_crashed_process_is_started_again(tmp_path, python_process, wait_for) -> None:
    seen, said = tmp_path / "pids", []
    steady = python_process("steady", WRITE_PID.format(path=str(seen)) + STAY, is_ready=seen.exists)
    with supervisor_of(
        Stage([steady]), log_dir=tmp_path, said=said, restarts=lambda: Restarts(first_pause_seconds=0.01)
    ) as supervisor:
        supervisor.start()
        first = pids(seen)[0]

        def crash() -> None:
            os.kill(first, signal.SIGKILL)
            wait_for(lambda: len(pids(seen)) == 2)
            supervisor.request_stop()

        thread = threading.Thread(target=crash)
        thread.start()
        supervisor.watch()
        thread.join()
    assert all(gone(pid) for pid in pids(seen))
    assert any("was ended by SIGKILL; starting it again" in line for line in said)


def test_a_process_that_keeps_dying_ends_the_whole(tmp_path, python_process) -> None:
    go = tmp_path / "go"
    program = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nprint('out of luck')\nexit(7)"
    hopeless = python_process("hopeless", program)
    with supervisor_of(
        Stage([hopeless]), log_dir=tmp_path, restarts=lambda: Restarts(first_pause_seconds=0.001)
    ) as supervisor:
        supervisor.start()
        go.touch()
        with pytest.raises(ProcessFailed, match=r"hopeless keeps dying(.|\n)*code 7(.|\n)*out of luck"):
            supervisor.watch()


@pytest.mark.parametrize("session", [False, True])
def test_stopping_leaves_nothing_that_a_process_started(tmp_path, python_process, wait_for, session) -> None:
    seen = tmp_path / "pids"
    program = WRITE_PID.format(path=str(seen)) + WITH_CHILD.format(path=str(seen), session=session) + STAY
    family = python_process("family", program, is_ready=lambda: len(pids(seen)) == 2)
    with supervisor_of(Stage([family]), log_dir=tmp_path) as supervisor:
        supervisor.start()
    wait_for(lambda: all(gone(pid) for pid in pids(seen)))


def test_a_process_deaf_to_sigterm_is_ended_after_the_grace_period(tmp_path, python_process) -> None:
    seen, said = tmp_path / "pids", []
    deaf = python_process("deaf", DEAF + WRITE_PID.format(path=str(seen)) + STAY, is_ready=seen.exists)
    with supervisor_of(Stage([deaf]), log_dir=tmp_path, grace=0.3, said=said) as supervisor:
        supervisor.start()
        begun = time.monotonic()
    assert time.monotonic() - begun < 5
    assert gone(pids(seen)[0])
    assert any("deaf did not stop" in line for line in said)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_however_the_supervisor_ends_no_process_is_left(tmp_path, wait_for, how) -> None:
    seen = tmp_path / "pids"
    program = DEAF + WRITE_PID.format(path=str(seen)) + WITH_CHILD.format(path=str(seen), session=False) + STAY
    supervisor = subprocess.Popen([sys.executable, "-c", OUTLIVING, str(tmp_path / "log"), program])
    wait_for(lambda: len(pids(seen)) == 2)
    supervisor.send_signal(how)
    code = supervisor.wait(20)
    assert code == (-signal.SIGKILL if how == signal.SIGKILL else 0)
    wait_for(lambda: all(gone(pid) for pid in pids(seen)))


def test_a_stop_requested_while_starting_ends_the_wait(tmp_path, python_process) -> None:
    slow = python_process("slow", "import time; " + STAY, is_ready=lambda: False)
    with supervisor_of(Stage([slow]), log_dir=tmp_path) as supervisor:
        threading.Timer(0.2, supervisor.request_stop).start()
        supervisor.start()
        assert supervisor.stopping
