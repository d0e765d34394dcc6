from app.cli.stack import embedded_stages
from app.core.catalog import Catalog


def names(stages) -> list[list[str]]:
    return [[spec.name for spec in stage.processes] for stage in stages]


def test_embedded_mode_starts_its_parts_in_order(settings) -> None:
    assert names(embedded_stages(settings)) == [["redis"], ["engine", "web"], ["worker"], ["beat"]]


def test_parts_that_live_elsewhere_are_not_started(settings) -> None:
    elsewhere = settings.model_copy(update={"engine_url": "http://engine:8000", "redis_url": "redis://queue:6379/0"})
    assert names(embedded_stages(elsewhere)) == [[], ["web"], ["worker"], ["beat"]]


def test_web_and_worker_share_a_secret_made_for_this_run(settings) -> None:
    def secrets_of(stages) -> set[str]:
        specs = {spec.name: spec for stage in stages for spec in stage.processes}
        return {specs[name].environment["PREREAD_INTERNAL_SECRET"] for name in ("web", "worker")}

    first, second = secrets_of(embedded_stages(settings)), secrets_of(embedded_stages(settings))
    assert len(first) == len(second) == 1
    assert first != second
    assert all(len(secret) >= 32 for secret in first)


def test_the_database_is_brought_up_to_date_before_engine_and_web(settings) -> None:
    embedded_stages(settings)[1].prepare()
    assert Catalog(settings.effective_database_url).is_current()
