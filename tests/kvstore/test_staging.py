"""A staged capture is whole and unaltered, or refused."""

import os

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kv_samples import F32, make_identity, make_kv, same_bits
from safetensors.torch import save_file

from kvstore.chunk_kv import ChunkKV
from kvstore.errors import BadName, CorruptStaging
from kvstore.key import Reading
from kvstore.staging import read_staged, staged_path, sweep_staging, write_staged

IDENTITY = make_identity(reading=Reading.CONDITIONED, conditioning_hash="e" * 64)


def test_what_the_engine_leaves_the_worker_finds(tmp_path):
    kv = make_kv(n_tokens=7, layers=((2, 8), (1, 4)), key_dtype=F32)
    path = write_staged(tmp_path / "staging", IDENTITY, kv)
    assert path == staged_path(tmp_path / "staging", IDENTITY.key)
    identity, found = read_staged(path)
    assert identity == IDENTITY
    assert same_bits(found, kv)
    assert list(path.parent.iterdir()) == [path]


def test_tensors_that_share_memory_are_staged(tmp_path):
    whole = torch.randn(6, 2, 4, 8)
    kv = ChunkKV((whole[:, 0], whole[:, 0]), (whole[:, 1], whole[:, 1]))
    assert same_bits(read_staged(write_staged(tmp_path, IDENTITY, kv))[1], kv)


def test_a_second_capture_replaces_the_first(tmp_path):
    write_staged(tmp_path, IDENTITY, make_kv(seed=1))
    path = write_staged(tmp_path, IDENTITY, make_kv(seed=2))
    assert same_bits(read_staged(path)[1], make_kv(seed=2))


def test_a_missing_capture_is_refused(tmp_path):
    with pytest.raises(CorruptStaging):
        read_staged(staged_path(tmp_path, IDENTITY.key))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_truncated_capture_is_refused(tmp_path, draw):
    path = write_staged(tmp_path, IDENTITY, make_kv())
    content = path.read_bytes()
    path.write_bytes(content[: draw.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(CorruptStaging):
        read_staged(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.data())
def test_a_changed_byte_is_found_or_changes_nothing(tmp_path, draw):
    path = write_staged(tmp_path, IDENTITY, make_kv())
    content = bytearray(path.read_bytes())
    content[draw.draw(st.integers(0, len(content) - 1))] ^= draw.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        identity, kv = read_staged(path)
    except CorruptStaging:
        return
    # Padding and the order of the JSON header's parts.
    assert identity == IDENTITY
    assert same_bits(kv, make_kv())


@pytest.mark.parametrize("n_layers", ["0", "-1", "3", "9" * 30, "two"])
def test_a_capture_that_miscounts_its_layers_is_refused(tmp_path, n_layers):
    path = tmp_path / "capture.safetensors"
    tensors = {f"{kind}.{layer}": torch.zeros(2, 1, 4) for kind in ("keys", "values") for layer in range(2)}
    save_file(tensors, path, {"n_layers": n_layers, "checksum": "0"})
    with pytest.raises(CorruptStaging):
        read_staged(path)


def test_other_safetensors_files_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"weight": torch.zeros(2, 2)}, path)
    with pytest.raises(CorruptStaging):
        read_staged(path)


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "a" * 63, "A" * 64, "a" * 64 + "/x"])
def test_a_key_that_is_none_makes_no_path(tmp_path, key):
    with pytest.raises(BadName):
        staged_path(tmp_path, key)


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr("kvstore.staging.save_file", full)
    with pytest.raises(OSError, match="no space"):
        write_staged(tmp_path, IDENTITY, make_kv())
    assert list(tmp_path.iterdir()) == []


def test_old_captures_and_crashed_writes_are_swept_and_nothing_else(tmp_path):
    old = write_staged(tmp_path, make_identity(1), make_kv())
    new = write_staged(tmp_path, make_identity(2), make_kv())
    crashed = tmp_path / ".x.safetensors.0123.tmp"
    other = tmp_path / "notes.txt"
    crashed.touch()
    other.touch()
    for path, written in ((old, 1000), (crashed, 1000), (other, 1000), (new, 2000)):
        os.utime(path, (written, written))
    assert sweep_staging(tmp_path, older_than_seconds=500, now=2100) == 2
    assert sorted(tmp_path.iterdir()) == sorted([new, other])


def test_a_staging_folder_that_is_not_there_yet_is_empty(tmp_path):
    assert sweep_staging(tmp_path / "none", older_than_seconds=1, now=0) == 0
