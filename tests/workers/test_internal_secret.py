import pytest
from pydantic import SecretStr

from app.core.settings import Settings
from workers.internal_secret import NoInternalSecret, internal_secret


def settings(**given) -> Settings:
    return Settings(_env_file=None, **given)


@pytest.mark.parametrize("where", [{"web_url": "http://web:8100"}, {"index_url": "http://192.0.2.1:8100"}])
def test_without_a_secret_the_index_of_another_host_is_not_asked(where) -> None:
    with pytest.raises(NoInternalSecret) as refusal:
        internal_secret(settings(**where))
    assert "PREREAD_INTERNAL_SECRET" in refusal.value.hint
    assert internal_secret(settings(**where, internal_secret=SecretStr("secret"))) == "secret"


def test_on_this_machine_preread_up_gives_one_to_its_processes() -> None:
    assert internal_secret(settings()) == ""
