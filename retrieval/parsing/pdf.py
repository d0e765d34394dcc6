"""PDF: the text layer, page by page."""

import logging
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from pypdf import PageObject, PdfReader
from pypdf.errors import FileNotDecryptedError, LimitReachedError, PdfReadError

from retrieval.errors import NoTextFound, PageLoop, PasswordProtected, TooComplex, UndecodableText
from retrieval.parsing.archive import damage_reported
from retrieval.parsing.document import PageSpan, ParsedDocument, clean_text, clean_title, has_text
from retrieval.parsing.media_type import MediaType

# It reports every oddity of every font; what matters is raised.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)

_PAGE_BREAK = "\n\n"
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_TITLES_OF_PROGRAMS = ("untitled", "microsoft word", "powerpoint presentation", "無題")
_NO_LETTERS = {"Cc", "Cn", "Co", "Cs"}
_MOST_UNREADABLE = 0.2


def parse_pdf(data: bytes, name: str) -> ParsedDocument:
    """Raises: NoTextFound, PageLoop, PasswordProtected, TooComplex, UndecodableText, UnreadableFile."""
    with damage_reported(name), _refusals(name):
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted:
            reader.decrypt("")  # where a password is needed, reading the pages says so
        texts = [page.extract_text() for page in reader.pages]
        title = reader.metadata.title if reader.metadata else None
        pictured = not any(map(has_text, texts)) and any(map(_shows_picture, reader.pages))
    if pictured:
        raise NoTextFound(
            f"No text was found in {name}: its pages are pictures.",
            "If it is a scan, have a program recognise its text and add the version that has a text layer.",
        )
    if _share_unreadable("".join(texts)) > _MOST_UNREADABLE:
        raise UndecodableText(
            f"The fonts of {name} do not say which letters they show.", "Export it again with its text as Unicode."
        )
    pages = [clean_text(text).translate(_LIGATURES).strip() for text in texts]
    return ParsedDocument(
        clean_title(_worthwhile(title), name), MediaType.PDF, _PAGE_BREAK.join(pages), pages=_page_spans(pages)
    )


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotDecryptedError as error:
        raise PasswordProtected(
            f"{name} opens with a password only.", "Remove the password and add the file again."
        ) from error
    except LimitReachedError as error:
        raise TooComplex(f"{name} is too large inside: {error}", "Split it, or print it to a new PDF.") from error
    except PdfReadError as error:
        if "cyclic" not in str(error).lower():
            raise
        raise PageLoop(
            f"{name} is damaged: its pages contain each other.", "Open it in a PDF viewer and save it again."
        ) from error


def _shows_picture(page: PageObject) -> bool:
    contents = page.get_contents()
    return bool(page.get("/Resources", {}).get("/XObject")) or (
        contents is not None and b"BI" in contents.get_data().split()
    )


def _share_unreadable(text: str) -> float:
    letters = [character for character in text if not character.isspace()]
    unreadable = sum(unicodedata.category(letter) in _NO_LETTERS or letter == "\ufffd" for letter in letters)
    return unreadable / max(len(letters), 1)


def _page_spans(pages: list[str]) -> tuple[PageSpan, ...]:
    spans = []
    start = 0
    for number, page in enumerate(pages, start=1):
        spans.append(PageSpan(number, start, start + len(page)))
        start += len(page) + len(_PAGE_BREAK)
    return tuple(spans)


def _worthwhile(title: str | None) -> str | None:
    return None if title and title.strip().lower().startswith(_TITLES_OF_PROGRAMS) else title
