"""A file is whole or not there, and what a killed writer leaves can be told from what is being written."""

import subprocess
import sys

import pytest

from kvstore.atomic_file import remove_abandoned, replacing, temporaries
from kvstore.staging import is_staged, remove_staged, staged_path
from kvstore.tiers.disk import DiskTier

KEY = "a" * 64
WRITER = """
import sys
from pathlib import Path
from kvstore.atomic_file import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_bytes(b"half")
    print("half", flush=True)
    sys.stdin.read()
"""


def killed_in_the_middle_of_writing(path):
    """Another process begins to write `path`, and is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with writer:
        assert writer.stdout.readline() == "half\n"
        writer.kill()


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path):
    path, other = tmp_path / "file", tmp_path / "file2"
    killed_in_the_middle_of_writing(path)
    killed_in_the_middle_of_writing(other)
    assert len(temporaries(path)) == 1
    remove_abandoned(path)
    assert temporaries(path) == []
    assert len(temporaries(other)) == 1
    assert not path.exists()


def test_what_is_being_written_stays(tmp_path):
    path = tmp_path / "file"
    with replacing(path) as temporary:
        temporary.write_bytes(b"whole")
        remove_abandoned(path)
        assert temporaries(path) == [temporary]
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_nothing(tmp_path):
    def fail():
        with replacing(tmp_path / "file") as temporary:
            temporary.write_bytes(b"half")
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_blob_that_is_deleted_goes_with_what_a_killed_worker_had_written_of_it(tmp_path):
    tier = DiskTier(tmp_path, 1000)
    tier.put("t", KEY, b"whole")
    (blob,) = tmp_path.glob("t/*/*.kv")
    killed_in_the_middle_of_writing(blob)
    tier.delete("t", KEY)
    tier.close()
    assert list(blob.parent.iterdir()) == []


def test_a_capture_that_is_removed_goes_with_what_a_killed_engine_had_written_of_it(tmp_path):
    killed_in_the_middle_of_writing(staged_path(tmp_path, KEY))
    assert is_staged(tmp_path, KEY)
    remove_staged(tmp_path, KEY)
    assert not is_staged(tmp_path, KEY)
    assert list(tmp_path.iterdir()) == []
