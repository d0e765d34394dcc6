"""Which layers calibration tries, and when it prefers any to the engine's own."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from test_verdicts import VERDICT

from benchmarks.calibration import calibrated, candidate_layers
from benchmarks.context import Asked, Piece
from benchmarks.datasets import Question
from benchmarks.examiner import Examined
from benchmarks.variant import Variant
from generator.conditioning import Conditioning

ASKED = Asked(Question("q/1", "?", (), ("red",)), (Piece((1, 2, 3), ()),))
LAYERS = candidate_layers(30, Conditioning.NEUTRAL)[:3]


def found(*divergences: tuple[float, ...]) -> list[Examined]:
    """Questions with one divergence for each candidate."""
    return [
        Examined(ASKED, VERDICT, dict(zip(LAYERS, (replace(VERDICT, kl_mean=each) for each in row), strict=True)))
        for row in divergences
    ]


@given(st.integers(1, 100))
def test_candidates_are_the_engines_own_windows_across_the_depth_and_the_last_layer(n_layers: int) -> None:
    layers = [each.layers for each in candidate_layers(n_layers, Conditioning.OFF)]
    assert layers[0] == ()
    assert (n_layers - 1,) in layers
    assert len(set(layers)) == len(layers)
    assert all(0 <= layer < n_layers for each in layers for layer in each)


def test_layers_that_are_better_on_every_question_are_chosen_whatever_the_sets_scale() -> None:
    sets = [found((0.4, 0.2, 0.5), (0.6, 0.3, 0.5)), found((0.004, 0.002, 0.004), (0.006, 0.002, 0.008))]
    chosen = calibrated(sets, LAYERS)
    assert chosen.layers == LAYERS[1].layers
    assert [row["layers"] for row in chosen.table] == [list(each.layers) for each in LAYERS]
    assert chosen.table[0]["kl_mean_to_own"]["value"] == 1


def test_what_may_be_better_by_chance_is_not_chosen() -> None:
    assert calibrated([found((0.4, 0.1, 0.5), (0.4, 0.6, 0.5), (0.4, 0.1, 0.5))], LAYERS).layers == ()


def test_without_questions_the_engines_own_layers_stay() -> None:
    assert calibrated([], LAYERS).layers == ()


def test_only_impact_has_layers_so_that_no_other_policy_is_measured_twice() -> None:
    impact, hkvd = Variant("impact@.08", Conditioning.OFF), Variant("alone:hkvd@.15", Conditioning.OFF)
    assert impact.looking_at((3, 4)).layers == (3, 4)
    assert hkvd.looking_at((3, 4)) == hkvd
