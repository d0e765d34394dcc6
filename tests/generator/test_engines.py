"""Several engines: every one must forget what is deleted, and all must run the same model."""

from dataclasses import replace

import pytest
from pydantic import ValidationError

from app.core.settings import Settings
from generator.engine import EngineStatus
from generator.engines import Engines, require_same_model
from generator.errors import EngineFailed, EnginesDiffer, EngineUnavailable

STATUS = EngineStatus("tiny", "ab" * 32, "float32", 2048, True, None)


class Noting:
    """An engine that notes what it is to forget, and then may fail."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.purged: list[str] = []

    def purge(self, tenant: str, keys: list[str]) -> None:
        self.purged += keys
        if self.error:
            raise self.error


def engines(*clients: Noting) -> Engines:
    return Engines(clients)  # type: ignore[arg-type]


def test_all_are_asked_to_forget() -> None:
    clients = [Noting(), Noting()]
    engines(*clients).purge("default", ["aa", "bb"])
    assert [client.purged for client in clients] == [["aa", "bb"], ["aa", "bb"]]


@pytest.mark.parametrize("error", [EngineUnavailable("The second is away."), EngineFailed("The second is broken.")])
def test_one_that_has_not_forgotten_is_told_after_the_others_were_asked(error: Exception) -> None:
    last = Noting()
    with pytest.raises(EngineUnavailable, match=r"The second is"):
        engines(Noting(), Noting(error), last).purge("default", ["aa"])
    assert last.purged == ["aa"]


def test_a_worker_on_an_engine_with_another_model_or_precision_is_refused() -> None:
    require_same_model(STATUS, STATUS)
    with pytest.raises(EnginesDiffer, match="bfloat16"):
        require_same_model(replace(STATUS, fingerprint="cd" * 32, dtype="bfloat16"), STATUS)


def test_every_engine_is_known_once() -> None:
    settings = Settings(
        _env_file=None,
        engine_url="http://a:1/",
        worker_engine="own",
        worker_engine_url="http://b:1",
        engine_urls="http://b:1/, http://c:1,,http://a:1",
    )
    assert settings.every_engine_url == ("http://a:1", "http://b:1", "http://c:1")
    assert settings.effective_worker_engine_url == "http://b:1"


def test_a_shared_engine_is_the_one_that_answers() -> None:
    settings = Settings(_env_file=None, engine_url="http://a:1", worker_engine_url="http://b:1")
    assert settings.effective_worker_engine_url == "http://a:1"
    assert settings.every_engine_url == ("http://a:1",)


def test_an_engine_of_its_own_has_an_address() -> None:
    with pytest.raises(ValidationError, match="worker_engine_url"):
        Settings(_env_file=None, worker_engine="own")
