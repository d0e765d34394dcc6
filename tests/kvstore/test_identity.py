"""A blob may be used only for what it is the KV of."""

import pytest
from kv_samples import make_identity

from kvstore.errors import BadName, ForeignBlob
from kvstore.key import Reading

CONDITIONED = {"reading": Reading.CONDITIONED, "conditioning_hash": "e" * 64}


def test_a_blob_passes_for_itself():
    make_identity(**CONDITIONED, profile_id="f" * 32).check(make_identity(**CONDITIONED, profile_id="f" * 32))


@pytest.mark.parametrize(
    "change",
    [
        {"key": "9" * 64},
        {"ids_hash": "9" * 64},
        {"model_fingerprint": "9" * 64},
        {"preamble_hash": "9" * 64},
        {"reading": Reading.OPENING, "conditioning_hash": ""},
        {"conditioning_hash": "9" * 64},
        {"profile_id": "9" * 32},
    ],
)
def test_a_blob_of_anything_else_is_foreign(change):
    expected = make_identity(**CONDITIONED)
    other = make_identity(**(CONDITIONED | change))
    with pytest.raises(ForeignBlob):
        expected.check(other)


def test_a_passage_or_profile_that_is_not_asked_for_may_be_any():
    found = make_identity(**CONDITIONED, profile_id="f" * 32)
    found.check(make_identity(reading=Reading.CONDITIONED))


@pytest.mark.parametrize(
    "change",
    [
        {"key": ""},
        {"key": "a" * 63},
        {"key": "A" * 64},
        {"key": "a" * 64 + "\n"},
        {"key": "0" * 64},
        {"ids_hash": "xyz"},
        {"model_fingerprint": "a" * 66},
        {"preamble_hash": ""},
        {"profile_id": "a" * 64},
        {"conditioning_hash": "e" * 64},
    ],
)
def test_fields_that_are_not_hashes_are_refused(change):
    with pytest.raises(BadName):
        make_identity(**change)
