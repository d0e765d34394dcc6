"""Documents in: bytes of a file to text with its pages and headings."""

from retrieval.parsing.apart import parse_apart
from retrieval.parsing.document import Heading, PageSpan, ParsedDocument
from retrieval.parsing.limits import ParseLimits
from retrieval.parsing.parser import parse

__all__ = ["Heading", "PageSpan", "ParseLimits", "ParsedDocument", "parse", "parse_apart"]
