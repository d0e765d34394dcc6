"""Documents in: bytes of a file to text with its pages and headings."""

from retrieval.parsing.document import Heading, PageSpan, ParsedDocument
from retrieval.parsing.parser import parse

__all__ = ["Heading", "PageSpan", "ParsedDocument", "parse"]
