"""Known look-ups, and what is told of them: by the API and `/metrics`, after a restart, by two webs of one database."""

from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import cycle

import pytest
from prometheus_client.parser import text_string_to_metric_families
from served_web import web_served
from web_harness import DEADLINE_SECONDS, PAGES, SECRET, Web

from app.core.settings import Settings
from app.web.main import create_app

QUESTION = "What is the travel meal allowance?"


@contextmanager
def opened(engine, settings):
    app = create_app(settings)
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        yield Web(client, app.state.services, server, engine)


@pytest.fixture
def settings(engine, tmp_path):
    """Of an installation that nobody has asked anything."""
    engine.behave()
    return Settings(
        _env_file=None, state_dir=tmp_path / "state", engine_url=engine.url, internal_secret=SECRET, top_k=2
    )


@pytest.fixture
def counting(engine, settings):
    """A web with documents, of which each question puts two chunks before the model, one of them pre-read."""
    with opened(engine, settings) as web:
        for name, text in PAGES.items():
            web.add(name, text)
        yield web


def half_hit(web, questions):
    web.engine.tiers = [("disk", None), (None, "absent")]
    for _ in range(questions):
        cache = web.ask(QUESTION).json()["cache"]
        assert (cache["chunks"], cache["hits"], len(cache["misses"])) == (2, 1, 1)
    web.settle()


def reported(web):
    """Look-ups, hits and the rate that the API tells."""
    report = web.client.get("/admin/cache").json()
    return report["lookups"], report["hits"], report["hit_rate"]


def scraped(web):
    """Look-ups, hits and the rate that a Prometheus would make of `/metrics`; None: no data."""
    counts = {"hit": 0.0, "miss": 0.0}
    for family in text_string_to_metric_families(web.client.get("/metrics").text):
        for sample in family.samples:
            if sample.name == "preread_lookup_chunks_total":
                counts[sample.labels["outcome"]] += sample.value
    lookups = counts["hit"] + counts["miss"]
    return lookups, counts["hit"], counts["hit"] / lookups if lookups else None


def test_twenty_look_ups_of_which_ten_hit_are_50_percent_and_still_are_after_a_restart(engine, settings):
    with opened(engine, settings) as web:
        for name, text in PAGES.items():
            web.add(name, text)
        half_hit(web, 10)
        assert reported(web) == (20, 10, 0.5)
        assert scraped(web) == (20, 10, 0.5)
    with opened(engine, settings) as web:
        assert reported(web) == (20, 10, 0.5)
        assert scraped(web) == (20, 10, 0.5)
        half_hit(web, 10)
        assert reported(web) == (40, 20, 0.5)
        assert scraped(web) == (40, 20, 0.5)


def test_two_webs_count_together_and_tell_the_same(engine, settings, counting):
    beside = settings.model_copy(update={"index_url": str(counting.client.base_url).rstrip("/")})
    with opened(engine, beside) as second:
        for web, _ in zip(cycle((counting, second)), range(10), strict=False):
            half_hit(web, 1)
        for web in (counting, second):
            assert reported(web) == (20, 10, 0.5)
            assert scraped(web) == (20, 10, 0.5)
            (row,) = [row for row in web.client.get("/admin/cache").json()["documents"] if row["hits"]]
            assert (row["name"], row["hits"], row["misses"]) == ("travel.md", 10, 0)


def test_without_a_look_up_there_is_no_data_and_none_of_a_thousand_is_zero(counting):
    assert reported(counting) == (0, 0, None)
    assert scraped(counting) == (0, 0, None)
    assert counting.client.get("/admin/cache").json()["token_hit_rate"] is None
    catalog = counting.services.catalog
    catalog.record_lookups("default", {}, {"not_precomputed": (1000, 300_000)}, {}, datetime.now(UTC))
    assert reported(counting) == (1000, 0, 0.0)
    assert scraped(counting) == (1000, 0, 0.0)
    assert counting.client.get("/admin/cache").json()["token_hit_rate"] == 0.0


def test_answers_that_are_to_be_exact_are_no_look_ups(counting):
    half_hit(counting, 1)
    assert counting.ask(QUESTION, cache="off").status_code == 200
    counting.settle()
    assert reported(counting) == (2, 1, 0.5)
    assert scraped(counting) == (2, 1, 0.5)
