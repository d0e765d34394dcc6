"""The Triton decoder agrees with the reference on every symbol, and flags damaged sections instead of failing."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rans_samples import DAMAGE, MOVABLE, PLANES, SEEDS, TOKENS, a_sample, with_changed
from torch.nn.utils.rnn import pad_sequence

from kernels.errors import BadShape, BadStream
from kernels.rans.encoded import Encoded
from kernels.rans.reference import decode
from kernels.rans.tables import MAX_LANES
from kernels.rans.triton import decode_sections, stack_sections


def launch(samples, encoded=None, **changes):
    """Decode samples of the same tables, or other streams in their place."""
    words, starts, states = stack_sections(encoded or [sample.encoded for sample in samples])
    arguments = {
        "words": torch.from_numpy(words),
        "starts": torch.from_numpy(starts),
        "states": torch.from_numpy(states.view(np.int32)),
        "planes": pad_sequence([sample.planes for sample in samples], batch_first=True),
        "bumps": pad_sequence([sample.bumps for sample in samples], batch_first=True),
        "plane_counts": torch.tensor([len(sample.planes) for sample in samples], dtype=torch.int32),
        "token_counts": torch.tensor([len(sample.bumps) for sample in samples], dtype=torch.int32),
        "slots": torch.from_numpy(samples[0].tables.slots.view(np.int32)),
        "movable": MOVABLE,
    }
    return decode_sections(**arguments | changes)


@settings(max_examples=5)
@given(PLANES, TOKENS, SEEDS)
def test_every_symbol_is_decoded(planes, tokens, seed):
    sample = a_sample(planes, tokens, seed)
    decoded, whole = launch([sample])
    assert whole.tolist() == [True]
    assert torch.equal(decoded[0], sample.symbols)


def test_sections_of_different_sizes_are_decoded_in_one_launch():
    sizes = [(3, 1), (1, 15), (2, 16), (4, 17), (3, 255), (2, 256)]
    samples = [a_sample(*size) for size in sizes]
    decoded, whole = launch(samples)
    assert whole.all()
    assert decoded.shape == (len(sizes), max(planes for planes, _ in sizes), max(tokens for _, tokens in sizes))
    for section, (planes, tokens), sample in zip(decoded, sizes, samples, strict=True):
        assert torch.equal(section[:planes, :tokens], sample.symbols)


def test_words_states_and_slots_may_be_signed_or_unsigned():
    sample = a_sample(3, 40)
    encoded = sample.encoded
    words = torch.from_numpy(encoded.words.view(np.int16))
    states, slots = torch.from_numpy(stack_sections([encoded])[2]), torch.from_numpy(sample.tables.slots)
    for changes in ({"words": words}, {"states": states, "slots": slots}):
        decoded, whole = launch([sample], **changes)
        assert whole.all()
        assert torch.equal(decoded[0], sample.symbols)


@settings(max_examples=12)
@given(st.integers(0, 400), st.integers(1, 2**16 - 1))
def test_a_changed_section_is_flagged_where_the_reference_refuses_it(at, bits):
    sample = a_sample(2, 40)
    changed = with_changed(sample.encoded, at, bits)
    decoded, whole = launch([sample], [changed])
    if whole:
        assert torch.equal(decoded[0], decode(changed, sample.planes, sample.bumps, sample.tables))
    else:
        with pytest.raises(BadStream):
            decode(changed, sample.planes, sample.bumps, sample.tables)


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_section_is_flagged(kind):
    sample = a_sample(3)
    _, whole = launch([sample], [DAMAGE[kind](sample.encoded)])
    assert whole.tolist() == [False]


@pytest.mark.parametrize("kind", ["half of the words missing", "a word too many"])
def test_the_other_sections_of_a_launch_survive_a_damaged_one(kind):
    samples = [a_sample(2, 100), a_sample(2, 256), a_sample(2, 100)]
    decoded, whole = launch(samples, [samples[0].encoded, DAMAGE[kind](samples[1].encoded), samples[2].encoded])
    assert whole.tolist() == [True, False, True]
    for section in (0, 2):
        assert torch.equal(decoded[section, :, :100], samples[section].symbols)


@pytest.mark.parametrize("starts", [[1, 0], [2**40, 2**40 + 1], [-(2**40), 5], [0, 2**40], [0, 0]])
def test_sections_that_begin_or_end_elsewhere_are_flagged(starts):
    _, whole = launch([a_sample(2, 40)], starts=torch.tensor(starts))
    assert whole.tolist() == [False]


def test_sections_that_name_unknown_tables_or_more_than_there_is_room_for_are_flagged():
    sample = a_sample(2, 40)
    for changes in (
        {"planes": sample.planes[None] + 6},
        {"bumps": sample.bumps[None] + 4},
        {"movable": 0},
        {"plane_counts": torch.tensor([3], dtype=torch.int32)},
        {"token_counts": torch.tensor([41], dtype=torch.int32)},
        {"bumps": sample.bumps[None, :-1].contiguous()},
    ):
        _, whole = launch([sample], **changes)
        assert whole.tolist() == [False]


@pytest.mark.parametrize(("planes", "tokens"), [(0, 0), (0, 40), (2, 0)])
def test_sections_of_nothing_are_whole(planes, tokens):
    nothing = Encoded(np.full(min(tokens // 8, MAX_LANES), 1 << 16, np.uint32), np.zeros(0, np.uint16))
    empty = {"planes": torch.zeros(1, planes, dtype=torch.uint8), "bumps": torch.zeros(1, tokens, dtype=torch.uint8)}
    counts = {
        name: torch.tensor([n], dtype=torch.int32) for name, n in (("plane_counts", planes), ("token_counts", tokens))
    }
    symbols, whole = launch([a_sample(1, 1)], [nothing], **empty, **counts)
    assert symbols.shape == (1, planes, tokens)
    assert whole.tolist() == [True]


def test_arguments_that_do_not_fit_each_other_are_refused():
    sample = a_sample(2, 40)
    for changes in (
        {"words": torch.zeros(1, 5, dtype=torch.int16)},
        {"starts": torch.zeros(3, dtype=torch.int64)},
        {"states": torch.zeros(1, 15, dtype=torch.int32)},
        {"plane_counts": torch.zeros(2, dtype=torch.int32)},
        {"planes": torch.zeros(2, 2, dtype=torch.uint8)},
        {"slots": torch.zeros(4095, dtype=torch.int32)},
        {"slots": torch.zeros(0, dtype=torch.int32)},
        {"bumps": sample.bumps[None].repeat_interleave(2, 1)[:, ::2]},
    ):
        with pytest.raises(BadShape):
            launch([sample], **changes)


def test_the_kernel_compiles_for_an_nvidia_gpu(compile_for_gpu):
    pointers = ["*i16", "*i64", "*i32", "*u8", "*u8", "*i32", "*i32", "*i32", "*u8", "*i1"]
    constants = {"LANES": 16, "TOKENS_PER_LANE": 8, "LOWEST_STATE": 1 << 16, "SCALE_BITS": 12}
    compiled = compile_for_gpu("_decode", pointers + ["i32"] * 5, constants, num_warps=1)
    assert compiled["cubin"]
    assert "redux.sync" in compiled["ptx"]
