"""`preread bench codec`: exact but for what goes through the codec."""

import pytest
import torch
from lab_model import tiny_exact, tiny_model
from rich.console import Console

from benchmarks.codec.families import family_of, stepped
from benchmarks.codec.roundtrip import chunk_kv, in_dtype, replaced, round_trip
from benchmarks.codec.speed import speed_of
from benchmarks.codec.study import closeness_row, preset_row
from benchmarks.codec.table import codec_table
from kvstore.codecs.codecs import LOSSLESS, PLAIN
from kvstore.errors import BadName


@pytest.fixture(scope="module")
def model():
    return tiny_model()


@pytest.fixture(scope="module")
def exact(model):
    return tiny_exact(model)


def test_the_chunks_of_an_exact_run_fit_back_into_it(model, exact):
    cache = replaced(model, exact, chunk_kv(model, exact))
    assert torch.allclose(cache.keys, exact.cache.keys, atol=1e-5)
    assert torch.equal(cache.values, exact.cache.values)


def test_a_lossless_codec_changes_nothing(model, exact):
    trip = round_trip(model, exact, chunk_kv(model, exact), LOSSLESS)
    assert trip.closeness.kl_first < 1e-6
    assert trip.error == 0
    assert trip.raw_bytes == 3 * 20 * 4 * 2 * 32 * 2


def test_coarser_presets_are_smaller_and_farther(model, exact):
    kv = chunk_kv(model, exact)
    trips = [round_trip(model, exact, kv, PLAIN[name]) for name in ("int8", "kivi4", "kivi2")]
    assert [trip.blob_bytes for trip in trips] == sorted((trip.blob_bytes for trip in trips), reverse=True)
    assert [trip.closeness.kl_mean for trip in trips] == sorted(trip.closeness.kl_mean for trip in trips)
    assert trips[0].error < trips[1].error < trips[2].error


def test_a_preset_is_measured_at_several_steps():
    fine, coarse = stepped(["default"], [0.5, 2])
    assert (fine.name, coarse.name) == ("defaultx0.5", "defaultx2")
    assert coarse.step == pytest.approx(4 * fine.step)
    assert family_of(coarse.name) == "default"
    with pytest.raises(BadName):
        stepped(["kivi4"], [1])


def test_the_table_shows_every_preset_and_the_floor(model, exact):
    kv = chunk_kv(model, exact)
    trips = [round_trip(model, exact, kv, PLAIN["int8"])] * 2
    rows = {"int8": preset_row(trips, speed_of(PLAIN["int8"], in_dtype(kv, torch.bfloat16)))}
    floor = closeness_row([trip.closeness for trip in trips])
    result = {
        "model": "tiny",
        "dtype": "float32",
        "set": "made up",
        "n": 2,
        "chunk_tokens": 20,
        "context_tokens": 70,
        "machine": "here",
        "presets": rows,
        "floor": floor,
    }
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(codec_table(result))
    text = console.export_text()
    assert "int8" in text
    assert "bfloat16, no codec" in text
    assert set(rows["int8"]) >= {"ratio", "encode_mb_s", "decode_mb_s", "greedy_agreement", "kl_first_token"}


def test_short_chunks_are_measured_only_where_asked_for(model, exact):
    kv = chunk_kv(model, exact)
    assert round_trip(model, exact, kv, LOSSLESS, short=False).short_blob_bytes == 0
    assert round_trip(model, exact, kv, LOSSLESS).short_raw_bytes == 3 * 20 * 4 * 2 * 32 * 2
