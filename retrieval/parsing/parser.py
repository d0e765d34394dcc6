"""From a file's bytes to its text: what is in it decides what it is, then its name."""

from retrieval.errors import EmptyDocument, TooComplex, TooMuchText
from retrieval.parsing.archive import check_members, open_archive
from retrieval.parsing.containers import OLE_START, ZIP_STARTS, refuse_ole, zip_media_type
from retrieval.parsing.decoding import decode
from retrieval.parsing.document import ParsedDocument, has_text
from retrieval.parsing.html import declared_encoding, parse_html
from retrieval.parsing.media_type import MediaType, is_mail, is_pdf, refuse_foreign, text_media_type
from retrieval.parsing.plain import parse_plain

MOST_CHARACTERS = 20_000_000


def parse(data: bytes, name: str, most_characters: int = MOST_CHARACTERS) -> ParsedDocument:
    """Read a file of any kind in `media_type`.

    It may take as long and as much memory as the file makes it: what strangers send goes through `parse_apart`.

    Raises: FileRefused.
    """
    if not data.strip():
        raise EmptyDocument(f"No text was found in {name}: it is empty.", "Add a file with text in it.")
    try:
        parsed = _parse_known(data, name)
    except RecursionError as error:
        raise TooComplex(f"{name} is nested too deeply.", "Save it in a simpler form, such as PDF.") from error
    if not has_text(parsed.text):
        raise EmptyDocument(
            f"No text was found in {name}.", "Add a file with text in it; what pictures show is not read."
        )
    if len(parsed.text) > most_characters:
        raise TooMuchText(
            f"{name} has {len(parsed.text):,} characters; the limit is {most_characters:,}.",
            "Split it. PREREAD_MAX_TEXT_CHARACTERS sets the limit.",
        )
    return parsed


def _parse_known(data: bytes, name: str) -> ParsedDocument:
    """Parsers are imported where they are needed: a process that reads one file starts several times sooner."""
    if data.startswith(ZIP_STARTS):
        return _parse_zip(data, name)
    if data.startswith(OLE_START):
        refuse_ole(data, name)
    if is_pdf(data):
        from retrieval.parsing.pdf import parse_pdf

        return parse_pdf(data, name)
    refuse_foreign(data, name)
    if is_mail(data, name):
        from retrieval.parsing.mail import parse_mail

        return parse_mail(data, name)
    return _parse_text(decode(data, name, declared_encoding(data)), name)


def _parse_zip(data: bytes, name: str) -> ParsedDocument:
    with open_archive(data, name) as archive:
        media_type = zip_media_type(archive, name)
        check_members(archive, name)
        match media_type:
            case MediaType.DOCX:
                from retrieval.parsing.docx import parse_docx

                return parse_docx(data, name)
            case MediaType.PPTX:
                from retrieval.parsing.pptx import parse_pptx

                return parse_pptx(data, name)
            case MediaType.XLSX:
                from retrieval.parsing.xlsx import parse_xlsx

                return parse_xlsx(data, name)
            case _:
                from retrieval.parsing.epub import parse_epub

                return parse_epub(archive, name)


def _parse_text(text: str, name: str) -> ParsedDocument:
    match text_media_type(text, name):
        case MediaType.HTML:
            return parse_html(text, name)
        case MediaType.MARKDOWN:
            from retrieval.parsing.markdown import parse_markdown

            return parse_markdown(text, name)
        case MediaType.RST:
            from retrieval.parsing.rst import parse_rst

            return parse_rst(text, name)
        case MediaType.CSV:
            from retrieval.parsing.table_text import parse_csv

            return parse_csv(text, name)
        case MediaType.JSON:
            from retrieval.parsing.json_text import parse_json

            return parse_json(text, name)
        case _:
            return parse_plain(text, name)
