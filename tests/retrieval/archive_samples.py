"""ZIP archives as Office and EPUB files are, written by hand."""

from io import BytesIO
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile

from docx import Document
from docx.document import Document as WordDocument
from openpyxl import Workbook
from pptx import Presentation
from pptx.presentation import Presentation as Slides

OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def saved(document: WordDocument | Workbook | Slides) -> bytes:
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def word_bytes(*paragraphs: str) -> bytes:
    document = Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    return saved(document)


def sheet_bytes(*rows: list[object]) -> bytes:
    workbook = Workbook()
    for row in rows:
        workbook.active.append(row)
    return saved(workbook)


def slides_bytes(*titles: str) -> bytes:
    presentation = Presentation()
    for title in titles:
        presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = title
    return saved(presentation)


def archive_bytes(members: dict[str, bytes | str]) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def member_of(data: bytes, name: str) -> bytes:
    with ZipFile(BytesIO(data)) as archive:
        return archive.read(name)


def with_member(data: bytes, name: str, content: bytes | str) -> bytes:
    """The archive with one member added or replaced."""
    with ZipFile(BytesIO(data)) as archive:
        members: dict[str, bytes | str] = {member: archive.read(member) for member in archive.namelist()}
    return archive_bytes({**members, name: content})


def epub_bytes(chapters: dict[str, str], title: str = "", **more: str) -> bytes:
    items = "".join(
        f'<item id="c{number}" href="{quote(path)}" media-type="application/xhtml+xml"/>'
        for number, path in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    container = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    return archive_bytes(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OPS/book.opf": package,
            **{f"OPS/{path}": f"<html><body>{body}</body></html>" for path, body in chapters.items()},
            **more,
        }
    )
