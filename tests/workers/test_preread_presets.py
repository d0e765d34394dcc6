"""Which preset pre-reading stores chunk KV with."""

from dataclasses import replace

import pytest
from staging_engine import FINGERPRINT

from app.core.catalog import DocumentState
from generator.identity import chunk_identity
from kvstore.key import Reading
from kvstore.store import Hit
from workers.ingest import ingest
from workers.preread import preread

TENANT = "default"
TEXT = "# Travel\n\n" + "\n\n".join(f"Rule {n}: whoever travels to town {n} is paid {40 + n} euros." for n in range(8))


@pytest.fixture
def indexed(context, add):
    document = add("travel.md", TEXT)
    assert ingest(document.id, context)
    return document


def with_preset(context, name):
    return replace(context, settings=context.settings.model_copy(update={"kv_preset": name}))


def codecs_of_chunks(context, document):
    version = context.catalog.get_document(TENANT, document.id).current_version_id
    found = set()
    for chunk in context.catalog.chunks_of(version):
        identity = chunk_identity(FINGERPRINT, context.preamble.ids, chunk.token_ids, Reading.OPENING)
        hit = context.store.get(TENANT, identity)
        assert isinstance(hit, Hit)
        found.add(hit.blob.codec_id)
    return found


def codec_of_preamble(context):
    hit = context.store.get(TENANT, chunk_identity(FINGERPRINT, (), context.preamble.ids, Reading.OPENING))
    assert isinstance(hit, Hit)
    return hit.blob.codec_id


def test_chunks_are_stored_with_the_preset_and_what_they_are_read_behind_losslessly(context, indexed):
    chosen = with_preset(context, "kivi4")
    assert not preread(indexed.id, chosen)
    assert codecs_of_chunks(chosen, indexed) == {33}
    assert codec_of_preamble(chosen) == 1


def test_a_model_without_a_profile_is_stored_losslessly(context, indexed):
    assert not preread(indexed.id, context)
    assert codecs_of_chunks(context, indexed) == {1}


@pytest.mark.parametrize(("preset", "word"), [("default", "calibrate"), ("zip", "Use one of")])
def test_a_preset_that_cannot_be_had_fails_the_document_and_says_what_to_do(context, indexed, preset, word):
    assert not preread(indexed.id, with_preset(context, preset))
    document = context.catalog.get_document(TENANT, indexed.id)
    assert document.state is DocumentState.FAILED
    assert word in document.failure_message
    assert not preread(indexed.id, with_preset(context, preset))
