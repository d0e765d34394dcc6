"""From a file's bytes to its text: what it is decides its content, then its name."""

from retrieval.errors import NoTextFound
from retrieval.parsing.decoding import decode
from retrieval.parsing.document import ParsedDocument, has_text
from retrieval.parsing.html import declared_encoding, parse_html
from retrieval.parsing.markdown import parse_markdown
from retrieval.parsing.media_type import MediaType, binary_media_type, text_media_type
from retrieval.parsing.pdf import parse_pdf
from retrieval.parsing.plain import parse_plain


def parse(data: bytes, name: str) -> ParsedDocument:
    """Read a Markdown, HTML, PDF or plain text file.

    Runs in bounded memory but on the CPU: call it where a time limit applies.

    Raises:
        NoTextFound: nothing to read, as in a scan.
        PasswordProtected: a PDF that the empty password does not open.
        UnreadableFile: damaged, or not what its name says.
        UndecodableText: the character encoding cannot be told for certain.
        UnsupportedType: another kind of file.
    """
    if not data.strip():
        raise _no_text(name, "The file is empty.")
    parsed = _parse_known(data, name)
    if not has_text(parsed.text):
        hint = "If it is a scan, add a version with a text layer." if parsed.pages else "The file holds only blanks."
        raise _no_text(name, hint)
    return parsed


def _parse_known(data: bytes, name: str) -> ParsedDocument:
    if binary_media_type(data, name) is MediaType.PDF:
        return parse_pdf(data, name)
    text = decode(data, name, declared_encoding(data))
    match text_media_type(text, name):
        case MediaType.HTML:
            return parse_html(text, name)
        case MediaType.MARKDOWN:
            return parse_markdown(text, name)
        case _:
            return parse_plain(text, name)


def _no_text(name: str, hint: str) -> NoTextFound:
    return NoTextFound(f"No text was found in {name}.", hint)
