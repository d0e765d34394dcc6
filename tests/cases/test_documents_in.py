"""Documents in: files without text, files with passwords, and the same file again."""

import io
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest
from refused_files import LOCKED, OPEN, SECRET_TEXT, TEXTLESS

from workers.ingest import ingest

VAULT = "How does the vault in the cellar open?"
THEIRS = f"# Vault\n\n{SECRET_TEXT} Nobody but the janitor knows how the vault in the cellar opens.\n"
FERRY = "# Ferry\n\nThe ferry to the island leaves at 7:45 every morning from the old pier.\n"


def add_for(tenant, served, name, text):
    """A document of another tenant, in the same database, index and folder."""
    context, data = served.of_tenant(tenant), text.encode()
    document, _ = context.catalog.add_document(tenant, name, sha256(data).hexdigest(), "text/markdown", len(data))
    context.files.keep(context.files.receive(io.BytesIO(data), 10**6), tenant, document.id)
    assert ingest(document.id, context)
    return document.id


class TestTextless:
    """Case 1. What no text can be got from fails and says why; questions are answered from other files of the same
    tenant, or not at all."""

    @pytest.mark.parametrize("name", TEXTLESS)
    def test_a_file_without_text_fails_with_its_reason_and_nothing_of_it_is_kept_for_questions(self, library, name):
        data, code = TEXTLESS[name]
        before = library.left()
        shown = library.add(name, data)
        assert (shown["state"], shown["failure"]["code"], shown["chunks"]) == ("failed", code, 0)
        assert name in shown["failure"]["message"], "it names the file"
        assert shown["failure"]["message"].count(".") >= 2, "a sentence and what to do"
        assert shown["id"] not in {source["document_id"] for source in library.sources(VAULT)}
        assert library.client.get(f"/documents/{shown['id']}/text").status_code == 404
        after = library.left()
        assert (after["chunks"], after["vectors"]) == (before["chunks"], before["vectors"])

    def test_the_next_question_is_answered_from_nobody_elses_file(self, empty):
        theirs = add_for("other", empty, "vault.md", THEIRS)
        scan = empty.add("scan.pdf", TEXTLESS["scan.pdf"][0])
        assert scan["state"] == "failed"
        assert empty.sources(VAULT) == []
        answer = empty.client.post("/ask", json={"question": VAULT}).json()
        assert (answer["status"], answer["citations"]) == ("no_answer", [])
        assert "739154" not in answer["answer"]
        for scope in ([theirs], [scan["id"]], [theirs, scan["id"]]):
            assert empty.sources(VAULT, scope={"document_ids": scope}) == []
        own = empty.add("ferry.md", FERRY)
        assert {source["document_id"] for source in empty.sources("When does the ferry leave?")} == {own["id"]}
        assert {source["document_id"] for source in empty.sources(VAULT)} <= {own["id"]}

    def test_a_file_that_gets_text_later_under_the_same_name_answers(self, library):
        failed = library.add("later.pdf", b"\n \n")
        mended = library.add("later.pdf", "The lighthouse keeper is called Amundsen.")
        assert mended["id"] == failed["id"]
        assert (mended["state"], mended["failure"]) == ("indexed", None)
        assert library.sources("What is the lighthouse keeper called?")[0]["document_id"] == mended["id"]


class TestPasswords:
    """Case 2. A file that opens with a password only is refused with a code of its own; an empty password opens it."""

    @pytest.mark.parametrize("name", LOCKED)
    def test_a_locked_file_is_refused_and_says_what_to_do(self, library, name):
        shown = library.add(name, LOCKED[name])
        assert (shown["state"], shown["failure"]["code"]) == ("failed", "password_protected")
        assert "Traceback" not in shown["failure"]["message"]
        assert name in shown["failure"]["message"]

    @pytest.mark.parametrize("name", OPEN)
    def test_a_file_with_an_empty_user_password_just_opens(self, library, name):
        shown = library.add(name, OPEN[name])
        assert shown["state"] == "indexed"
        assert SECRET_TEXT in library.text(shown["id"])


class TestSameFileAgain:
    """Case 6. The same bytes are one document, new bytes under a known name a new version of it, and different bytes
    are never taken for the same."""

    @pytest.mark.parametrize(
        ("name", "data", "same_document", "created"),
        [
            ("first.md", "One tram stops here.", True, False),
            ("second.md", "One tram stops here.", True, False),
            ("first.md", "Two trams stop here.", True, True),
            ("first.md", "One tram stops here.\n", True, True),
            ("First.md", "Two trams stop there.", False, True),
            ("first.md ", "Two trams stop there", False, True),
            ("third.md", "One tram stops here!", False, True),
        ],
        ids=[
            "all the same",
            "another name",
            "other bytes",
            "one byte more",
            "case of name",
            "blank in name",
            "one byte",
        ],
    )
    def test_bytes_and_name_decide(self, empty, name, data, same_document, created):
        first = empty.add("first.md", "One tram stops here.")
        answer = empty.upload(name, data)
        assert (answer["document"]["id"] == first["id"], answer["created"]) == (same_document, created)
        assert empty.left()["documents"] == (1 if same_document else 2)
        ingest(answer["document"]["id"], empty.context)
        assert empty.text(answer["document"]["id"]).strip() == data.strip()
        assert empty.left()["vectors"] == empty.left()["chunks"] == empty.left()["documents"]

    def test_files_that_differ_in_their_last_byte_alone_are_two(self, empty):
        page = "The tide table of the harbour. " * 60
        first, second = empty.add("a.txt", page + "1"), empty.add("b.txt", page + "2")
        assert first["id"] != second["id"]
        assert [empty.text(each["id"])[-1] for each in (first, second)] == ["1", "2"]

    def test_a_version_that_is_brought_back_answers_again(self, empty):
        versions = ["Bread costs three euros.", "Bread costs four euros.", "Bread costs three euros."]
        for text in versions:
            shown = empty.add("prices.md", text)
            assert [source["text"] for source in empty.sources("What does bread cost?")] == [text]
        assert empty.left() | {"jobs": 0} == {
            "documents": 1, "jobs": 0, "chunks": 1, "vectors": 1, "files": 2, "staged": 0, "kv": 0,
        }  # fmt: skip
        assert shown["chunks"] == 1

    def test_bytes_that_belong_to_another_document_do_not_replace_a_version(self, empty):
        first, second = empty.add("first.md", "The bakery is red."), empty.add("second.md", "The butcher is blue.")
        answer = empty.upload("second.md", "The bakery is red.")
        assert (answer["created"], answer["document"]["id"]) == (False, first["id"])
        assert empty.text(second["id"]) == "The butcher is blue."

    def test_what_was_deleted_can_be_added_again_and_is_new(self, empty):
        first = empty.add("first.md", "The bakery is red.")
        assert empty.client.delete(f"/documents/{first['id']}").status_code == 204
        again = empty.upload("first.md", "The bakery is red.")
        assert again["created"]
        assert again["document"]["id"] != first["id"]

    def test_many_who_send_the_same_bytes_at_once_make_one_document(self, empty):
        def send(number):
            return empty.upload(f"{number}.md", "The bakery is red.")

        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(send, range(16)))
        assert len({answer["document"]["id"] for answer in answers}) == 1
        assert sum(answer["created"] for answer in answers) == 1
        assert (empty.left()["documents"], empty.left()["files"]) == (1, 1)
