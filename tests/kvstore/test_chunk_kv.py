"""Only tensors that fit together make chunk KV."""

import pytest
import torch
from kv_samples import BF16, F32, make_kv

from kvstore.chunk_kv import ChunkKV
from kvstore.errors import BadChunkKV

GOOD = torch.zeros(4, 2, 8, dtype=BF16)


def test_it_states_its_size():
    kv = make_kv(n_tokens=5, layers=((2, 8), (1, 4)), key_dtype=F32)
    assert (kv.n_tokens, kv.n_layers, kv.nbytes) == (5, 2, 5 * (16 + 4) * (4 + 2))


@pytest.mark.parametrize(
    ("keys", "values"),
    [
        ((), ()),
        ((GOOD, GOOD), (GOOD,)),
        ((GOOD,), (GOOD[:3],)),
        ((GOOD, GOOD[:3]), (GOOD, GOOD[:3])),
        ((GOOD[:0],), (GOOD[:0],)),
        ((GOOD[0],), (GOOD[0],)),
        ((GOOD[:, :, :4],), (GOOD,)),
        ((GOOD, GOOD.float()), (GOOD, GOOD)),
        ((GOOD, GOOD), (GOOD, GOOD.half())),
        ((GOOD.double(),), (GOOD.double(),)),
        ((GOOD.int(),), (GOOD,)),
        ((GOOD.to("meta"),), (GOOD,)),
    ],
)
def test_tensors_that_do_not_fit_are_refused(keys, values):
    with pytest.raises(BadChunkKV):
        ChunkKV(keys, values)
