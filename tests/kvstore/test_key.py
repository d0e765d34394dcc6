"""Keys name everything that shaped a chunk's KV, and nothing else."""

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvstore.errors import BadTokenIds
from kvstore.key import Reading, chunk_key, ids_hash

IDS = st.lists(st.integers(0, 2**32 - 1), max_size=20)
CASES = st.tuples(st.text(max_size=5), IDS, IDS, st.sampled_from(Reading))


@given(CASES, CASES)
def test_two_keys_are_equal_exactly_when_all_that_shaped_them_is(a, b):
    assert (chunk_key(*a) == chunk_key(*b)) == (a == b)


def test_moving_a_token_from_preamble_to_chunk_changes_the_key():
    assert chunk_key("m", [1, 2], [3], Reading.OPENING) != chunk_key("m", [1], [2, 3], Reading.OPENING)


def test_the_preambles_own_entry_is_not_that_of_an_empty_chunk_behind_it():
    assert chunk_key("m", [], [1, 2], Reading.OPENING) != chunk_key("m", [1, 2], [], Reading.OPENING)


def test_a_key_never_changes_between_versions():
    assert chunk_key("model", [1, 2, 3], [4, 5], Reading.CONDITIONED) == (
        "7a85a6bb026a8cf55ebdcc67b8d4ce4cdcd06ef007ffc1e6f5b4d47de47624b0"
    )


def test_the_ids_hash_is_blake2b_of_little_endian_words():
    expected = blake2b(b"\x01\x00\x00\x00\xff\xff\xff\xff", digest_size=32, person=b"preread.ids").hexdigest()
    assert ids_hash([1, 2**32 - 1]) == expected


def test_no_ids_have_a_hash_too():
    assert len(ids_hash([])) == 64


@pytest.mark.parametrize("ids", [[-1], [2**32], [1, 2**64], [2**63], [1.5], ["a"], [[1, 2], [3, 4]], [True, None]])
def test_what_is_no_token_id_is_refused(ids):
    with pytest.raises(BadTokenIds):
        ids_hash(ids)
    with pytest.raises(BadTokenIds):
        chunk_key("m", [], ids, Reading.OPENING)
