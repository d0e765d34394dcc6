"""A blob holds chunk KV bit for bit, or is refused."""

import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from kv_samples import BF16, F16, F32, make_identity, make_kv, same_bits

from kvstore.blob import Blob, encode_blob
from kvstore.codecs.codecs import LOSSLESS, RAW, Codecs
from kvstore.errors import CorruptBlob, ForeignBlob, TooLarge
from kvstore.header import MAX_TOKENS, Geometry
from kvstore.key import Reading
from kvstore.profiles import Profiles

CODECS = st.sampled_from([RAW, LOSSLESS])
DTYPES = st.sampled_from([BF16, F16, F32])
SHAPES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 9)), min_size=1, max_size=4)
IDENTITY = make_identity()
CODECS_KNOWN = Codecs(Profiles([]))
SAMPLES = {codec: encode_blob(make_kv(n_tokens=300), IDENTITY, codec) for codec in (RAW, LOSSLESS)}
ONE_SECTION_EACH = encode_blob(make_kv(n_tokens=4, layers=((1, 4),)), IDENTITY, RAW)

# Offsets of docs/blob-format.md.
TOTAL, HEADER_BYTES, N_TOKENS, N_LAYERS, N_SECTIONS, LAYERS = 16, 24, 28, 32, 36, 216


def resealed(data: bytes, patches: dict[int, bytes]) -> bytes:
    """`data` with some bytes replaced and the header's checksum made right again."""
    changed = bytearray(data)
    for at, patch in patches.items():
        changed[at : at + len(patch)] = patch
    end = struct.unpack_from("<I", data, HEADER_BYTES)[0] - 8
    changed[end : end + 8] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(changed[:end])))
    return bytes(changed)


def decode_all(data: bytes):
    blob = Blob.parse(data)
    blob.check(IDENTITY)
    return blob.decode(CODECS_KNOWN.of(blob))


@given(CODECS, DTYPES, DTYPES, SHAPES, st.sampled_from([1, 2, 255, 256, 257, 512, 600]))
def test_what_went_in_comes_out_bit_for_bit(codec, key_dtype, value_dtype, layers, n_tokens):
    kv = make_kv(n_tokens, tuple(layers), key_dtype, value_dtype)
    blob = Blob.parse(encode_blob(kv, IDENTITY, codec))
    assert (blob.n_tokens, blob.n_layers) == (kv.n_tokens, kv.n_layers)
    assert same_bits(blob.decode(codec), kv)


@pytest.mark.parametrize("codec", [RAW, LOSSLESS])
def test_a_layer_decodes_alone(codec):
    kv = make_kv(n_tokens=300, layers=((2, 8), (1, 4), (3, 2)))
    blob = Blob.parse(encode_blob(kv, IDENTITY, codec))
    for layer in range(3):
        keys, values = blob.layer(layer, codec)
        assert torch.equal(keys, kv.keys[layer])
        assert torch.equal(values, kv.values[layer])
    assert torch.equal(blob.layer(-1, codec)[0], kv.keys[2])
    with pytest.raises(IndexError):
        blob.layer(3, codec)


@pytest.mark.parametrize("codec", [RAW, LOSSLESS])
def test_layers_decode_from_several_threads_at_once(codec):
    kv = make_kv(n_tokens=700, layers=((2, 32),) * 12)
    blob = Blob.parse(encode_blob(kv, IDENTITY, codec))
    with ThreadPoolExecutor(4) as threads:
        decoded = list(threads.map(lambda layer: blob.layer(layer, codec), list(range(12)) * 3))
    for number, (keys, values) in enumerate(decoded):
        assert torch.equal(keys, kv.keys[number % 12])
        assert torch.equal(values, kv.values[number % 12])


def test_decoded_tensors_may_be_written_to_without_changing_the_blob():
    blob = Blob.parse(SAMPLES[RAW])
    blob.decode(RAW).keys[0].zero_()
    blob.layer(0, RAW)[1].zero_()
    assert same_bits(blob.decode(RAW), make_kv(n_tokens=300))


