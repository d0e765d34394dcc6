"""What Prometheus is told: the cache report's figures, of one tenant, whatever of the service is down."""

from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy.exc import OperationalError
from web_harness import TENANT, admin_of

from app.core.catalog import Catalog, DatabaseUnavailable, DocumentState, ReadingState, Reuse, WantedReading
from app.web.metrics import exposition
from kvstore.errors import TierDown
from kvstore.reasons import MissReason

QUESTION = "What is the travel meal allowance?"
OWN = {"tenant": "default"}


def parsed(text):
    """Sample value by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def at(samples, name, **labels):
    return samples[name, frozenset(labels.items())]


def scraped(web):
    answer = web.client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return parsed(answer.text)


@pytest.fixture
def asked(web):
    """Some look-ups, a saving, and a reading at rest."""
    web.engine.tiers = [("disk", None), (None, "absent")]
    web.ask(QUESTION)
    web.settle()
    catalog, reading = web.services.catalog, WantedReading("default", "a" * 64, "b" * 64, "c" * 64, "d" * 64, "opening")
    reuse = Reuse(1000, 180, 0.25, 4000, 22_000, 200, 0.4)
    catalog.record_lookups("default", {"memory": (1, 40)}, {"too_large": (1, 30)}, {}, datetime.now(UTC), reuse)
    catalog.want_preamble(reading)
    catalog.reading_ready("default", reading.key, 10, 1000, None, 5500)
    yield web
    catalog.drop_readings("default", [reading.key])


def test_the_figures_are_those_of_the_cache_report(asked):
    report, samples = asked.client.get("/admin/cache").json(), scraped(asked)
    for outcome, rows, key in (("hit", "hits_by_tier", "tier"), ("miss", "misses_by_reason", "reason")):
        assert report[rows]
        for row in report[rows]:
            labels = {**OWN, "outcome": outcome, "detail": row[key]}
            assert at(samples, "preread_lookup_chunks_total", **labels) == row["chunks"]
            assert at(samples, "preread_lookup_tokens_total", **labels) == row["tokens"]
    counted = sum(value for (name, _), value in samples.items() if name == "preread_lookup_chunks_total")
    assert counted == report["lookups"]
    assert at(samples, "preread_saved_seconds_total", **OWN) == report["seconds_saved"] > 0
    assert at(samples, "preread_load_seconds_total", **OWN) == report["load_seconds"] > 0
    assert at(samples, "preread_kv_bytes", **OWN) == report["kv_bytes"] == 1000
    assert at(samples, "preread_kv_16bit_bytes", **OWN) == 5500
    assert at(samples, "preread_kv_compression_ratio", **OWN) == report["compression_ratio"] == 5.5
    (disk,) = report["tiers"]
    for name in ("entries", "bytes", "limit_bytes"):
        assert at(samples, f"preread_tier_{name}", tier="disk") == disk[name]
    assert at(samples, "preread_tier_up", tier="disk") == 1


def test_answers_grow_what_was_reused_and_loaded(asked):
    before = scraped(asked)
    asked.ask(QUESTION)
    asked.settle()
    after = scraped(asked)
    for name in ("reused_tokens", "fresh_tokens", "load_seconds", "saved_seconds"):
        assert at(after, f"preread_{name}_total", **OWN) > at(before, f"preread_{name}_total", **OWN)
    assert at(before, "preread_loaded_bytes_total", **OWN) >= 4000
    assert at(before, "preread_loaded_16bit_bytes_total", **OWN) >= 22_000


def test_every_reason_tier_and_state_is_there_before_it_first_counts(asked):
    samples = scraped(asked)
    for reason in MissReason:
        assert at(samples, "preread_lookup_chunks_total", **OWN, outcome="miss", detail=reason) >= 0
    for tier in ("memory", "disk"):
        assert at(samples, "preread_lookup_tokens_total", **OWN, outcome="hit", detail=tier) >= 0
    states = asked.client.get("/status").json()["documents"]
    for state in DocumentState:
        assert at(samples, "preread_documents", **OWN, state=state) == states.get(state, 0)
    for state in ReadingState:
        assert at(samples, "preread_readings", **OWN, state=state) >= (state is ReadingState.READY)


def test_nothing_of_another_tenant_shows(asked):
    before, catalog = scraped(asked), asked.services.catalog
    reuse = Reuse(7, 7, 7.0, 7, 7)
    catalog.record_lookups("other", {"disk": (7, 7)}, {"evicted": (7, 7)}, {}, datetime.now(UTC), reuse)
    catalog.want_preamble(WantedReading("other", "e" * 64, "b" * 64, "c" * 64, "d" * 64, "opening"))
    catalog.reading_ready("other", "e" * 64, 10, 7, None, 7)
    after = scraped(asked)

    def of_the_tenant(samples):
        return {key: value for key, value in samples.items() if dict(key[1]).get("tenant") == "default"}

    assert of_the_tenant(after) == of_the_tenant(before)
    assert {dict(labels)["tenant"] for _, labels in after if "tenant" in dict(labels)} == {"default"}
    others = parsed(exposition(asked.services, admin_of("other")).decode())
    assert at(others, "preread_lookup_chunks_total", tenant="other", outcome="hit", detail="disk") >= 7
    assert {dict(labels)["tenant"] for _, labels in others if "tenant" in dict(labels)} == {"other"}


def test_every_process_tells_the_same_counters(asked):
    catalog = Catalog(asked.services.settings.effective_database_url)
    elsewhere = parsed(exposition(replace(asked.services, catalog=catalog), admin_of(TENANT)).decode())
    catalog.close()

    def counters(samples):
        return {key: value for key, value in samples.items() if key[0].startswith("preread_") and "_total" in key[0]}

    assert counters(elsewhere) == counters(scraped(asked))
    assert len(counters(elsewhere)) > 20


def test_a_tier_that_is_down_is_told_and_all_else_is_there(asked, monkeypatch):
    def down():
        raise TierDown("The disk is gone.")

    before = scraped(asked)
    (tier,) = asked.services.store._tiers
    monkeypatch.setattr(tier, "stats", down)
    after = scraped(asked)
    assert at(after, "preread_tier_up", tier="disk") == 0
    missing = {name for name, _ in before.keys() - after.keys()}
    assert missing == {"preread_tier_entries", "preread_tier_bytes", "preread_tier_limit_bytes"}


@pytest.mark.parametrize("error", [DatabaseUnavailable("Gone."), OperationalError("SELECT", {}, Exception("gone"))])
def test_without_the_database_it_is_a_problem(web, monkeypatch, error):
    def down(*_args):
        raise error

    monkeypatch.setattr(web.services.catalog, "lookup_totals", down)
    answer = httpx.get(f"{web.client.base_url}/metrics", headers=web.client.headers)
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")


def test_memory_of_the_process_and_of_the_machine(web):
    samples = scraped(web)
    assert 0 < at(samples, "process_resident_memory_bytes") < at(samples, "preread_machine_memory_bytes")
    assert 0 < at(samples, "preread_machine_memory_used_bytes") < at(samples, "preread_machine_memory_bytes")


def test_without_chunk_kv_there_is_no_ratio(web):
    samples = parsed(exposition(web.services, admin_of("nobody")).decode())
    assert at(samples, "preread_kv_bytes", tenant="nobody") == 0
    assert not [name for name, _ in samples if name == "preread_kv_compression_ratio"]
