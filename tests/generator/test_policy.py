import pytest

from generator.errors import BadPolicy
from generator.policy import DEFAULT_HEAD_TOKENS, Policy, PolicyName, parse_policy


@pytest.mark.parametrize("text", ["exact", "none", "alone:none", "head@16", "head@0", "alone:head@512"])
def test_a_policy_reads_back_as_it_was_written(text: str) -> None:
    assert str(parse_policy(text)) == text


def test_head_without_an_amount_takes_its_default() -> None:
    assert parse_policy("head") == Policy(PolicyName.HEAD, DEFAULT_HEAD_TOKENS)


@pytest.mark.parametrize(
    "text",
    [
        *("", "fast", "head@", "head@-1", "head@.5", "head@1e3", "head@²", "head@9999999999", "head@" + 5000 * "9"),
        *("none@3", "exact@1", "a:head", "alone:", ":head"),
    ],
)
def test_anything_else_is_refused_with_the_names_that_exist(text: str) -> None:
    with pytest.raises(BadPolicy) as caught:
        parse_policy(text)
    assert "head@TOKENS" in caught.value.hint