@pytest.mark.parametrize(
    "identity",
    [
        make_identity(),
        make_identity(reading=Reading.CONDITIONED, conditioning_hash="e" * 64, profile_id="f" * 32),
        make_identity(reading=Reading.CONDITIONED),
    ],
)
def test_the_identity_is_kept(identity):
    assert Blob.parse(encode_blob(make_kv(), identity, RAW)).identity == identity


def test_a_blob_of_other_tokens_is_foreign():
    with pytest.raises(ForeignBlob):
        Blob.parse(SAMPLES[RAW]).check(make_identity(ids_hash="9" * 64))


def test_equal_chunk_kv_makes_equal_blobs():
    assert encode_blob(make_kv(n_tokens=300), IDENTITY, LOSSLESS) == SAMPLES[LOSSLESS]


def test_kv_of_many_equal_values_is_no_suspicious_expansion():
    layers = ((4, 128),) * 2
    zeros = make_kv(n_tokens=512, layers=layers)
    for tensor in (*zeros.keys, *zeros.values):
        tensor.zero_()
    data = encode_blob(zeros, IDENTITY, LOSSLESS)
    assert len(data) < 2000
    assert same_bits(Blob.parse(data).decode(LOSSLESS), zeros)


@pytest.mark.parametrize(
    "geometry",
    [
        {"n_tokens": 0},
        {"n_tokens": MAX_TOKENS + 1},
        {"layers": ()},
        {"layers": ((1, 1),) * 1025},
        {"layers": ((0, 8),)},
        {"layers": ((1024, 65),)},
        {"n_tokens": MAX_TOKENS, "layers": ((512, 128),) * 2},
    ],
)
def test_shapes_beyond_the_formats_limits_are_refused(geometry):
    with pytest.raises(TooLarge):
        Geometry(**({"n_tokens": 1, "layers": ((1, 1),), "key_dtype": BF16, "value_dtype": BF16} | geometry))


@given(CODECS, st.data())
def test_a_truncated_blob_is_corrupt(codec, draw):
    data = SAMPLES[codec]
    with pytest.raises(CorruptBlob):
        Blob.parse(data[: draw.draw(st.integers(0, len(data) - 1))])


@given(CODECS, st.binary(min_size=1, max_size=20))
def test_a_blob_with_something_behind_it_is_corrupt(codec, tail):
    with pytest.raises(CorruptBlob):
        Blob.parse(SAMPLES[codec] + tail)


@given(CODECS, st.data())
def test_one_changed_byte_anywhere_is_found_before_decoding(codec, draw):
    data = bytearray(SAMPLES[codec])
    at = draw.draw(st.integers(0, len(data) - 1))
    data[at] ^= draw.draw(st.integers(1, 255))
    with pytest.raises(CorruptBlob):
        decode_all(bytes(data))


@given(CODECS, st.data())
def test_verify_finds_what_decoding_would(codec, draw):
    data = bytearray(SAMPLES[codec])
    data[draw.draw(st.integers(struct.unpack_from("<I", data, HEADER_BYTES)[0], len(data) - 1))] ^= 1
    blob = Blob.parse(bytes(data))
    with pytest.raises(CorruptBlob):
        blob.verify()


@given(CODECS, st.data())
def test_a_resealed_header_with_changed_bytes_is_refused_or_still_safe_to_decode(codec, draw):
    data = SAMPLES[codec]
    header_bytes = struct.unpack_from("<I", data, HEADER_BYTES)[0]
    spots = draw.draw(st.lists(st.integers(0, header_bytes - 9), min_size=1, max_size=4))
    patched = resealed(data, {at: draw.draw(st.binary(min_size=1, max_size=8)) for at in spots})
    try:
        decoded = decode_all(patched)
    except (CorruptBlob, ForeignBlob):
        return
    # Bytes that do not decide anything: the dtypes of equal size, the passage and the profile.
    assert decoded.nbytes == make_kv(n_tokens=300).nbytes


