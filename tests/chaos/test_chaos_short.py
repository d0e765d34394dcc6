"""A short run of the chaos that `python tests/chaos` makes, engine included."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[2]
KILLS, PAGES = 6, 6


def test_a_library_whose_processes_are_killed_loses_keeps_and_tells_nothing_wrong(tmp_path):
    options = {"kills": KILLS, "pages": PAGES, "settle-every": KILLS, "seed": 27, "work": tmp_path}
    arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "chaos"), *arguments],
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
