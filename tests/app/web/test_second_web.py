"""Two webs on one database: the first owns the Qdrant folder, the second reaches it through the first."""

import pytest
from served_web import web_served
from web_harness import DEADLINE_SECONDS, SECRET, Web

from app.web.main import create_app
from retrieval.errors import IndexUnavailable
from retrieval.remote_index import RemoteIndex


@pytest.fixture(scope="module")
def second(shared_web):
    address = str(shared_web.client.base_url).rstrip("/")
    settings = shared_web.services.settings.model_copy(update={"index_url": address})
    app = create_app(settings)
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        yield Web(client, app.state.services, server, shared_web.engine)


def passages(web, question):
    (sources,) = [event for event in web.stream(question) if event.name == "sources"]
    return [passage["document_id"] for passage in sources.data["passages"]]


def test_what_one_web_took_in_both_find_and_delete(web, second):
    first_document = web.add("quay.md", "The quay master of Marrow Point wears a green hat on Sundays.")
    second_document = second.add("crane.md", "The crane of Marrow Point is painted by Olga every spring.")
    for each in (web, second):
        assert first_document in passages(each, "Who wears a green hat on Sundays?")
        assert second_document in passages(each, "Who paints the crane every spring?")
    assert second.client.delete(f"/documents/{first_document}").status_code == 204
    assert web.client.delete(f"/documents/{second_document}").status_code == 204
    for each in (web, second):
        assert first_document not in passages(each, "Who wears a green hat on Sundays?")
    for document in (first_document, second_document):
        assert web.services.index.count("default", document) == 0


def test_the_second_web_moves_nothing_in_an_index_that_is_not_its_own(web, second):
    assert web.services.reindexing is not None
    assert second.services.reindexing is None


def test_the_second_web_passes_no_index_calls_on(web, second):
    """Or two webs that name each other would go on for ever."""
    remote = RemoteIndex(str(second.client.base_url), SECRET)
    with pytest.raises(IndexUnavailable, match="does not own the index"):
        remote.count("default")
    remote.close()
