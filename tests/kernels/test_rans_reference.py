"""The rANS reference gives back what was coded, agrees with Numba byte for byte, and refuses damaged streams."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rans_samples import DAMAGE, PLANES, SEEDS, TOKENS, a_sample, some_tables, with_changed

from kernels.errors import BadShape, BadStream
from kernels.rans import numba
from kernels.rans.reference import decode, encode
from kernels.rans.tables import SCALE, Tables

NOTHING = torch.zeros(0, dtype=torch.uint8)


def encode_by_numba(sample):
    return numba.encode(sample.symbols.numpy(), sample.planes.numpy(), sample.bumps.numpy(), sample.tables)


def decode_by_numba(encoded, sample):
    out = np.zeros(sample.symbols.shape, np.uint8)
    numba.decode(encoded, sample.planes.numpy(), sample.bumps.numpy(), sample.tables, out)
    return torch.from_numpy(out)


def decode_by_reference(encoded, sample):
    return decode(encoded, sample.planes, sample.bumps, sample.tables)


def symbols_or_none(decoder, encoded, sample):
    try:
        return decoder(encoded, sample).tolist()
    except BadStream:
        return None


@settings(max_examples=25)
@given(PLANES, TOKENS, SEEDS)
def test_decoding_restores_every_symbol_and_numba_agrees_on_every_byte(planes, tokens, seed):
    sample = a_sample(planes, tokens, seed)
    encoded, theirs = sample.encoded, encode_by_numba(sample)
    assert (encoded.words.dtype, encoded.states.dtype) == (np.uint16, np.uint32)
    assert encoded.words.tobytes() == theirs.words.tobytes()
    assert encoded.states.tobytes() == theirs.states.tobytes()
    assert torch.equal(decode_by_reference(encoded, sample), sample.symbols)
    assert torch.equal(decode_by_numba(encoded, sample), sample.symbols)


@settings(max_examples=25)
@given(st.integers(1, 6), TOKENS, SEEDS, st.integers(0, 999), st.integers(1, 2**16 - 1), st.booleans())
def test_the_reference_and_numba_judge_damage_alike(planes, tokens, seed, at, bits, cut):
    sample = a_sample(planes, tokens, seed)
    damaged = with_changed(sample.encoded, at, bits)
    if cut:
        damaged = replace(damaged, words=damaged.words[: bits % (len(damaged.words) + 1)])
    verdicts = [symbols_or_none(decoder, damaged, sample) for decoder in (decode_by_reference, decode_by_numba)]
    assert verdicts[0] == verdicts[1]


def test_planes_that_never_change_take_no_words():
    frequencies = np.zeros((1, 256), np.uint16)
    frequencies[0, 7], frequencies[0, 9] = SCALE - 1, 1
    tables = Tables(frequencies, 0)
    planes, bumps = torch.zeros(24, dtype=torch.uint8), torch.zeros(256, dtype=torch.uint8)
    symbols = torch.full((24, 256), 7, dtype=torch.uint8)
    encoded = encode(symbols, planes, bumps, tables)
    assert encoded.words.size == 0
    assert torch.equal(decode(encoded, planes, bumps, tables), symbols)


@pytest.mark.parametrize(("planes", "tokens"), [(0, 0), (0, 20), (3, 0)])
def test_sections_of_nothing_take_no_words(planes, tokens):
    tables = some_tables(np.random.default_rng(0))
    symbols = torch.zeros(planes, tokens, dtype=torch.uint8)
    encoded = encode(symbols, symbols.new_zeros(planes), symbols.new_zeros(tokens), tables)
    assert encoded.words.size == 0
    assert decode(encoded, symbols.new_zeros(planes), symbols.new_zeros(tokens), tables).shape == (planes, tokens)


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_stream_is_refused(kind):
    sample = a_sample()
    with pytest.raises(BadStream):
        decode_by_reference(DAMAGE[kind](sample.encoded), sample)


@pytest.mark.parametrize("change", [{"planes": a_sample().planes[:-1]}, {"bumps": 1 - a_sample().bumps}])
def test_a_stream_of_other_planes_or_bumps_is_refused(change):
    sample = a_sample()
    with pytest.raises(BadStream):
        decode_by_reference(sample.encoded, replace(sample, **change))


def test_what_does_not_fit_the_tables_is_refused():
    sample = a_sample()
    encoded = sample.encoded
    for change in ({"planes": sample.planes + 2}, {"bumps": sample.bumps + 200}, {"bumps": NOTHING}):
        worse = replace(sample, **change)
        with pytest.raises(BadShape):
            decode_by_reference(encoded, worse)
        with pytest.raises(BadShape):
            _ = worse.encoded


def test_symbols_that_no_table_codes_are_refused():
    frequencies = np.zeros((1, 256), np.uint16)
    frequencies[0, :2] = SCALE // 2
    symbols = torch.zeros(1, 20, dtype=torch.uint8)
    for bad in (symbols + 2, symbols.int(), symbols[0]):
        with pytest.raises(BadShape):
            encode(bad, symbols.new_zeros(1), symbols.new_zeros(20), Tables(frequencies, 0))
