"""Labels, filtered lists, URLs, scopes and syncs over HTTP."""

from dataclasses import replace

import pytest
from file_server import respond, serving
from web_harness import TENANT, audit_of

from app.web.deps import get_syncs, get_url_list
from app.web.fetching.allowed import AllowedHosts
from app.web.fetching.fetch import Fetcher
from app.web.schemas.problem import Problem
from app.web.schemas.syncs import SyncIn
from app.web.syncs import SyncFolderNotFound, Syncs
from app.web.url_list import UrlList
from retrieval.errors import IndexUnavailable


def upload(web, name, text, **labels):
    answer = web.client.post("/documents", files={"file": (name, text.encode())}, data=labels)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()["document"]


def listed(web, **chosen):
    answer = web.client.get("/documents", params=chosen)
    assert answer.status_code == 200, answer.text
    return [item["name"] for item in answer.json()["items"]]


def sources(web, question, **scope):
    events = web.stream(question, scope=scope)
    return {passage["document_id"] for event in events if event.name == "sources" for passage in event.data["passages"]}


def test_labels_given_at_upload_are_shown_listed_and_counted(web):
    document = upload(web, "ferry.md", "# Ferry\n\nThe ferry is blue.\n", collections=["sea", "ships"], tags=["blue"])
    assert (document["collections"], document["tags"]) == (["sea", "ships"], ["blue"])
    again = upload(web, "other.md", "# Ferry\n\nThe ferry is blue.\n", collections=["port"], tags=["2026"])
    assert again["id"] == document["id"]
    assert (again["collections"], again["tags"]) == (["port", "sea", "ships"], ["2026", "blue"])
    assert listed(web, collection="sea") == listed(web, tag="2026", collection="port") == ["ferry.md"]
    assert listed(web, collection="sea", q="no such name") == listed(web, collection="blue") == []
    assert {"label": "ships", "documents": 1} in web.client.get("/collections").json()["items"]
    assert {"label": "blue", "documents": 1} in web.client.get("/tags").json()["items"]
    web.client.delete(f"/documents/{document['id']}")
    assert "ships" not in {item["label"] for item in web.client.get("/collections").json()["items"]}


def test_labels_are_put_in_place_of_those_before(web):
    document = upload(web, "barge.md", "# Barge\n\nThe barge is slow.\n", collections=["river"], tags=["slow"])
    path = f"/documents/{document['id']}/labels"
    shown = web.client.put(path, json={"collections": ["canal"]}).json()
    assert (shown["collections"], shown["tags"]) == (["canal"], ["slow"])
    assert web.client.put(path, json={"tags": []}).json()["tags"] == []
    assert web.client.put("/documents/doc_none/labels", json={}).status_code == 404


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({"collections": ["x" * 65]}, "bad_label"),
        ({"tags": ["a\tb"]}, "bad_label"),
        ({"tags": ["  "]}, "bad_label"),
        ({"tags": [str(n) for n in range(51)]}, "bad_input"),
        ({"colections": []}, "bad_input"),
    ],
)
def test_labels_that_cannot_be_are_refused_everywhere(web, sent, code):
    document = upload(web, "tug.md", "# Tug\n\nThe tug is strong.\n")
    answers = [web.client.put(f"/documents/{document['id']}/labels", json=sent)]
    if "colections" not in sent:
        files = {"file": ("tug2.md", b"Another tug.")}
        answers.append(web.client.post("/documents", files=files, data=sent))
        answers.append(web.ask("Is the tug strong?", scope=sent))
        answers.append(web.client.post("/documents/urls", json={"urls": ["http://a.example/"], **sent}))
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert listed(web, q="tug2") == []


