"""A worker beside an engine of its own reads with that one, if it is of use to the one that answers."""

from dataclasses import replace

import pytest
from staging_engine import FINGERPRINT, StagingEngine

from app.core.catalog import DocumentState
from generator.engine import EngineStatus
from generator.errors import EnginesDiffer
from workers.attempts import Outcome, attempt
from workers.ingest import ingest
from workers.preread import preread

TENANT = "default"


class Answering(StagingEngine):
    """The engine that answers questions; it runs `fingerprint`."""

    fingerprint = FINGERPRINT

    def status(self) -> EngineStatus:
        return replace(super().status(), fingerprint=self.fingerprint)


@pytest.fixture
def answering(context):
    return Answering(context.settings.effective_staging_dir)


@pytest.fixture
def beside(context, answering):
    return replace(context, answering=answering)


@pytest.fixture
def indexed(context, add):
    document = add("travel.md", "Whoever travels to town is paid 40 euros a day for meals.")
    assert ingest(document.id, context)
    return document


def state(context, document):
    return context.catalog.get_document(TENANT, document.id).state


def test_the_engine_that_answers_computes_nothing(beside, answering, indexed):
    assert not preread(indexed.id, beside)
    assert state(beside, indexed) is DocumentState.PREREAD
    assert beside.engine.captured
    assert not answering.captured


def test_an_engine_that_answers_may_be_away(beside, answering, indexed):
    answering.up = False
    assert not preread(indexed.id, beside)
    assert state(beside, indexed) is DocumentState.PREREAD


def test_nothing_is_read_for_an_engine_with_another_model_and_that_costs_no_try(beside, answering, indexed):
    answering.fingerprint = "cd" * 32
    with pytest.raises(EnginesDiffer):
        preread(indexed.id, beside)
    assert attempt("preread", indexed.id, beside, lambda: preread(indexed.id, beside)) is Outcome.WAITS
    assert not beside.engine.captured
    assert state(beside, indexed) is DocumentState.INDEXED
    answering.fingerprint = FINGERPRINT
    assert not preread(indexed.id, beside)
    assert state(beside, indexed) is DocumentState.PREREAD
