"""docs/blob-format.md is true: its decoder reads what we write, and its example is a blob."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from kv_samples import BF16, F16, F32, make_identity, make_kv

from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS, RAW
from kvstore.key import Reading

PAGE = (Path(__file__).parents[2] / "docs" / "blob-format.md").read_text()


@pytest.fixture(scope="module")
def decode():
    namespace = {}
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL).group(1), namespace)
    return namespace["decode"]


@pytest.mark.parametrize("codec", [RAW, LOSSLESS])
@pytest.mark.parametrize("dtypes", [(BF16, BF16), (F32, BF16), (F16, F32)])
def test_the_pages_decoder_reads_what_we_write(decode, codec, dtypes):
    kv = make_kv(600, ((2, 8), (1, 5)), *dtypes)
    arrays = decode(encode_blob(kv, make_identity(), codec))
    assert len(arrays) == 4
    for kind, tensors in enumerate((kv.keys, kv.values)):
        for layer, tensor in enumerate(tensors):
            words = arrays[layer, kind]
            bits = tensor.view(torch.uint8).numpy().view(words.dtype)
            assert np.array_equal(words, bits)


def test_the_pages_example_is_what_we_write():
    example = bytes.fromhex(re.search(r"## A whole blob.*?```\n(.*?)```", PAGE, re.DOTALL).group(1))
    keys = torch.tensor([[[1.0, -2.0]]], dtype=BF16)
    values = torch.tensor([[[0.5, float("nan")]]], dtype=BF16)
    identity = make_identity(
        key="1" * 64, ids_hash="2" * 64, model_fingerprint="3" * 64, preamble_hash="4" * 64, reading=Reading.OPENING
    )
    assert Blob.parse(example).identity == identity
    assert encode_blob(ChunkKV((keys,), (values,)), identity, RAW) == example
