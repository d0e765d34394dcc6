"""Profiles are kept in files that are whole or refused, and found by model and by id."""

import json
import os
from dataclasses import replace

import pytest
import torch
from kv_samples import make_identity
from profile_samples import FINGERPRINT, held_out, make_profile, make_sample
from safetensors import safe_open
from safetensors.torch import save_file

from app.core.settings import Settings
from generator.fingerprint import model_fingerprint
from generator.model_source import resolve_model
from kvstore.blob import Blob, encode_blob
from kvstore.calibration import calibrate
from kvstore.codecs.codecs import LOSSLESS, NAMES, Codecs
from kvstore.errors import BadName, BadProfile, CorruptBlob, StaleProfile
from kvstore.presets import SHIPPED, profile_presets
from kvstore.profile_file import described_fingerprints, read_profile, write_profile
from kvstore.profiles import SHIPPED_PROFILES, Profiles

OTHER = "d" * 64


def rewritten(path, change):
    """The file at `path` with its description or tensors changed by `change(described, tensors)`."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        described = json.loads(file.metadata()["profile"])
    change(described, tensors)
    save_file(tensors, path, {"profile": json.dumps(described)})


def test_a_profile_comes_back_and_codes_the_same(tmp_path):
    profile = make_profile()
    path = write_profile(tmp_path, profile)
    assert path.name == f"{profile.id}.safetensors"
    assert described_fingerprints(path) == (FINGERPRINT,)
    back = read_profile(path)
    assert (back.id, back.fingerprints, back.source) == (profile.id, profile.fingerprints, profile.source)
    assert sorted(back.presets) == sorted(profile.presets)
    again = Profiles([tmp_path])
    for name in profile.presets:
        codec = Codecs(again).to_write(name, FINGERPRINT)
        blob = encode_blob(held_out(), make_identity(), codec)
        assert torch.equal(Blob.parse(blob).decode(codec).keys[0], Blob.parse(blob).decode(codec).keys[0])
        assert codec.profile_id == profile.id


@pytest.mark.parametrize(
    "change",
    [
        lambda described, _: described.update(format=2),
        lambda described, _: described.update(id="0" * 32),
        lambda described, _: described["fingerprints"].append(OTHER),
        lambda described, _: described["presets"]["default"].update(step=1.0),
        lambda described, _: described["presets"].update(unknown=described["presets"]["default"]),
        lambda described, _: described.pop("presets"),
        lambda _, tensors: tensors.pop("preset.default.tables"),
        lambda _, tensors: tensors.pop("basis.sensitivity-basis-levels.means"),
        lambda _, tensors: tensors["basis.sensitivity-basis-levels.means"].add_(1),
        lambda _, tensors: tensors["preset.default.frequencies"][0].add_(1),
    ],
)
def test_an_altered_file_is_refused(tmp_path, change):
    path = write_profile(tmp_path, make_profile())
    rewritten(path, change)
    with pytest.raises(BadProfile) as refused:
        read_profile(path)
    assert refused.value.hint


def test_no_profile_at_all_is_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    for content in (b"", b"not a profile", None):
        if content is None:
            save_file({"a": torch.zeros(1)}, path)
        else:
            path.write_bytes(content)
        with pytest.raises(BadProfile):
            read_profile(path)
    with pytest.raises(BadProfile):
        read_profile(tmp_path / "absent.safetensors")


def test_the_newest_profile_of_the_first_folder_is_used(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    shipped = write_profile(second, make_profile())
    assert Profiles([first, second]).of_model(FINGERPRINT).id == shipped.stem
    old = write_profile(first, calibrate([make_sample(1)], SHIPPED, [FINGERPRINT], {}))
    new = write_profile(first, calibrate([make_sample(2)], SHIPPED, [FINGERPRINT], {}))
    os.utime(old, (1, 1))
    found = Profiles([first, second])
    assert found.of_model(FINGERPRINT).id == new.stem
    assert found.by_id(shipped.stem).id == shipped.stem
    assert found.of_model(OTHER) is None


def test_a_broken_file_is_passed_over(tmp_path, caplog):
    (tmp_path / "broken.safetensors").write_bytes(b"x")
    path = write_profile(tmp_path, make_profile())
    os.utime(path, (1, 1))
    assert Profiles([tmp_path]).of_model(FINGERPRINT).id == path.stem
    assert "broken.safetensors" in caplog.text


def test_presets_by_name(tmp_path):
    write_profile(tmp_path, calibrate([make_sample(1)], profile_presets(["default"]), [FINGERPRINT], {}))
    codecs = Codecs(Profiles([tmp_path]))
    assert codecs.to_write("lossless", OTHER) is LOSSLESS
    assert codecs.to_write("kivi4", OTHER).name == "kivi4"
    assert codecs.has_profile(FINGERPRINT)
    assert not codecs.has_profile(OTHER)
    with pytest.raises(BadName, match="no preset 'zip'"):
        codecs.to_write("zip", FINGERPRINT)
    with pytest.raises(BadProfile, match="this model has none"):
        codecs.to_write("default", OTHER)
    with pytest.raises(BadProfile, match="no preset 'tiny'"):
        codecs.to_write("tiny", FINGERPRINT)
    assert len(set(NAMES)) == len(NAMES)


def test_a_blob_whose_profile_is_gone_is_stale(tmp_path):
    path = write_profile(tmp_path, make_profile())
    codec = Codecs(Profiles([tmp_path])).to_write("default", FINGERPRINT)
    blob = Blob.parse(encode_blob(held_out(), make_identity(), codec))
    path.unlink()
    with pytest.raises(StaleProfile):
        Codecs(Profiles([tmp_path])).of(blob)


def test_a_blob_whose_profile_lacks_its_preset_is_stale(tmp_path):
    codec = Codecs(Profiles([tmp_path / "a"]))
    write_profile(tmp_path / "a", make_profile())
    blob = Blob.parse(encode_blob(held_out(), make_identity(), codec.to_write("tiny", FINGERPRINT)))
    fewer = calibrate([make_sample(1)], profile_presets(["default"]), [FINGERPRINT], {})
    write_profile(tmp_path / "b", replace(fewer))
    blob.identity = replace(blob.identity, profile_id=fewer.id)
    with pytest.raises(StaleProfile):
        Codecs(Profiles([tmp_path / "b"])).of(blob)


def test_a_preset_with_a_profile_but_without_its_id_is_corrupt(tmp_path):
    write_profile(tmp_path, make_profile())
    codecs = Codecs(Profiles([tmp_path]))
    blob = Blob.parse(encode_blob(held_out(), make_identity(), codecs.to_write("default", FINGERPRINT)))
    blob.identity = replace(blob.identity, profile_id="")
    with pytest.raises(CorruptBlob):
        codecs.of(blob)


def test_what_coding_needs_can_be_worked_out_beforehand(tmp_path):
    write_profile(tmp_path, calibrate([make_sample(1)], SHIPPED, [FINGERPRINT], {}))
    codecs = Codecs(Profiles([tmp_path]))
    codecs.prepare(OTHER)
    codecs.prepare(FINGERPRINT)
    plan = codecs.to_write("compact", FINGERPRINT).plan
    section = plan.section(1, 1)
    codecs.prepare(FINGERPRINT)
    assert plan.section(1, 1) is section


def test_the_packaged_models_profile_ships():
    found = Profiles([SHIPPED_PROFILES])
    settings = Settings(_env_file=None)
    folder = resolve_model(settings)
    for dtype in ("bfloat16", "float32"):
        profile = found.of_model(model_fingerprint(folder, dtype))
        assert profile is not None
        assert set(profile.presets) >= {preset.name for preset in SHIPPED}
