"""Documents in: what is searched is what was written, in every encoding, and in chunks that a model can read."""

import base64
import random

import pytest
from written_texts import FERRY, UNSPACED, WRITTEN, mail, meta, page, text_files

from retrieval.errors import UndecodableText
from retrieval.parsing import parse

WRONG = ["utf-8", "iso-8859-1", "us-ascii", "windows-1252", "shift_jis", "gb2312", "x-unknown"]
# What only a reader who knows Turkish, say, could tell from what is declared is left out: FERRY has none of it.


def read(data, name):
    """Its text; None: refused."""
    try:
        return parse(data, name).text
    except UndecodableText:
        return None


class TestEncodings:
    """Case 3. A text in a usual encoding is decoded right or refused, whatever kind of file it is in and whatever that
    says of its encoding: never with signs for what could not be read, never as another language's letters."""

    @pytest.mark.parametrize(("language", "encoding"), WRITTEN)
    def test_every_kind_of_text_file_is_read_as_it_was_written(self, language, encoding):
        text = FERRY[language]
        got = {name: read(data, name) for name, data in text_files(text, encoding).items()}
        assert {name: text in each for name, each in got.items() if each is not None} == dict.fromkeys(
            [name for name, each in got.items() if each is not None], True
        )
        if encoding.startswith("utf-8") or encoding in ("utf-16", "utf-32"):
            assert None not in got.values(), "Unicode with a mark, or UTF-8, is never in doubt"
        assert got["true.html"] is not None, "neither is what the file says of itself"

    @pytest.mark.parametrize(("language", "encoding"), WRITTEN)
    def test_a_page_that_says_a_wrong_encoding_is_read_right_or_refused(self, language, encoding):
        text = FERRY[language]
        for wrong in WRONG:
            assert read(page(text, meta(wrong)).encode(encoding), "wrong.html") in (text, None), wrong

    @pytest.mark.parametrize(
        ("language", "encoding"), [each for each in WRITTEN if "16" not in each[1] and "32" not in each[1]]
    )
    @pytest.mark.parametrize("coding", ["8bit", "base64"])
    def test_a_message_is_read_right_whatever_its_charset_says_or_refused(self, language, encoding, coding):
        text = FERRY[language]
        assert text in read(mail(text, encoding, encoding, coding), "true.eml")
        for charset in ["", *WRONG]:
            got = read(mail(text, encoding, charset, coding), "wrong.eml")
            assert got is None or text in got, charset

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("ferry.csv", "路線,出発\n渡し船,七時四十五分\n".encode("cp932")),
            ("ferry.html", page("渡し船は七時四十五分", meta("utf-8")).encode("euc_jp")),
            ("ferry.eml", mail("渡し船は七時四十五分に出ます", "iso2022_jp", "iso-2022-jp", "7bit")),
            ("ferry.txt", "渡し船は七時四十五分に出ます。毎朝です。".encode("utf-16-be")),
        ],
    )
    def test_what_is_searched_and_shown_is_the_original(self, library, name, data):
        shown = library.add(name, data)
        assert shown["state"] == "indexed", shown["failure"]
        assert "七時四十五分" in library.text(shown["id"])
        assert "\ufffd" not in library.text(shown["id"])
        (first, *_) = library.sources("渡し船 七時四十五分", scope={"document_ids": [shown["id"]]})
        assert "七時四十五分" in first["text"]

    def test_what_cannot_be_told_is_refused_with_what_to_do_and_not_indexed(self, library):
        shown = library.add("cut.txt", "Größe und Maß".encode()[:4] + bytes([0x81, 0x8D, 0x8F]) * 9)
        assert (shown["state"], shown["chunks"]) == ("failed", 0)
        assert shown["failure"]["code"] in ("undecodable_text", "unknown_type")

    def test_text_that_was_spoiled_before_it_came_is_refused(self, library):
        shown = library.add("spoiled.txt", "Die Gr\ufffd\ufffde der Br\ufffdcke betr\ufffdgt f\ufffdnf Meter.")
        assert (shown["state"], shown["failure"]["code"]) == ("failed", "undecodable_text")


def chunks_of(served, document_id):
    catalog = served.services.catalog
    return catalog.chunks_of(catalog.get_document(served.tenant, document_id).current_version_id)


def assert_cut_well(served, document_id):
    """Every chunk is within its limit, and together they have every visible character once."""
    chunks = chunks_of(served, document_id)
    limit = served.services.settings.chunk_tokens
    assert max(len(chunk.token_ids) for chunk in chunks) <= limit
    text = served.text(document_id)
    visible = "".join(text.split())
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == visible
    assert served.services.index.count(served.tenant, document_id) == len(chunks)
    return chunks


class TestLongRuns:
    """Case 7. Text without spaces or line ends is cut into chunks within the limit, and found by a question in its
    language."""

    @pytest.mark.parametrize("language", UNSPACED)
    def test_a_script_without_spaces_is_cut_and_found(self, empty, language):
        sentence, question, answer = UNSPACED[language]
        filler = "".join(FERRY[each].replace(" ", "") for each in ("Japanese", "simplified Chinese", "Korean"))
        shown = empty.add("library.txt", filler * 3 + sentence + filler * 3)
        chunks = assert_cut_well(empty, shown["id"])
        assert len(chunks) > 5
        found = empty.sources(question)
        assert found, "the question finds nothing"
        assert any(answer in source["text"] for source in found) or answer in "".join(
            chunk.text for chunk in chunks if chunk.id in {source["chunk_id"] for source in found}
        )

    @pytest.mark.parametrize(
        "text",
        [
            "a" * 20_000,
            base64.b64encode(random.Random(7).randbytes(9_000)).decode(),
            "The tide comes in twice a day, " * 300,
            "とても長い一行です" * 400,
            "🐢" * 2_000,
            "e\u0301\u0323" * 1_500,
            "0123456789" * 1_000,
            "https://example.org/" + "path/" * 1_500,
            "| a | b |" * 800,
        ],
        ids=["letter", "base64", "one line", "Japanese line", "emoji", "combining", "digits", "address", "table row"],
    )
    def test_one_endless_line_is_cut_within_the_limit(self, empty, text):
        shown = empty.add("line.txt", text)
        assert shown["state"] == "indexed", shown["failure"]
        assert len(assert_cut_well(empty, shown["id"])) > 1

    def test_a_fact_behind_an_endless_word_is_found(self, empty):
        shown = empty.add("log.txt", "x" * 3_000 + "\n\nThe harbour master is called Amundsen.\n\n" + "y" * 3_000)
        (first, *_) = empty.sources("What is the harbour master called?")
        assert "Amundsen" in first["text"]
        assert first["document_id"] == shown["id"]
