"""Asking tells nothing about whether another tenant has the same chunks."""

import pytest
import torch
from scripted_engine import FINGERPRINT
from web_harness import PAGES

from generator.identity import chunk_identity
from kvstore.blob import encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS
from kvstore.key import Reading
from workers.pieces import wanted_reading

QUESTION = "How many days of annual leave does everybody have, and what is the travel meal allowance?"
OTHER = "other"


@pytest.fixture
def kept(web):
    """Has a tenant keep the KV of every chunk that there is, until the test ends."""
    services, kept = web.services, []

    def put(tenant, ids, reading):
        passage = (7, 8) if reading is Reading.CONDITIONED else ()
        identity = chunk_identity(FINGERPRINT, services.preamble.ids, ids, reading, passage)
        layers = (torch.zeros(len(ids), 1, 4, dtype=torch.bfloat16),)
        services.store.put(tenant, encode_blob(ChunkKV(layers, layers), identity, LOSSLESS))
        services.catalog.want_preamble(wanted_reading(tenant, identity))
        assert services.catalog.reading_ready(tenant, identity.key, len(ids), 1)
        kept.append((tenant, identity.key))

    def keep(tenant):
        for document in services.catalog.published_documents(services.settings.tenant):
            for chunk in services.catalog.chunks_of(document.current_version_id):
                for reading in Reading:
                    put(tenant, chunk.token_ids, reading)

    yield keep
    for tenant, key in kept:
        services.store.delete(tenant, [key])
        services.catalog.drop_readings(tenant, [key])


def refused(web):
    """What is told of a question that may only be answered from chunk KV."""
    answer = web.ask(QUESTION, cache="only", policy="none")
    own = ("instance", "request_id")
    return answer.status_code, {key: value for key, value in answer.json().items() if key not in own}


def cache(web):
    answer = web.ask(QUESTION, policy="none")
    assert answer.status_code == 200
    web.settle()
    return answer.json()["cache"], answer.json()["usage"]


def test_what_another_tenant_has_is_missing_as_if_nobody_had_it(web, kept):
    nobody = refused(web), cache(web)
    assert nobody[0][0] == 409
    kept(OTHER)
    assert (refused(web), cache(web)) == nobody
    kept(web.services.settings.tenant)
    assert refused(web)[0] == 200, "one's own does count"


def test_questions_count_for_the_tenant_that_asked_alone(web, kept):
    kept(OTHER)
    before = web.services.catalog.lookup_totals(OTHER)
    cache(web)
    assert web.services.catalog.lookup_totals(OTHER) == before
    assert web.client.get("/admin/cache").json()["misses"]


def test_another_tenants_documents_and_bytes_are_in_no_list_and_no_report(web, kept):
    def told():
        report = web.client.get("/admin/cache").json()
        del report["tiers"]  # how full the machine's tiers are, whoever's blobs are in them
        return web.client.get("/documents").json(), report

    before = told()
    catalog = web.services.catalog
    document, _ = catalog.add_document(OTHER, "theirs.md", "9" * 64, "text/plain", 1)
    kept(OTHER)
    assert told() == before
    assert catalog.kv_at_rest(OTHER).bytes > 0
    for path in (f"/documents/{document.id}", f"/documents/{document.id}/text"):
        assert web.client.get(path).status_code == 404
    assert web.client.delete(f"/documents/{document.id}").status_code == 404
    catalog.begin_delete(OTHER, document.id)
    catalog.finish_delete(document.id)


def test_a_name_that_another_tenant_uses_is_free(web):
    document, _ = web.services.catalog.add_document(OTHER, "leave.md", "8" * 64, "text/plain", 1)
    assert web.add("leave.md", PAGES["leave.md"]) != document.id
    web.services.catalog.begin_delete(OTHER, document.id)
    web.services.catalog.finish_delete(document.id)
