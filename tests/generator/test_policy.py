import pytest

from generator.errors import BadPolicy
from generator.policy import DEFAULT_HEAD_TOKENS, Policy, PolicyName, parse_policy


@pytest.mark.parametrize(
    "text",
    [
        *("exact", "none", "alone:none", "head@16", "head@0", "alone:head@512"),
        *("impact", "impact@.08", "alone:hkvd@.15", "hkvd@1"),
    ],
)
def test_a_policy_reads_back_as_it_was_written(text: str) -> None:
    assert str(parse_policy(text)) == text


def test_head_without_an_amount_takes_its_default() -> None:
    assert parse_policy("head") == Policy(PolicyName.HEAD, DEFAULT_HEAD_TOKENS)


@pytest.mark.parametrize(
    "text",
    [
        *("", "fast", "head@", "head@-1", "head@.5", "head@1e3", "head@²", "head@9999999999", "head@" + 5000 * "9"),
        *("impact@0", "impact@1.5", "hkvd@16", "impact@.", "impact@.0", "impact@nan", "hkvd@.0000001"),
        *("none@3", "exact@1", "a:head", "alone:", ":head"),
    ],
)
def test_anything_else_is_refused_with_the_names_that_exist(text: str) -> None:
    with pytest.raises(BadPolicy) as caught:
        parse_policy(text)
    assert "head@TOKENS" in caught.value.hint


def test_a_share_reads_the_same_however_it_is_written() -> None:
    assert parse_policy("impact@0.080") == parse_policy("impact@.08")
    assert str(parse_policy("impact@1.0")) == "impact@1"


def test_a_share_is_given_only_to_a_scored_policy_that_names_none() -> None:
    assert parse_policy("impact").with_share(0.1) == parse_policy("impact@.1")
    assert parse_policy("impact@.05").with_share(0.1) == parse_policy("impact@.05")
    assert parse_policy("head").with_share(0.1) == parse_policy("head")
