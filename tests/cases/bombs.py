"""Small files that would grow without bound, or have whoever reads them work without end."""

import gzip
import re
import zlib

from archive_samples import archive_bytes, epub_bytes, member_of, saved, sheet_bytes, with_member, word_bytes
from openpyxl import Workbook
from pdf_samples import assemble

_CATALOG = ("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
_FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def swollen_pdf(layers: int) -> bytes:
    """A page whose text unpacks to a gigabyte, packed so many times."""
    stream = zlib.compress(b" " * 900_000_000, 9)
    for _ in range(layers - 1):
        stream = zlib.compress(stream, 9)
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>"
    )
    content = f"<< /Filter [{' /FlateDecode' * layers}] /Length {len(stream)} >>\nstream\nSTREAM\nendstream"
    return assemble([*_CATALOG, page, content, _FONT]).replace(b"STREAM", stream)


def picture_pdf() -> bytes:
    """A picture of 60,000 by 60,000 points beside a line of text."""
    stream = zlib.compress(bytes(10_000_000), 9)
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
        "/Resources << /XObject << /X1 5 0 R >> /Font << /F1 6 0 R >> >> /Contents 4 0 R >>"
    )
    text = "q 612 0 0 792 0 0 cm /X1 Do Q BT /F1 12 Tf 72 720 Td (Text beside it.) Tj ET"
    image = (
        "<< /Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        f"/Filter /FlateDecode /Length {len(stream)} >>\nstream\nSTREAM\nendstream"
    )
    content = f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"
    return assemble([*_CATALOG, page, content, image, _FONT]).replace(b"STREAM", stream)


def nested() -> bytes:
    data = b"x" * 10_000_000
    for level in range(6):
        data = archive_bytes({f"{level}.zip": data})
    return data


def far_cell() -> bytes:
    workbook = Workbook()
    workbook.active["A1"], workbook.active["XFD1048576"] = "near", "far"
    return saved(workbook)


def vast_dimension() -> bytes:
    data, sheet = sheet_bytes(["near"]), "xl/worksheets/sheet1.xml"
    claim = re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1:XFD1048576"', member_of(data, sheet))
    return with_member(data, sheet, claim)


def laughs(element: str = "x") -> str:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<?xml version="1.0"?><!DOCTYPE {element} [<!ENTITY e0 "ha">{levels}]><{element}>&e9;</{element}>'


def many_parts() -> bytes:
    types = member_of(word_bytes("x"), "[Content_Types].xml")
    return archive_bytes({"[Content_Types].xml": types, **{f"word/{n}": b"" for n in range(20_001)}})


def nested_mail() -> bytes:
    parts = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(5_000))
    return f"From: a@b.c\nTo: d@e.f\nSubject: x\nMIME-Version: 1.0\n{parts}\nhello".encode()


def nested_rst() -> bytes:
    return "\n".join("  " * depth + "* x" for depth in range(1_500)).encode()


REFUSED = {
    "nested.zip": (nested, {"unsupported_type"}),
    "packed.txt": (lambda: gzip.compress(bytes(50_000_000)), {"unsupported_type"}),
    "ratio.docx": (lambda: with_member(word_bytes("x"), "word/document.xml", bytes(100_000_000)), {"archive_bomb"}),
    "parts.docx": (many_parts, {"archive_bomb"}),
    "laughs.docx": (lambda: with_member(word_bytes("x"), "word/document.xml", laughs()), {"archive_bomb"}),
    "laughs.xlsx": (lambda: with_member(sheet_bytes(["x"]), "xl/sharedStrings.xml", laughs()), {"archive_bomb"}),
    "laughs.epub": (lambda: epub_bytes({"1.xhtml": "x"}, **{"OPS/book.opf": laughs()}), {"archive_bomb"}),
    "swollen.pdf": (lambda: swollen_pdf(1), {"too_complex", "out_of_memory"}),
    "twice.pdf": (lambda: swollen_pdf(2), {"too_complex", "out_of_memory"}),
    "deep.json": (lambda: b"[" * 500_000 + b"]" * 500_000, {"too_complex"}),
    "quotes.csv": (lambda: b'"' + b"a,\n" * 1_000_000, {"unreadable_file"}),
    "nested.eml": (nested_mail, {"too_complex", "out_of_memory"}),
    "subject.eml": (
        lambda: b"From: a@b.c\nTo: d@e.f\nSubject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\nhello",
        {"too_complex", "out_of_memory"},
    ),
    "nested.rst": (nested_rst, {"too_complex", "out_of_memory"}),
}
"""By name, what makes the file, and the codes of which it fails with one."""

HARMLESS = {
    "inner.docx": (lambda: with_member(word_bytes("near"), "word/embeddings/a.zip", nested()), "near"),
    "picture.pdf": (picture_pdf, "Text beside it."),
    "corner.xlsx": (far_cell, "far"),
    "dimension.xlsx": (vast_dimension, "near"),
    "spans.html": (lambda: b"<table>" + (b"<tr>" + b"<td colspan=1000000 rowspan=65000>x" * 50) * 50, "x"),
    "entities.html": (lambda: laughs("html").encode(), "e9"),
    "quotes.md": (lambda: b"> " * 10_000 + b"near", "near"),
    "brackets.md": (lambda: b"[" * 10_000 + b"near", "near"),
    "fields.eml": (lambda: b"From: a@b.c\nTo: d@e.f\nSubject: x\n" + b"X: y\n" * 4_000 + b"\nnear", "near"),
}
"""By name, what makes the file, and text that is found in it all the same."""
