"""On a disk that is full, and on one that is read-only, questions are answered and nothing half-written is left."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from mounted_disk import SCENARIOS

ALONE = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else [])]




def may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = [*ALONE, "mount", "-t", "tmpfs", "tmpfs", folder]
        try:
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            return False


# Where nobody may mount, test_disk_faults has the same faults, made by hand.
if may_mount():

    @pytest.mark.parametrize("scenario", SCENARIOS)
    def test_what_is_there_is_found_and_storing_goes_on_by_itself_when_it_can(scenario, tmp_path):
        here = Path(__file__).parent
        ended = subprocess.run(
            [*ALONE, sys.executable, str(here / "mounted_disk.py"), scenario, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": f"{here.parents[1]}:{here}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