@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_corrupt(data):
    with pytest.raises(CorruptBlob):
        Blob.parse(data)
    with pytest.raises(CorruptBlob):
        Blob.parse(SAMPLES[RAW][:12] + data)


@pytest.mark.parametrize("at", [TOTAL, HEADER_BYTES, N_TOKENS, N_LAYERS, N_SECTIONS, LAYERS, LAYERS + 4])
@pytest.mark.parametrize("value", [0, 1, 2**16, 2**20, 2**31, 2**32 - 1])
def test_oversized_and_zero_counts_are_corrupt_even_when_the_checksum_is_right(at, value):
    with pytest.raises(CorruptBlob):
        decode_all(resealed(SAMPLES[LOSSLESS], {at: struct.pack("<I", value)}))


def table_start(data: bytes) -> int:
    return LAYERS + 8 * struct.unpack_from("<I", data, N_LAYERS)[0]


@pytest.mark.parametrize("field", [0, 4, 8, 12])
@pytest.mark.parametrize("value", [2, 5, 300, 2**32 - 1])
def test_a_section_that_claims_another_place_is_corrupt(field, value):
    data = SAMPLES[RAW]
    with pytest.raises(CorruptBlob):
        Blob.parse(resealed(data, {table_start(data) + field: struct.pack("<I", value)}))


@pytest.mark.parametrize("field", [16, 24])
@pytest.mark.parametrize("value", [0, 1, 2**32, 2**63, 2**64 - 1, 2**64 - 8])
def test_a_section_that_points_outside_overlaps_or_wraps_around_is_corrupt(field, value):
    data = SAMPLES[RAW]
    for section in (0, 1, 7):
        at = table_start(data) + 40 * section + field
        with pytest.raises(CorruptBlob):
            Blob.parse(resealed(data, {at: struct.pack("<Q", value)}))


def test_swapped_sections_are_corrupt():
    data = SAMPLES[RAW]
    start = table_start(data)
    first, second = data[start : start + 40], data[start + 80 : start + 120]
    with pytest.raises(CorruptBlob):
        Blob.parse(resealed(data, {start: second, start + 80: first}))


def test_sections_that_trade_their_bytes_are_corrupt():
    data = ONE_SECTION_EACH
    swapped = data[:-64] + data[-32:] + data[-64:-32]
    with pytest.raises(CorruptBlob):
        Blob.parse(swapped).decode(RAW)


def test_a_small_blob_cannot_claim_a_large_shape():
    """One token more than a raw section can hold, with every count and checksum right."""
    data = ONE_SECTION_EACH
    start = table_start(data)
    patches = {N_TOKENS: struct.pack("<I", 5)} | {start + 40 * n + 12: struct.pack("<I", 5) for n in range(2)}
    with pytest.raises(CorruptBlob, match="more than its bytes can"):
        Blob.parse(resealed(data, patches))


@pytest.mark.parametrize(
    "patch",
    [
        {0: b"PK\x03\x04"},
        {8: b"\x02\x00"},
        {10: b"\x63\x00"},
        {12: b"\x00"},
        {12: b"\x03"},
        {13: b"\x00"},
        {14: b"\x04"},
        {15: b"\x01"},
        {40: bytes(32)},
    ],
)
def test_an_unknown_magic_version_codec_reading_or_dtype_is_corrupt(patch):
    with pytest.raises(CorruptBlob):
        Blob.parse(resealed(SAMPLES[RAW], patch))


def test_memoryviews_of_any_item_size_are_parsed():
    padded = np.frombuffer(SAMPLES[RAW], np.uint8)
    assert Blob.parse(memoryview(padded)).n_tokens == 300
    if len(padded) % 2 == 0:
        assert Blob.parse(memoryview(padded.view(np.uint16))).n_tokens == 300
