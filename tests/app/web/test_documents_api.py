import pytest
from web_harness import wait_until

from retrieval.errors import IndexUnavailable


def upload(web, name, data):
    return web.client.post("/documents", files={"file": (name, data)})


def by_name(web, name):
    items = web.client.get("/documents", params={"q": name}).json()["items"]
    return [item for item in items if item["name"] == name]


def test_an_added_document_is_listed_shown_and_readable(web):
    document_id = web.add("tea.md", "# Tea\n\nTea is free on every floor.\n")
    shown = web.client.get(f"/documents/{document_id}").json()
    assert (shown["name"], shown["title"], shown["state"]) == ("tea.md", "Tea", "indexed")
    assert shown["chunks"] >= 1
    assert shown["tokens"] > 0
    assert shown["failure"] is None
    assert by_name(web, "tea.md") == [shown]
    text = web.client.get(f"/documents/{document_id}/text")
    assert "Tea is free on every floor." in text.text
    assert text.headers["content-type"] == "text/plain; charset=utf-8"


def test_the_same_bytes_again_make_nothing_new(web):
    first = upload(web, "rules.md", b"# Rules\n\nThe rules are few.\n")
    again = upload(web, "other-name.md", b"# Rules\n\nThe rules are few.\n")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["created"] is False
    assert again.json()["document"]["id"] == first.json()["document"]["id"]


def test_new_bytes_under_a_known_name_are_a_new_version_of_the_document(web):
    first = web.add("menu.md", "# Menu\n\nMonday is soup day.\n")
    second = web.add("menu.md", "# Menu\n\nMonday is pasta day.\n")
    assert first == second
    assert "pasta" in web.client.get(f"/documents/{first}/text").text


@pytest.mark.parametrize(
    "name",
    [
        "テスト 資料①.md",
        "🐢 emoji.txt",
        "Cafe\u0301 NFD.md",
        "Café NFC.md",
        "n" * 251 + ".txt",
        'quote"s; and=.md',
        "<b>.md",
    ],
)
def test_any_file_name_is_shown_as_it_was_sent(web, name):
    document_id = web.add(name, f"# A page\n\nThis page is called {len(name)} {name}.\n")
    assert web.client.get(f"/documents/{document_id}").json()["name"] == name


def test_a_failed_document_says_why_and_can_be_retried(web):
    document_id = upload(web, "scan.txt", b"   ").json()["document"]["id"]
    web.ingest(document_id)
    shown = web.client.get(f"/documents/{document_id}").json()
    assert (shown["state"], shown["failure"]["code"]) == ("failed", "empty_document")
    assert shown["failure"]["message"]
    retried = web.client.post(f"/documents/{document_id}/retry")
    assert (retried.status_code, retried.json()["state"]) == (202, "received")


def test_a_deleted_document_is_gone_everywhere(web):
    document_id = web.add("secret.md", "# Vault\n\nThe vault code is 739154 and the vault is blue.\n")
    found = web.stream("What is the vault code?")[1].data["passages"]
    assert document_id in {passage["document_id"] for passage in found}
    assert web.client.delete(f"/documents/{document_id}").status_code == 204
    assert web.client.get(f"/documents/{document_id}").status_code == 404
    assert web.client.get(f"/documents/{document_id}/text").status_code == 404
    assert web.client.delete(f"/documents/{document_id}").status_code == 404
    assert by_name(web, "secret.md") == []
    assert web.services.index.count("default", document_id) == 0
    assert not list(web.services.settings.files_dir.glob(f"*/{document_id}"))
    sources = web.stream("What is the vault code?")[1].data["passages"]
    assert document_id not in {passage["document_id"] for passage in sources}


def test_a_deletion_that_cannot_finish_hides_the_document_at_once(web, monkeypatch):
    document_id = web.add("shelf.md", "# Shelf\n\nThe shelf by the door holds 90 binders.\n")

    def away(tenant, document_id):
        raise IndexUnavailable("The index does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(web.services.index, "delete_document", away)
        answer = web.client.delete(f"/documents/{document_id}")
    assert answer.status_code == 204
    assert web.client.get(f"/documents/{document_id}").status_code == 404
    assert web.client.get(f"/documents/{document_id}/vectors").json()["vectors"] > 0
    sources = web.stream("How many binders does the shelf hold?")[1].data["passages"]
    assert document_id not in {passage["document_id"] for passage in sources}
    assert web.client.delete(f"/documents/{document_id}").status_code == 204
    assert web.client.get(f"/documents/{document_id}/vectors").json() == {"vectors": 0}
    assert by_name(web, "shelf.md") == []


@pytest.mark.parametrize("size", [100_001, 400_000])
def test_a_file_over_the_limit_is_refused_and_leaves_nothing(web, size):
    answer = upload(web, "big.txt", b"x" * size)
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert by_name(web, "big.txt") == []
    assert not list((web.services.settings.files_dir / ".incoming").iterdir())


def test_an_empty_file_and_a_nameless_one_are_refused(web):
    assert upload(web, "empty.txt", b"").json()["code"] == "empty_file"
    assert upload(web, " ", b"text").json()["code"] == "bad_name"
    assert web.client.post("/documents").json()["code"] == "bad_input"


def test_pages_of_the_list_do_not_overlap(web):
    total = web.client.get("/documents").json()["total"]
    seen = [
        item["id"]
        for offset in range(total)
        for item in web.client.get("/documents", params={"limit": 1, "offset": offset}).json()["items"]
    ]
    assert len(set(seen)) == len(seen) == total


def test_precompute_wakes_what_is_asked_for_and_loses_nothing_without_a_broker(web):
    document_id = web.add("desk.md", "# Desk\n\nEvery desk has two lamps.\n")
    answer = web.client.post("/precompute", json={"document_id": document_id})
    assert (answer.status_code, answer.json()["documents"]) == (202, 1)
    assert web.client.post("/precompute", json={"mode": "all"}).json()["documents"] >= 3
    assert web.client.post("/precompute", json={"document_id": "doc_none"}).status_code == 404
    wait_until(lambda: web.client.get("/healthz").status_code == 200, "web answers")
