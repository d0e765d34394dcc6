"""Case 4. A file keeps its name, whatever is in it: accepted, listed, found, downloaded and deleted under it."""

import re
from urllib.parse import unquote

import pytest

from app.web.originals import content_disposition

NAMES = [
    "テスト 資料①.md",
    "🐢 emoji 👩‍👩‍👧‍👧.md",
    "Cafe\u0301 (NFD).md",
    "Café (NFC).md",
    "n" * 252 + ".md",
    "資料" * 41 + "x.md",
    "a/b/c.md",
    "../../../../etc/passwd",
    "..",
    "temp\\report.md",
    "quote\"s 'and' `ticks`.md",
    "semi;colon=equals.md",
    "percent %20 100%.md",
    "plus+and&amp;.md",
    "<b>bold</b>.md",
    "line\nbreak\r\n.md",
    "abc\u202efdp.md",
    "zero\u200bwidth.md",
    " blanks around .md ",
    "CON",
    'a:b*c?d|e"f<g>.md',
    ".hidden",
    "no suffix",
    "dots...md...",
    "٣ عربي עברית.md",
]


def saved_name(answer):
    """The name that a browser is told: the extended one wins (RFC 6266)."""
    disposition = answer.headers["content-disposition"]
    assert re.fullmatch(r"attachment; filename=\"[ !#-~]*\"; filename\*=UTF-8''[\w.~%-]+", disposition, re.ASCII), (
        disposition
    )
    return unquote(disposition.rpartition("''")[2], errors="strict")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_accepted_listed_found_downloaded_and_deleted_under_its_name(library, name):
    data = f"# A page\n\nThis page is number {NAMES.index(name)}.\n".encode()
    before = library.left()
    shown = library.add(name, data)
    assert (shown["state"], shown["name"]) == ("indexed", name)
    items = library.client.get("/documents", params={"limit": 500}).json()["items"]
    assert [item["name"] for item in items if item["id"] == shown["id"]] == [name]
    part = name.strip()[:40]
    found = library.client.get("/documents", params={"q": part}).json()["items"]
    assert shown["id"] in {item["id"] for item in found}
    (source,) = library.sources("This page is number what?", scope={"document_ids": [shown["id"]]})
    assert source["name"] == name
    download = library.client.get(f"/documents/{shown['id']}/file")
    assert (download.status_code, download.content) == (200, data)
    told = saved_name(download)
    assert not re.search(r"[/\\\0]", told)
    assert told not in (".", "..")
    if not re.search(r"[/\\]", name) and name != "..":
        assert told == name
    assert library.client.delete(f"/documents/{shown['id']}").status_code == 204
    assert library.client.get(f"/documents/{shown['id']}/file").status_code == 404
    assert library.left() == before, "nothing of it lies anywhere, and not outside of the folder either"


@pytest.mark.parametrize("pair", [("Café.md", "Cafe\u0301.md"), ("a.md", "A.md"), ("a.md", "a.md ")])
def test_names_that_look_alike_are_two_documents(library, pair):
    first, second = (library.add(name, f"# {number} {name!a}\n\nText.\n") for number, name in enumerate(pair))
    assert first["id"] != second["id"]
    assert [library.shown(each["id"])["name"] for each in (first, second)] == list(pair)
    for each in (first, second):
        library.client.delete(f"/documents/{each['id']}")


def raw_upload(library, disposition):
    """A part of a form with a header as no well-behaved client sends it."""
    body = b'--x\r\nContent-Disposition: form-data; name="file"; ' + disposition + b"\r\n\r\n# Text\r\n--x--\r\n"
    return library.client.post("/documents", content=body, headers={"content-type": "multipart/form-data; boundary=x"})


@pytest.mark.parametrize(
    "disposition",
    [
        b'filename="nul\x00.md"',
        b'filename="surrogate\xed\xa0\x80.md"',
        b'filename="latin\xe9.md"',
        b'filename=""',
        b'filename="   "',
        b'filename="' + b"n" * 5000 + b'"',
        b"filename*=UTF-8''%E2%82%AC.md",
        b'filename="unclosed',
    ],
    ids=["NUL", "surrogate", "Latin-1", "none", "blanks", "endless", "extended", "unclosed"],
)
def test_a_name_that_cannot_be_is_refused_with_a_code_and_leaves_nothing(library, disposition):
    before = library.left()
    answer = raw_upload(library, disposition)
    assert answer.status_code in (201, 400, 422), answer.text
    if answer.status_code == 201:
        document = answer.json()["document"]
        assert document["name"].strip()
        assert library.client.delete(f"/documents/{document['id']}").status_code == 204
    else:
        assert answer.headers["content-type"] == "application/problem+json"
    assert library.left() == before


def test_a_download_is_saved_and_never_shown_or_run(library):
    shown = library.add("page.html", "<html><body><script>alert(1)</script><p>Some text.</p></body></html>")
    answer = library.client.get(f"/documents/{shown['id']}/file")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert int(answer.headers["content-length"]) == len(answer.content)
    library.client.delete(f"/documents/{shown['id']}")


def test_a_download_is_of_the_version_that_answers(library):
    shown = library.add("versions.md", "The first version.")
    library.upload("versions.md", "The second version.")
    url = f"/documents/{shown['id']}/file"
    assert library.client.get(url).text == "The first version."
    library.add("versions.md", "The third version.")
    assert library.client.get(url).text == "The third version."
    library.client.delete(f"/documents/{shown['id']}")


def test_a_header_holds_nothing_that_ends_it():
    for name in NAMES:
        assert not re.search(r"[\r\n\0]", content_disposition(name))
        assert content_disposition(name).isascii()
