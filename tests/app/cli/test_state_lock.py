import os
import signal
import subprocess
import sys

import pytest

from app.cli.errors import AlreadyRunning, UnusableFolder
from app.cli.state_lock import hold_state, holder_of

HOLDER = """
import sys, time
from pathlib import Path
from app.cli.state_lock import hold_state
with hold_state(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_folder_in_use_is_refused_and_its_holder_named(tmp_path, other) -> None:
    assert holder_of(tmp_path) == other.pid
    with pytest.raises(AlreadyRunning, match=f"process {other.pid}") as caught, hold_state(tmp_path):
        pass
    assert "PREREAD_STATE_DIR" in caught.value.hint


def test_a_killed_holder_leaves_the_folder_free(tmp_path, other) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert holder_of(tmp_path) is None
    with hold_state(tmp_path):
        assert holder_of(tmp_path) == os.getpid()


def test_a_folder_that_is_a_file_is_refused_with_a_hint(tmp_path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnusableFolder, match="Not a directory"), hold_state(tmp_path / "file"):
        pass


def test_an_unused_folder_has_no_holder(tmp_path) -> None:
    assert holder_of(tmp_path) is None
    with hold_state(tmp_path):
        pass
    assert holder_of(tmp_path) is None
