"""What pre-reading took tells what its tokens save when an answer reuses them."""

from datetime import UTC, datetime

import pytest

from app.core.catalog import Reuse
from workers.ingest import ingest
from workers.preread import preread

TENANT = "default"
FEWEST = 20  # the chunks of these tests are short


def saved_by_a_thousand_tokens(context):
    before = context.catalog.saving_totals(TENANT).saved_seconds
    context.catalog.record_lookups(TENANT, {"disk": (1, 1000)}, {}, {}, datetime.now(UTC), Reuse(reused_tokens=1000))
    return context.catalog.saving_totals(TENANT).saved_seconds - before


@pytest.fixture
def slow_engine(context, monkeypatch):
    """An engine for which every prefill takes two seconds."""
    monkeypatch.setattr("workers.preread._FEWEST_TIMED", FEWEST)
    context.engine.seconds = 2.0


def test_a_reused_token_saves_what_it_took_to_pre_read_it(context, add, slow_engine):
    assert saved_by_a_thousand_tokens(context) == 0, "nothing has been timed"
    document = add("rules.md", "\n\n".join(f"Whoever travels to town {n} is paid {n} euros." for n in range(30)))
    assert ingest(document.id, context)
    assert not preread(document.id, context)
    chunks = [len(ids) for ids in context.engine.captured if len(ids) >= FEWEST]
    assert len(chunks) < len(context.engine.captured), "a few tokens would tell the fixed cost of a forward"
    assert saved_by_a_thousand_tokens(context) == pytest.approx(1000 * 2 * len(chunks) / sum(chunks), rel=1e-3)
