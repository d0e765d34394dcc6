"""Plain text: kept as it is."""

from retrieval.parsing.document import ParsedDocument, clean_text, clean_title
from retrieval.parsing.media_type import MediaType


def parse_plain(text: str, name: str) -> ParsedDocument:
    return ParsedDocument(clean_title(None, name), MediaType.PLAIN, clean_text(text))
