from dataclasses import replace

import pytest
import torch

from kvstore.chunk_kv import ChunkKV
from kvstore.decoded import DecodedChunks
from kvstore.errors import ForeignBlob
from kvstore.identity import BlobIdentity
from kvstore.key import Reading


def identity(name: str) -> BlobIdentity:
    return BlobIdentity(name * 32, "aa" * 32, "bb" * 32, "cc" * 32, Reading.OPENING)


def chunk(tokens: int = 4) -> ChunkKV:
    """160 bytes at four tokens."""
    return ChunkKV((torch.zeros(tokens, 1, 5),), (torch.zeros(tokens, 1, 5),))


def test_what_was_put_is_found_by_its_tenant_alone() -> None:
    decoded, kv = DecodedChunks(1000), chunk()
    decoded.put("a", identity("01"), kv, decoded.deletions)
    assert decoded.get("a", identity("01")) is kv
    assert decoded.get("b", identity("01")) is None
    assert decoded.get("a", identity("02")) is None


def test_the_least_recently_used_go_when_the_limit_is_passed() -> None:
    decoded = DecodedChunks(320)
    decoded.put("a", identity("01"), chunk(), decoded.deletions)
    decoded.put("a", identity("02"), chunk(), decoded.deletions)
    decoded.get("a", identity("01"))
    decoded.put("a", identity("03"), chunk(), decoded.deletions)
    found = [decoded.get("a", identity(name)) is not None for name in ("01", "02", "03")]
    assert found == [True, False, True]
    assert decoded.nbytes == 320


def test_a_chunk_over_the_limit_is_not_kept_and_replaces_nothing_else() -> None:
    decoded = DecodedChunks(200)
    decoded.put("a", identity("01"), chunk(), decoded.deletions)
    decoded.put("a", identity("02"), chunk(40), decoded.deletions)
    assert decoded.get("a", identity("02")) is None
    assert decoded.get("a", identity("01")) is not None


def test_putting_a_key_again_counts_it_once() -> None:
    decoded = DecodedChunks(1000)
    decoded.put("a", identity("01"), chunk(), decoded.deletions)
    decoded.put("a", identity("01"), chunk(8), decoded.deletions)
    assert decoded.nbytes == 320


def test_deleted_chunks_are_gone_and_their_bytes_given_back() -> None:
    decoded = DecodedChunks(1000)
    decoded.put("a", identity("01"), chunk(), decoded.deletions)
    decoded.delete("a", [identity("01").key, identity("02").key])
    assert decoded.get("a", identity("01")) is None
    assert decoded.nbytes == 0


def test_an_entry_that_is_not_what_is_wanted_is_refused() -> None:
    decoded = DecodedChunks(1000)
    decoded.put("a", identity("01"), chunk(), decoded.deletions)
    with pytest.raises(ForeignBlob):
        decoded.get("a", replace(identity("01"), ids_hash="dd" * 32))


def test_what_was_read_before_a_deletion_is_not_kept_after_it() -> None:
    decoded = DecodedChunks(1000)
    before = decoded.deletions
    decoded.delete("a", ["01" * 32])
    decoded.put("a", identity("01"), chunk(), before)
    assert decoded.get("a", identity("01")) is None
