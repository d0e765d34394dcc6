"""Variants and readings as written."""

import pytest

from app.core.errors import BadInput
from benchmarks.lab.passage import parse_passage
from benchmarks.lab.variant import Options, layer_numbers, parse_variant


def test_a_variant_names_reading_selection_amount_and_options() -> None:
    variant = parse_variant("town64/blank:impact*true@.08+layers=8-12+join=2+shift")
    assert (variant.reading, variant.selector, variant.amount) == ("town64/blank", "impact*true", 0.08)
    assert variant.options == Options(layers="8-12", join=2, shift=1)


@pytest.mark.parametrize(
    ("text", "amount"), [("alone:head", 16), ("alone:hkvd", 0.15), ("alone:cacheblend-released", 0.16)]
)
def test_amounts_have_defaults(text: str, amount: float) -> None:
    assert parse_variant(text).amount == amount


@pytest.mark.parametrize("text", ["impact", "alone:best", "alone:impact@.08+colour=red", "alone:impact@x"])
def test_an_unknown_variant_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_variant(text)


def test_layers_are_numbers_ranges_all_or_the_middle_fifth() -> None:
    assert layer_numbers("10.15-17", 30) == [10, 15, 16, 17]
    assert layer_numbers("all", 4) == [0, 1, 2, 3]
    assert layer_numbers("", 30) == [12, 13, 14, 15, 16, 17]


def test_a_reading_has_a_kind_a_length_and_a_separator() -> None:
    assert vars_of("alone") == ("alone", 170, "number")
    assert vars_of("town64/none") == ("town", 64, "none")


@pytest.mark.parametrize("text", ["", "village", "town/comma"])
def test_an_unknown_reading_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_passage(text)


def vars_of(text: str) -> tuple[str, int, str]:
    name = parse_passage(text)
    return name.kind, name.tokens, name.separator
