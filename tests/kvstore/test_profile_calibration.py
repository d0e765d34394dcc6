"""A profile fits what it was calibrated on, and says so."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from profile_samples import DIM, FINGERPRINT, LAYERS, WIDTH, make_profile, make_sample

from kvstore.basis import DROPPED
from kvstore.calibration import CalibrationSample, calibrate
from kvstore.errors import BadProfile
from kvstore.presets import SHIPPED, ProfilePreset, Weighting, profile_presets


def preset(**changes) -> ProfilePreset:
    return ProfilePreset(**({"name": "high", "number": 16, "weighting": Weighting.SENSITIVITY, "step": 1e-3} | changes))


def test_equal_samples_make_equal_profiles():
    again = calibrate([make_sample(seed) for seed in range(6)], SHIPPED, [FINGERPRINT], {})
    assert calibrate([make_sample(seed) for seed in range(6)], SHIPPED, [FINGERPRINT], {}).id == again.id
    assert calibrate([make_sample(seed) for seed in range(5)], SHIPPED, [FINGERPRINT], {}).id != again.id


def test_a_channel_that_matters_more_has_smaller_steps():
    sample = make_sample(0)
    gradients = torch.ones_like(sample.gradients)
    gradients[..., 0, 3] = 16
    profile = calibrate([CalibrationSample(sample.kv, gradients)], [preset()], [FINGERPRINT], {})
    analysis = profile.plan("high").section(0, 0).analysis[0]
    assert float(analysis[:, 3].norm() / analysis[:, 4].norm()) == pytest.approx(16, rel=0.05)


def test_the_basis_is_orthogonal_and_ordered_by_variance():
    profile = make_profile()
    for basis in (basis for basis in profile.bases.values() if basis.vectors is not None):
        vectors = basis.vectors.float()
        products = vectors @ vectors.transpose(-1, -2)
        assert torch.allclose(products, torch.eye(DIM).expand_as(products), atol=5e-3)
    plan = profile.plan("high").section(0, 1)
    rows = make_sample(0).kv[1, 0].flatten(1)
    spread = torch.from_numpy(plan.steps(rows)).std(1)
    for head in spread.split(DIM):
        assert (head[:-1] > 0.8 * head[1:]).all()


def test_synthesis_undoes_analysis_where_no_channel_is_dropped():
    plan = make_profile().plan("high").section(1, 0)
    rows = make_sample(3).kv[0, 1].flatten(1)
    steps = torch.from_numpy(plan.steps(rows))
    assert steps.shape == rows.T.shape
    numbers = np.zeros((len(plan.synthesis.planes), len(rows)), np.float32)
    whole = plan.synthesis.planes < make_profile().plan("high").tables.movable
    numbers[whole] = steps / torch.from_numpy(2.0**plan.shifts)[:, None]
    restored = numbers.T @ by_channel(plan.synthesis) + plan.synthesis.mean
    assert np.allclose(restored, rows, rtol=0.01, atol=0.01 * float(rows.abs().max()))


def by_channel(synthesis):
    """(planes, width) what one unit of each plane adds."""
    dim = synthesis.rows.shape[1]
    whole = np.zeros((len(synthesis.rows), len(synthesis.mean)), np.float32)
    for head, (first, end) in enumerate(pairwise(synthesis.heads)):
        whole[first:end, head * dim : (head + 1) * dim] = synthesis.rows[first:end]
    return whole


def test_channels_that_are_nearly_always_zero_are_dropped():
    profile = calibrate([make_sample(0)], [preset(step=1e9)], [FINGERPRINT], {})
    assert (profile.presets["high"].tables == DROPPED).all()
    assert len(profile.plan("high").section(0, 0).synthesis.planes) == 0


def test_anchors_are_taken_only_where_differences_are_smaller():
    kv = make_sample(0).kv.clone()
    kv[..., 0, 0] = torch.arange(kv.shape[2]).float()  # a slope: neighbours are much alike
    sample = CalibrationSample(kv, make_sample(0).gradients)
    chosen = calibrate([sample], [preset(weighting=Weighting.DEVIATION, step=0.1, anchor_tokens=10)], [FINGERPRINT], {})
    anchored = chosen.presets["high"].anchored
    assert anchored[..., 0].all()
    assert not anchored[..., 1:].any()


def test_sensitive_tokens_are_found_from_their_keys_and_values():
    profile = make_profile()
    sample = make_sample(50)
    plan = profile.plan("default")
    keys, values = sample.kv[:, 0].flatten(2)
    levels = plan.levels(0, keys, values)[0].float()
    sensitive = sample.gradients[:, 0, 0].square().sum((-1, -2)).mean(0)
    high = sensitive > sensitive.median()
    assert levels[high].mean() > levels[~high].mean() + 0.5


def test_frequencies_sum_to_their_scale_and_always_leave_room_for_exceptions():
    for own in make_profile().presets.values():
        frequencies = own.frequencies.frequencies.astype(int)
        assert (frequencies.sum(1) == 4096).all()
        assert (frequencies[: own.frequencies.movable, 0] >= 1).all()
        assert np.array_equal(frequencies[own.frequencies.movable, 128:130], [2048, 2048])


def test_a_profile_needs_samples_and_presets():
    for samples, presets in (([], SHIPPED), ([make_sample(0)], ())):
        with pytest.raises(BadProfile, match="needs"):
            calibrate(samples, presets, [FINGERPRINT], {})


def test_a_preset_of_an_unknown_name_has_no_profile():
    with pytest.raises(Exception, match="'lossless' has a profile"):
        profile_presets(["default", "lossless"])


def test_layers_and_width_are_those_of_the_samples():
    assert make_profile().shape == (LAYERS, WIDTH)


def test_levels_exclude_anchors():
    with pytest.raises(ValueError, match="exclude"):
        preset(levels=True, anchor_tokens=10)
