"""Sealed bytes open under the names and the key that they were sealed with, and tell nothing otherwise."""

import base64
import mmap
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given
from hypothesis import strategies as st
from kv_samples import make_identity, make_kv

from app.core.errors import BadInput
from kvstore.blob import Blob, encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import BadName, CorruptBlob, TooLarge
from kvstore.sealing import SEALED_EXTRA_BYTES, Seal

A, B = "a" * 64, "b" * 64
MASTER = bytes(range(32))
SEAL = Seal(MASTER)
DATA = b"what the document says"
SEALED = SEAL.seal("t", A, DATA)
SETTING = "PREREAD_KV_ENCRYPTION_KEY"
# Made apart from `Seal`: HKDF from HMAC-SHA256 by RFC 5869, the nonce counting from 0.
OF_VERSION_1 = bytes.fromhex(
    "895052534c0d0a1a0100388124ade477a7dc000102030405060708090a0b2d08b830f1b8ff7b7c42e367b66bf4b1f0f0218da04d07a1"
)
FIELDS = {
    "magic": (0, 8, "not sealed"),
    "version": (8, 10, "version"),
    "key id": (10, 18, "another encryption key"),
    "nonce": (18, 30, "altered"),
    "ciphertext": (30, 30 + len(DATA), "altered"),
    "tag": (30 + len(DATA), len(SEALED), "altered"),
}


@given(st.binary(max_size=5000))
def test_what_is_sealed_opens(data):
    sealed = SEAL.seal("t", A, data)
    assert SEAL.open("t", A, sealed) == data
    assert len(sealed) == len(data) + SEALED_EXTRA_BYTES


@given(st.integers(0, 3 * 2**20))
def test_every_length_opens(length):
    data = memoryview(bytes(length))
    assert SEAL.open("t", A, memoryview(SEAL.seal("t", A, data))) == data


def test_sealed_bytes_open_in_another_process_with_the_same_key():
    assert Seal(MASTER).open("t", A, SEALED) == DATA


def test_bytes_sealed_by_the_first_version_still_open():
    assert SEAL.open("t", A, OF_VERSION_1) == b"chunk KV"


def test_sealing_twice_gives_different_bytes():
    seals = {SEAL.seal("t", A, DATA) for _ in range(100)}
    assert len({sealed[18:30] for sealed in seals}) == 100
    assert len({sealed[30:] for sealed in seals}) == 100


def test_sealed_bytes_hold_no_part_of_the_data():
    data = b"0123456789abcdef" * 64
    sealed = SEAL.seal("t", A, data)
    assert not any(data[start : start + 8] in sealed for start in range(16))


@pytest.mark.parametrize("field", FIELDS)
def test_every_flipped_bit_is_noticed(field):
    start, end, message = FIELDS[field]
    for bit in range(8 * start, 8 * end):
        altered = bytearray(SEALED)
        altered[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptBlob, match=message):
            SEAL.open("t", A, bytes(altered))


def test_sealed_bytes_cut_short_anywhere_do_not_open():
    for length in range(len(SEALED)):
        message = "not sealed" if length < 8 else "cut short"
        with pytest.raises(CorruptBlob, match=message):
            SEAL.open("t", A, SEALED[:length])


def test_sealed_bytes_with_something_behind_them_do_not_open():
    with pytest.raises(CorruptBlob, match="altered"):
        SEAL.open("t", A, SEALED + b"\0")


@pytest.mark.parametrize(("tenant", "key"), [("u", A), ("t", B), ("u", B), ("t-", A)])
def test_sealed_bytes_under_another_name_do_not_open(tenant, key):
    with pytest.raises(CorruptBlob, match="moved") as caught:
        SEAL.open(tenant, key, SEALED)
    assert caught.value.hint == ""


def test_tenants_do_not_share_a_key():
    assert SEAL._cipher("t").decrypt(SEALED[18:30], SEALED[30:], SEAL._bound("t", A)) == DATA
    with pytest.raises(InvalidTag):
        SEAL._cipher("u").decrypt(SEALED[18:30], SEALED[30:], SEAL._bound("t", A))


def test_another_key_is_named_as_the_reason():
    with pytest.raises(CorruptBlob, match="another encryption key") as caught:
        Seal(bytes(32)).open("t", A, SEALED)
    assert SETTING in caught.value.hint


def test_the_key_id_of_one_key_does_not_let_another_open():
    other = Seal(bytes(32))
    relabelled = other._header + SEALED[len(other._header) :]
    with pytest.raises(CorruptBlob, match="altered"):
        other.open("t", A, relabelled)