def test_a_question_is_answered_from_its_scope_alone_and_from_labels_as_they_are_now(web):
    red = web.add("red.md", "# Crane\n\nThe crane of the red harbour lifts 40 tons.\n")
    blue = web.add("blue.md", "# Crane\n\nThe crane of the blue harbour lifts 60 tons.\n")
    question = "How many tons does the crane of the harbour lift?"
    assert {red, blue} <= sources(web, question)
    for document, labels in ((red, {"collections": ["red"], "tags": ["crane"]}), (blue, {"tags": ["crane", "x"]})):
        assert web.client.put(f"/documents/{document}/labels", json=labels).status_code == 200
    assert sources(web, question, collections=["red"]) == {red}
    assert sources(web, question, tags=["crane"]) == {red, blue}
    assert sources(web, question, tags=["crane"], document_ids=[blue]) == {blue}
    assert sources(web, question, collections=["red"], tags=["x"]) == set()
    assert sources(web, question, collections=[]) == sources(web, question, document_ids=[]) == set()
    web.client.put(f"/documents/{red}/labels", json={"collections": ["green"]})
    assert sources(web, question, collections=["red"]) == set()
    assert sources(web, question, collections=["green"]) == {red}


def test_labels_changed_while_the_index_is_away_hold_at_once_and_are_told_later(web, monkeypatch):
    document = web.add("buoy.md", "# Buoy\n\nThe buoy rings at night.\n")
    with monkeypatch.context() as patch:

        def away(*_):
            raise IndexUnavailable("The index does not answer.")

        patch.setattr(web.services.index, "label", away)
        shown = web.client.put(f"/documents/{document}/labels", json={"collections": ["night"]})
    assert (shown.status_code, shown.json()["collections"]) == (200, ["night"])
    (pending,) = web.services.catalog.pending_labels(document_id=document)
    assert pending.collections == ("night",)


def test_pages_follow_one_another_by_cursor(web):
    total = web.client.get("/documents").json()["total"]
    seen, params = [], {"limit": 2}
    while True:
        page = web.client.get("/documents", params=params).json()
        seen += [item["id"] for item in page["items"]]
        if page["following"] is None:
            break
        params["after"] = page["following"]
    assert len(set(seen)) == len(seen) == total
    bad = web.client.get("/documents", params={"after": "nonsense"})
    assert (bad.status_code, bad.json()["code"]) == (422, "bad_cursor")


def test_documents_are_listed_by_state(web):
    failing = upload(web, "blank.txt", "   \n   ")
    web.ingest(failing["id"])
    assert "blank.txt" in listed(web, state="failed")
    assert "blank.txt" not in listed(web, state="indexed")
    assert web.client.get("/documents", params={"state": "odd"}).status_code == 422


@pytest.fixture
def elsewhere(web):
    """A server that the service may fetch from, as docs.example.org."""
    app = web.server.config.app
    with serving() as server:
        hosts = AllowedHosts(f"docs.example.org:{server.port}")
        fetcher = Fetcher(hosts, 20, web.services.settings.max_upload_bytes, lambda host, port: ["127.0.0.1"])
        app.dependency_overrides[get_url_list] = lambda: UrlList(web.services, TENANT, audit_of(web), fetcher)
        server.url = lambda path: f"http://docs.example.org:{server.port}{path}"
        yield server
        app.dependency_overrides.clear()


def add_urls(web, *urls, **labels):
    answer = web.client.post("/documents/urls", json={"urls": urls, **labels})
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def test_each_url_has_its_own_result_and_one_bad_one_spoils_nothing(web, elsewhere):
    elsewhere.answers["/quay.html?v=1"] = lambda handler: respond(
        handler, 200, b"<h1>Quay</h1><p>The quay is 300 metres long.", content_type="text/html"
    )
    elsewhere.answers["/large.txt"] = b"x" * 100_001
    elsewhere.answers["/empty.txt"] = b""
    wanted = {
        elsewhere.url("/quay.html?v=1#top"): None,
        elsewhere.url("/none.html"): "url_refused",
        elsewhere.url("/large.txt"): "file_too_large",
        elsewhere.url("/empty.txt"): "empty_file",
        "http://evil.example/": "url_not_allowed",
        "file:///etc/passwd": "bad_url",
    }
    items = add_urls(web, *wanted, collections=["fetched"], tags=["quay"])
    assert {item["url"]: item["error"] and item["error"]["code"] for item in items} == wanted
    assert [item["url"] for item in items] == list(wanted)
    document = items[0]["document"]
    assert (document["name"], document["media_type"]) == (elsewhere.url("/quay.html?v=1"), "text/html")
    assert (document["collections"], document["tags"]) == (["fetched"], ["quay"])
    assert not list((web.services.settings.files_dir / ".incoming").iterdir())
    web.ingest(document["id"])
    assert web.client.get(f"/documents/{document['id']}").json()["title"] == "Quay"


