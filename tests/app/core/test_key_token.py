import re

import pytest

from app.core.key_token import digest_of, new_secret, parts_of, token_of


def test_a_token_comes_apart_into_what_it_was_made_of() -> None:
    for _ in range(200):  # secrets hold underscores and hyphens too
        secret = new_secret()
        assert parts_of(token_of("key_4x0kq3m8w2v9c7n5b1hz", secret)) == ("key_4x0kq3m8w2v9c7n5b1hz", secret)


def test_a_secret_has_32_random_bytes_in_characters_that_a_url_may_hold() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", secret) for secret in secrets)


@pytest.mark.parametrize("token", ["", "prk_", "prk__", "prk_4x0k", "prk_4x0k_", "prk__secret", "sk-4x0k_secret", "_"])
def test_what_is_no_key_of_ours_has_no_parts(token) -> None:
    assert parts_of(token) is None


def test_a_digest_tells_nothing_of_the_secret() -> None:
    secret = new_secret()
    assert secret not in digest_of(secret)
    assert re.fullmatch(r"[0-9a-f]{64}", digest_of(secret))
