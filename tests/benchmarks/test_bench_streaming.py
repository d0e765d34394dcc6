"""`preread bench streaming`: both ways write the same pages, links are waited for, and the command runs in small."""

import json
from collections.abc import Iterator

import pytest
import torch
from typer.testing import CliRunner

from app.core.errors import BadInput
from benchmarks.main import bench
from benchmarks.streaming import adapted, measure, streaming
from benchmarks.streaming_link import Link, LinkedTier
from benchmarks.streaming_load import Loading, Pages, Shape, made_up_kv
from generator.adaptation import Costs
from kvstore.codecs.codecs import PLAIN, Codecs
from kvstore.profiles import Profiles
from kvstore.tiers.base import Tier

SHAPE = Shape(chunks=3, tokens=10, layers=4, kv_heads=2, head_dim=8)
SMALL = ["--chunks", "2", "--chunk-tokens", "8", "--layers", "3", "--kv-heads", "1", "--head-dim", "8"]


@pytest.fixture
def waits() -> list[float]:
    """Seconds that the link has been waited for."""
    return []


@pytest.fixture
def loading(waits: list[float]) -> Iterator[Loading]:
    tier = LinkedTier(Link(1e6, waits.append))
    loading = Loading(tier, SHAPE, PLAIN["lossless"], Codecs(Profiles([])))
    yield loading
    loading.close()


def test_both_ways_write_the_same_pages_and_all_of_them(loading: Loading) -> None:
    apart, streamed = Pages(SHAPE), Pages(SHAPE)
    assert loading.one_after_the_other(apart) > 0
    assert loading.streamed(streamed) > 0
    for one, other in zip(apart.keys + apart.values, streamed.keys + streamed.values, strict=True):
        assert torch.equal(one, other)
        assert int((one.flatten(1) != 0).any(dim=1).sum()) == SHAPE.chunks * SHAPE.tokens


def test_tokens_of_the_same_key_are_rotated_to_where_they_stand(loading: Loading) -> None:
    pages = Pages(SHAPE)
    loading.streamed(pages)
    lengths = pages.keys[0].to(torch.float32).norm(dim=(1, 2)).sort().values
    stored = torch.cat([made_up_kv(SHAPE, chunk).keys[0] for chunk in range(SHAPE.chunks)]).to(torch.float32)
    wanted = stored.norm(dim=(1, 2)).sort().values
    assert torch.allclose(lengths[-len(wanted) :], wanted, rtol=0.02), "rotation keeps a key's length"


def test_every_way_waits_for_every_byte(loading: Loading, waits: list[float]) -> None:
    seconds = sum(loading.blob_bytes) * 8 / 1e6
    loading.one_after_the_other(Pages(SHAPE))
    assert sum(waits) == pytest.approx(seconds)
    loading.streamed(Pages(SHAPE))
    assert sum(waits) == pytest.approx(2 * seconds)


def test_ratios_are_taken_within_a_round(loading: Loading) -> None:
    found = measure(loading, 3)
    assert found["bytes"] == sum(loading.blob_bytes)
    low, high = found["ratio_quartiles"]
    assert 0 < low <= found["ratio"] <= high


def test_a_linked_tier_keeps_a_tiers_promises() -> None:
    tier: Tier = LinkedTier(Link(1e9))
    key = "a" * 64
    tier.put("t", key, b"123")
    assert (tier.get("t", key), tier.get("u", key)) == (b"123", None)
    assert (tier.contains("t", [key]), tier.sizes("t", [key])) == ({key}, {key: 3})
    assert (tier.stats().entries, tier.stats().bytes) == (1, 3)
    assert tier.delete("t", key)
    assert not tier.delete("t", key)


def test_choices_are_counted_by_speed_and_deadline() -> None:
    # At 1 Gbit/s a hot chunk takes a second and a compact one a fifth of it.
    found = adapted([125_000_000] * 4, [25_000_000] * 4, 512, [1, 1000], Costs(recompute_token_s=1.0))
    counts = {(row["gbit_s"], row["deadline_s"]): (row["hot"], row["compact"], row["recompute"]) for row in found}
    assert counts[1, 0.25] == (0, 4, 0)
    assert counts[1, 2.0] == (1, 3, 0)
    assert counts[1000, 0.25] == (4, 0, 0)
    assert len(counts) == 8


def test_a_small_run_tells_times_and_choices() -> None:
    options = ["streaming", *SMALL, "--gbits", "1,20", "--rounds", "2", "--json"]
    run = CliRunner().invoke(bench, options)
    assert run.exit_code == 0, run.output
    result = json.loads(run.stdout)
    assert {"model", "machine", "command"} <= result.keys()
    assert [(row["preset"], row["gbit_s"]) for row in result["links"]] == [
        ("lossless", 1),
        ("lossless", 20),
        ("int8", 1),
        ("int8", 20),
    ]
    assert all(row["apart_s"] > 0 and row["streamed_s"] > 0 for row in result["links"])
    assert (result["adaptation"]["hot"], result["adaptation"]["compact"]) == ("lossless", "int8")
    assert all(row["hot"] + row["compact"] + row["recompute"] == 2 for row in result["adaptation"]["choices"])


def test_a_small_run_prints_tables() -> None:
    run = CliRunner().invoke(bench, ["streaming", *SMALL, "--gbits", "5", "--rounds", "1"])
    assert run.exit_code == 0, run.output
    assert "times sooner" in run.output
    assert "recompute" in run.output


@pytest.mark.parametrize("options", [{"gbits": "fast"}, {"gbits": "0"}, {"presets": "lossless,nosuch"}])
def test_what_cannot_be_measured_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        streaming(**options)  # type: ignore[arg-type]
