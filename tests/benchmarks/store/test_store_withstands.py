"""Short seeded forms of `preread bench store`."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.main import bench
from benchmarks.store.kills import Aftermath, kill_at_random, look
from benchmarks.store.mutations import examine
from benchmarks.store.replay import Traffic, replay
from kvstore.codecs.codecs import PLAIN, Codecs
from kvstore.eviction import Eviction
from kvstore.profiles import Profiles
from kvstore.tiers.disk import DiskTier


@pytest.mark.parametrize("preset", ["lossless", "kivi4"])
def test_no_damaged_blob_comes_out_or_stays(tmp_path, preset):
    findings = examine(DiskTier(tmp_path, 10**9), Codecs(Profiles([])), PLAIN[preset], (2, 2, 32), 450, seed=1)
    assert sum(findings.tried.values()) > 440
    assert len(findings.tried) == 9
    assert findings.refused + findings.harmless == findings.tried
    assert set(findings.harmless) <= {"header changed and resealed"}
    assert (findings.wrong, findings.kept, findings.crashed) == ([], [], [])


def test_the_examination_notices_a_store_that_checks_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("kvstore.blob.Blob.check", lambda *_: None)
    findings = examine(DiskTier(tmp_path, 10**9), Codecs(Profiles([])), PLAIN["raw"], (2, 2, 32), 90, seed=1)
    assert set(findings.wrong) == {"foreign"}


def test_kills_leave_nothing_partial_and_no_lease(tmp_path):
    seen = []
    aftermath = kill_at_random(tmp_path, 15, 2, lambda: seen.append(1))
    assert aftermath.sound, aftermath
    assert sum(aftermath.kills.values()) == len(seen) == 15


def test_a_partial_blob_would_be_seen(tmp_path):
    disk = tmp_path / "kv"
    DiskTier(disk, 10**6).put("killed", "a" * 64, b"half a blob")
    aftermath = Aftermath(largest_blob_bytes=1)
    look(disk, aftermath)
    assert aftermath.partial == ["a" * 64 + ".kv"]
    assert not aftermath.sound


@pytest.mark.parametrize("exponent", [0.6, 1.0, 1.2])
def test_value_saves_at_least_what_lru_saves(exponent):
    traffic = Traffic(1000, 6000, exponent, seed=3)
    value, lru = (replay(traffic, 0.1, eviction, lambda: None) for eviction in (Eviction.VALUE, Eviction.LRU))
    assert value.of_seconds == lru.of_seconds
    assert value.seconds > lru.seconds > 0
    assert 0 < value.share < 1


def test_the_command_prints_one_object(tmp_path):
    plot = tmp_path / "replay.svg"
    arguments = ["store", "--mutations", "18", "--kills", "1", "--chunks", "50", "--requests", "100"]
    result = CliRunner().invoke(bench, [*arguments, "--plot", str(plot), "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert {"model", "machine", "command", "mutations", "kills", "lookups", "replay"} <= told.keys()
    assert told["mutations"]["refused"] + told["mutations"]["harmless"] == told["mutations"]["tried"] == 18
    assert told["kills"]["sound"]
    assert [row["exponent"] for row in told["replay"]] == [0.6, 1.0, 1.2]
    assert told["lookups"]["disk_ms"] > 0
    assert plot.read_text().count("<svg") == 1
    shown = CliRunner().invoke(bench, [*arguments, "--exponents", "1"])
    assert "damaged blobs" in shown.stdout
