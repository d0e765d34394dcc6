"""What profiles are calibrated on: keys as they are stored, and gradients that foretell what errors do."""

import pytest
import torch
from lab_model import KINDS, random_model

from benchmarks.lab.dense import DenseModel
from benchmarks.lab.reading import PieceKV, place, prefix_of, read
from generator.errors import ModelNotFound
from generator.sensitivity import SensitiveModel

BEFORE, CHUNK, LATER = list(range(3, 13)), list(range(20, 60)), list(range(5, 29))


@pytest.fixture(params=sorted(KINDS))
def model(request, tmp_path):
    loaded = random_model(request.param)
    loaded.save_pretrained(tmp_path)
    return SensitiveModel(tmp_path), DenseModel(loaded)


def test_keys_and_values_are_those_of_the_chunk_un_rotated(model):
    sensitive, dense = model
    sample = sensitive.sample(BEFORE, CHUNK, LATER)
    piece = read(dense, prefix_of(dense, BEFORE), CHUNK)
    keys = piece.keys.reshape(len(CHUNK), 4, 2, 16).transpose(0, 1)
    values = piece.values.reshape(len(CHUNK), 4, 2, 16).transpose(0, 1)
    assert sample.kv.shape == (2, 4, len(CHUNK), 2, 16)
    assert torch.allclose(sample.kv[0], keys, atol=1e-4)
    assert torch.allclose(sample.kv[1], values, atol=1e-4)


def test_gradients_are_those_of_un_rotated_keys_and_of_values(model):
    """Along each gradient the drawn text's log-probability rises by as much as its square says."""
    sensitive, dense = model
    drawn = sensitive.sample(BEFORE, CHUNK, LATER)
    assert drawn.gradients.shape == (2, *drawn.kv.shape)
    for kind in (0, 1):
        expected, seen = [], []
        for layer in (0, 3):
            gradient = drawn.gradients[0, kind, layer].float()
            change = gradient / gradient.norm() * 1e-3 * drawn.kv[kind, layer].norm()
            expected.append(float((gradient * change).sum()))
            seen.append(_rise(dense, drawn, kind, layer, change))
        assert seen == pytest.approx(expected, rel=0.1)


def _rise(dense, sample, kind, layer, change):
    """By how much the first text drawn gets likelier once the chunk's KV is changed, over the root of its length."""
    before = prefix_of(dense, BEFORE)
    kv = sample.kv.clone()
    plain = _later(dense, before, kv)
    # The model draws with its own generator, from the same chances.
    drawn = torch.multinomial(plain.exp(), 1, generator=torch.Generator().manual_seed(0))
    kv[kind, layer] += change
    return float((_later(dense, before, kv) - plain).gather(1, drawn).sum()) / len(LATER) ** 0.5


def _later(dense, before, kv):
    """(later, vocabulary) log-probabilities over this KV of the chunk."""
    start, end = len(BEFORE), len(BEFORE) + len(CHUNK)
    cache = before.cache.copy(end + len(LATER))
    stacked = [part.transpose(0, 1).reshape(len(CHUNK), 8, 16) for part in kv]
    place(dense, cache, PieceKV(*stacked), start)
    hidden = dense.forward(cache, torch.tensor(LATER), torch.arange(end, end + len(LATER)))
    return dense.log_probabilities(hidden)


def test_a_folder_that_transformers_cannot_load_is_refused(tmp_path):
    with pytest.raises(ModelNotFound, match="cannot be calibrated"):
        SensitiveModel(tmp_path)
