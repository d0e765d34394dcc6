"""docs/codec.md is true: its decoder reads what we write, and its table lists every preset."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from profile_samples import WIDTH, held_out, make_profile

from kvstore.codecs.base import SectionJob
from kvstore.codecs.codecs import PLAIN
from kvstore.codecs.profiled import ProfiledCodec
from kvstore.presets import PROFILE_PRESETS
from kvstore.profile_file import write_profile

PAGE = (Path(__file__).parents[2] / "docs" / "codec.md").read_text()


@pytest.fixture(scope="module")
def page():
    namespace = {}
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL).group(1), namespace)
    return namespace


@pytest.mark.parametrize("name", [preset.name for preset in PROFILE_PRESETS])
def test_the_pages_decoder_reads_what_we_write(page, name, tmp_path):
    path = write_profile(tmp_path, make_profile())
    profile = page["open_profile"](str(path), name)
    codec = ProfiledCodec(make_profile(), name)
    kv = held_out(70)
    kv.keys[1][33] *= 1e6  # kept whole
    kv.values[1][5] *= 20  # exceptions, or whole
    sections = codec.encode_layer(1, kv.keys[1], kv.values[1])
    for kind, section in enumerate(sections):
        values, whole = page["decode_section"](section, profile, 1, kind, 70)
        out = torch.empty_like(kv.keys[1])
        codec.decode([SectionJob(1, kind, memoryview(section), out)])
        ours = out.reshape(70, WIDTH)
        assert (33 in whole.nonzero()[0]) == (kind == 0)
        bits = ours[whole].view(torch.uint16).numpy()
        assert np.array_equal(values[whole], bits.astype(np.float32))
        theirs = torch.from_numpy(values[~whole])
        assert torch.allclose(theirs, ours[~whole].float(), rtol=8e-3, atol=1e-4 * float(theirs.abs().max()))


def test_the_page_lists_every_preset_with_its_number():
    table = PAGE[: PAGE.index("## The idea")]
    for preset in (*PROFILE_PRESETS, *PLAIN.values()):
        if preset.name != "raw":
            assert f"`{preset.name}`" in table
    for preset in PROFILE_PRESETS[4:]:
        assert re.search(rf"\| `{preset.name}` \| {preset.number} \|", table)
