"""PDF: the text layer, page by page."""

import logging
from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import FileNotDecryptedError

from retrieval.errors import PasswordProtected, UnreadableFile
from retrieval.parsing.document import PageSpan, ParsedDocument, clean_text, clean_title
from retrieval.parsing.media_type import MediaType

# It reports every oddity of every font; what matters is raised.
logging.getLogger("pypdf").setLevel(logging.ERROR)

_PAGE_BREAK = "\n\n"
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_TITLES_OF_PROGRAMS = ("untitled", "microsoft word", "powerpoint presentation", "無題")


def parse_pdf(data: bytes, name: str) -> ParsedDocument:
    """Raises: PasswordProtected, UnreadableFile."""
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted:
            reader.decrypt("")  # where a password is needed, reading the pages says so
        pages = [clean_text(page.extract_text()).translate(_LIGATURES).strip() for page in reader.pages]
        title = reader.metadata.title if reader.metadata else None
    except FileNotDecryptedError as error:
        raise PasswordProtected(
            f"{name} opens with a password only.", "Remove the password and add the file again."
        ) from error
    except Exception as error:  # damaged files make pypdf raise nearly anything
        raise UnreadableFile(
            f"{name} is damaged: {type(error).__name__}.", "Open it in a PDF viewer and save it again."
        ) from error
    return ParsedDocument(
        clean_title(_worthwhile(title), name), MediaType.PDF, _PAGE_BREAK.join(pages), pages=_page_spans(pages)
    )


def _page_spans(pages: list[str]) -> tuple[PageSpan, ...]:
    spans = []
    start = 0
    for number, page in enumerate(pages, start=1):
        spans.append(PageSpan(number, start, start + len(page)))
        start += len(page) + len(_PAGE_BREAK)
    return tuple(spans)


def _worthwhile(title: str | None) -> str | None:
    return None if title and title.strip().lower().startswith(_TITLES_OF_PROGRAMS) else title