def test_a_plain_blob_is_not_taken_for_a_sealed_one():
    plain = encode_blob(make_kv(), make_identity(), LOSSLESS)
    for data in (plain, b"", b"garbage" * 20):
        with pytest.raises(CorruptBlob, match="not sealed") as caught:
            SEAL.open("t", A, data)
        assert SETTING in caught.value.hint


def test_a_sealed_blob_is_not_taken_for_a_plain_one():
    identity = make_identity()
    plain = encode_blob(make_kv(), identity, LOSSLESS)
    with pytest.raises(CorruptBlob):
        Blob.parse(SEAL.seal("t", identity.key, plain))


@pytest.mark.parametrize(("tenant", "key"), [("../t", A), ("t\0", A), ("", A), ("t", "a"), ("t", A + "\n")])
def test_names_that_are_none_are_refused(tenant, key):
    with pytest.raises(BadName):
        SEAL.seal(tenant, key, DATA)
    with pytest.raises(BadName):
        SEAL.open(tenant, key, SEALED)


def test_more_than_the_cipher_takes_is_refused():
    with mmap.mmap(-1, 2**31) as untouched, memoryview(untouched) as view, pytest.raises(TooLarge):
        SEAL.seal("t", A, view[: 2**31 - 16])


def test_one_seal_serves_many_threads():
    def work(number):
        data = bytes([number]) * 1000
        return all(SEAL.open(f"t{number}", A, SEAL.seal(f"t{number}", A, data)) == data for _ in range(50))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(8)))


@given(st.binary(min_size=32, max_size=32))
def test_every_spelling_of_a_key_is_the_same_key(master):
    sealed = Seal(master).seal("t", A, DATA)
    standard, url_safe = base64.b64encode(master).decode(), base64.urlsafe_b64encode(master).decode()
    hexadecimal = master.hex()
    for text in (standard, url_safe, url_safe.rstrip("="), hexadecimal, hexadecimal.upper(), f" {standard}\n"):
        assert Seal.from_text(text).open("t", A, sealed) == DATA


TEXT = base64.b64encode(MASTER).decode()
NO_KEYS = {
    "empty": "",
    "a password": "correct horse battery staple",
    "16 bytes": base64.b64encode(MASTER[:16]).decode(),
    "31 bytes": base64.b64encode(MASTER[:31]).decode(),
    "33 bytes": base64.b64encode(MASTER + b"!").decode(),
    "a character short": TEXT[1:],
    "two paddings": TEXT + "=",
    "bits beyond the key": TEXT[:42] + "9=",
    "a space inside": TEXT[:20] + " " + TEXT[21:],
    "both alphabets": "+-" + TEXT[2:],
    "63 hex characters": MASTER.hex()[1:],
    "65 hex characters": MASTER.hex() + "0",
    "no hex character": MASTER.hex()[:63] + "g",
    "other digits": "\u0661" * 64,
    "quotes": f'"{TEXT}"',
}


@pytest.mark.parametrize("text", NO_KEYS.values(), ids=NO_KEYS)
def test_anything_else_is_refused_with_a_way_out_and_not_repeated(text):
    with pytest.raises(BadInput) as caught:
        Seal.from_text(text)
    assert SETTING in caught.value.message
    assert "openssl rand -base64 32" in caught.value.hint
    told = caught.value.hint + "".join(traceback.format_exception(caught.value))
    assert not text or text not in told


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_a_master_key_of_another_length_is_refused(length):
    with pytest.raises(BadInput, match="32 bytes"):
        Seal(b"\x7f" * length)


def test_a_seal_does_not_show_its_key():
    shown = f"{SEAL!r} {SEAL}"
    for spelling in (TEXT, MASTER.hex(), repr(MASTER)[2:-1]):
        assert spelling not in shown


def test_no_error_of_a_seal_tells_its_key():
    other = Seal(bytes(range(100, 132)))
    for tenant, key, data in (("t", A, SEALED), ("t", A, DATA * 9), ("t", B, other.seal("t", A, DATA))):
        with pytest.raises(CorruptBlob) as caught:
            other.open(tenant, key, data)
        told = caught.value.hint + "".join(traceback.format_exception(caught.value))
        for master in (MASTER, bytes(range(100, 132))):
            assert master.hex() not in told
            assert base64.b64encode(master).decode() not in told
            assert repr(master)[2:-1] not in told
