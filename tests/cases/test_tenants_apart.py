"""Case 29. Nothing of another tenant's document is to be had: not by its id on any route, by search, by name or by
citation."""

import io
import json
from hashlib import sha256

import pytest

from app.core.catalog import RunKind, RunState
from workers.ingest import ingest
from workers.preread import preread

OTHER = "other"
SECRET = "# Vault\n\nThe vault in the cellar opens with 739154, says the janitor Amundsen.\n"
QUESTION = "What does the vault in the cellar open with?"


@pytest.fixture
def theirs(empty):
    """A document of another tenant over the same stores, pre-read."""
    context, data = empty.of_tenant(OTHER), SECRET.encode()
    document, _ = context.catalog.add_document(OTHER, "vault.md", sha256(data).hexdigest(), "text/markdown", len(data))
    context.files.keep(context.files.receive(io.BytesIO(data), 10**6), OTHER, document.id)
    assert ingest(document.id, context)
    while preread(document.id, context):
        pass
    return document.id


def routes(served, parameter):
    """Every method and path of the API that takes such an id."""
    paths = served.client.get("/openapi.json").json()["paths"]
    found = [(method, path) for path, methods in paths.items() for method in methods if f"{{{parameter}}}" in path]
    assert found
    return found


def called(served, method, path, **ids):
    return served.client.request(
        method, path.format(**ids), json={"collections": [], "tags": []} if method == "put" else None
    )


def without_request(answer, document_id):
    """What is told, but for the ids of the document and of the request."""
    told = answer.json()
    told.pop("request_id", None)
    return json.dumps(told).replace(document_id, "doc_none")


def test_every_route_with_a_documents_id_tells_what_it_tells_of_none(empty, theirs):
    for method, path in routes(empty, "document_id"):
        answer = called(empty, method, path, document_id=theirs)
        nobody = called(empty, method, path, document_id="doc_none")
        assert answer.status_code == nobody.status_code, (method, path)
        assert without_request(answer, theirs) == without_request(nobody, theirs), (method, path)
        assert answer.status_code == 404 or answer.json() == {"vectors": 0}
    document = empty.services.catalog.get_document(OTHER, theirs)
    assert document.state == "preread", "and nothing was done to it"
    assert empty.services.index.count(OTHER, theirs) == 1


def test_every_route_with_the_id_of_a_job_or_a_run_too(empty, theirs):
    catalog = empty.services.catalog
    assert catalog.claim(theirs, "worker", 60)
    catalog.fail(theirs, "worker", "time_limit", "It took too long.")
    job = catalog.job_of(OTHER, theirs)
    run = catalog.start_run(OTHER, RunKind.MANUAL, [], None)
    catalog.end_run(run.id, RunState.DONE)
    for parameter, known in (("job_id", job.id), ("run_id", run.id)):
        for method, path in routes(empty, parameter):
            assert called(empty, method, path, **{parameter: known}).status_code == 404, (method, path)
    assert catalog.job_of(OTHER, theirs) == job


def test_it_is_in_no_list_no_search_and_no_answer(empty, theirs):
    assert empty.client.get("/documents").json()["total"] == 0
    assert empty.client.get("/documents", params={"q": "vault"}).json()["total"] == 0
    assert empty.client.get("/jobs").json()["total"] == 0
    assert empty.sources(QUESTION) == []
    assert empty.sources(QUESTION, scope={"document_ids": [theirs]}) == []
    answer = empty.client.post("/ask", json={"question": QUESTION}).json()
    assert (answer["status"], answer["citations"]) == ("no_answer", [])
    assert "739154" not in answer["answer"]


def test_the_same_bytes_are_a_document_of_its_own_for_each_and_stay_when_the_other_goes(empty, theirs):
    own = empty.add("vault.md", SECRET)
    assert own["id"] != theirs
    assert [source["document_id"] for source in empty.sources(QUESTION)] == [own["id"]]
    empty.client.delete(f"/documents/{own['id']}")
    assert empty.sources(QUESTION) == []
    assert empty.services.index.count(OTHER, theirs) == 1
    assert empty.services.catalog.get_document(OTHER, theirs).state == "preread"