def test_a_url_added_again_is_the_same_document_and_a_new_version_when_it_has_changed(web, elsewhere):
    elsewhere.answers["/tide.md"] = b"# Tide\n\nThe tide turns at six.\n"
    first = add_urls(web, elsewhere.url("/tide.md"))[0]
    again = add_urls(web, elsewhere.url("/tide.md"))[0]
    elsewhere.answers["/tide.md"] = b"# Tide\n\nThe tide turns at seven.\n"
    changed = add_urls(web, elsewhere.url("/tide.md#evening"))[0]
    assert [item["created"] for item in (first, again, changed)] == [True, False, True]
    assert len({item["document"]["id"] for item in (first, again, changed)}) == 1
    web.ingest(changed["document"]["id"])
    assert "seven" in web.client.get(f"/documents/{changed['document']['id']}/text").text


def test_without_the_setting_no_url_is_fetched(web):
    (item,) = add_urls(web, "http://127.0.0.1:9/secret")
    assert item["document"] is None
    assert (item["error"]["code"], "PREREAD_URL_HOSTS" in item["error"]["hint"]) == ("url_not_allowed", True)
    assert item["error"].keys() == Problem.model_fields.keys()


@pytest.mark.parametrize("urls", [[], ["http://a.example/"] * 51, [""], "http://a.example/", ["x" * 2001]])
def test_a_list_of_urls_has_one_to_fifty(web, urls):
    answer = web.client.post("/documents/urls", json={"urls": urls})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_input")


@pytest.fixture
def folders(web, tmp_path):
    """The service with two folders that are kept in step."""
    settings = web.services.settings.model_copy(update={"sync_folders": f"docs={tmp_path};more={tmp_path / 'm'}"})
    app = web.server.config.app
    app.dependency_overrides[get_syncs] = lambda: Syncs(replace(web.services, settings=settings), TENANT, audit_of(web))
    yield
    app.dependency_overrides.clear()


def test_a_sync_is_wanted_shown_and_found_again(web, folders):
    answer = web.client.post("/sync", json={})
    assert answer.status_code == 202
    assert [item["folder"] for item in answer.json()["items"]] == ["docs", "more"]
    (one,) = web.client.post("/sync", json={"folder": "docs", "dry_run": True}).json()["items"]
    assert (one["dry_run"], one["running"], one["ended_at"], one["report"]) == (True, False, None, None)
    assert web.client.get(f"/sync/{one['id']}").json() == one
    catalog = web.services.catalog
    catalog.take_sync("default", "worker", 60, one["id"])
    assert web.client.get(f"/sync/{one['id']}").json()["running"] is True
    catalog.leave_sync(one["id"], "worker", {"added": 3, "refusals": []}, ended=True)
    ended = web.client.get(f"/sync/{one['id']}").json()
    assert (ended["ended_at"] is not None, ended["report"]["added"]) == (True, 3)
    page = web.client.get("/sync").json()
    assert page["folders"] == ["docs", "more"]
    assert one["id"] in {item["id"] for item in page["items"]}


def test_what_is_no_folder_is_not_synced(web, folders):
    missing = web.client.post("/sync", json={"folder": "elsewhere"})
    assert (missing.status_code, missing.json()["code"]) == (404, "sync_folder_not_found")
    assert "PREREAD_SYNC_FOLDERS" in missing.json()["hint"]
    assert web.client.get("/sync/syn_none").json()["code"] == "sync_not_found"


def test_the_operators_folders_are_no_other_tenants(web, tmp_path):
    settings = web.services.settings.model_copy(update={"sync_folders": f"docs={tmp_path}"})
    theirs = Syncs(replace(web.services, settings=settings), "other", audit_of(web))
    assert theirs.page().folders == []
    with pytest.raises(SyncFolderNotFound):
        theirs.start(SyncIn(folder="docs"))


def test_without_folders_there_is_nothing_to_sync(web):
    assert web.client.post("/sync", json={}).json()["code"] == "sync_folder_not_found"
    assert web.client.get("/sync").json()["folders"] == []
