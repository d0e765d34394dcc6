"""Files that hold no text, and files that only a password opens."""

import struct
from email.message import EmailMessage
from io import BytesIO

from archive_samples import OLE_START, epub_bytes, sheet_bytes, slides_bytes, word_bytes
from docx import Document
from pdf_samples import assemble, pdf_bytes
from PIL import Image
from pypdf import PdfReader, PdfWriter

SECRET_TEXT = "The vault in the cellar opens with 739154."


def picture() -> bytes:
    out = BytesIO()
    Image.new("RGB", (8, 8), "white").save(out, "PNG")
    return out.getvalue()


def scan() -> bytes:
    """Two pages that are pictures."""
    image = (
        "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        "/Length 1 >>\n"
        "stream\n0\nendstream"
    )
    drawing = "q 612 0 0 792 0 0 cm /X1 Do Q"
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /X1 5 0 R >> >> "
        "/Contents 4 0 R >>"
    )
    return assemble(
        [
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R 6 0 R] /Count 2 >>", page,
            f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream", image, page,
        ]
    )  # fmt: skip


def word_of_pictures() -> bytes:
    document, out = Document(), BytesIO()
    document.add_picture(BytesIO(picture()))
    document.save(out)
    return out.getvalue()


def mail_of_a_picture() -> bytes:
    message = EmailMessage()
    message.set_content("\n")
    message.add_attachment(picture(), maintype="image", subtype="png")
    del message["MIME-Version"]
    return b"From: \r\nTo: \r\nSubject: \r\nDate: \r\n" + bytes(message)


TEXTLESS = {
    "scan.pdf": (scan(), "no_text_found"),
    "blank.pdf": (pdf_bytes("", ""), "empty_document"),
    "blanks.txt": (b" \t\r\n \xc2\xa0\xe3\x80\x80\n", "empty_document"),
    "invisible.txt": ("\u200b\u200c\u2060\ufeff\u00ad\n".encode(), "empty_document"),
    "mark.txt": (b"\xef\xbb\xbf", "empty_document"),
    "wide-mark.txt": (b"\xff\xfe", "empty_document"),
    "controls.txt": (bytes(range(1, 9)) * 20, "unknown_type"),
    "pictures.docx": (word_of_pictures(), "empty_document"),
    "blank.xlsx": (sheet_bytes([None, None]), "empty_document"),
    "blank.pptx": (slides_bytes(""), "empty_document"),
    "pictures.epub": (epub_bytes({"1.xhtml": '<img src="1.png"/>'}), "empty_document"),
    "script.html": (b"<html><head><script>var vault = 739154</script></head><body><img src=x></body></html>",
                    "empty_document"),
    "empty.json": (b'{"a": null, "b": ""}', "empty_document"),
    "commas.csv": (b",,,\n,,,\n", "empty_document"),
    "photo.pdf": (picture(), "unsupported_type"),
}  # fmt: skip


def locked_pdf(algorithm: str, user_password: str) -> bytes:
    writer, out = PdfWriter(clone_from=PdfReader(BytesIO(pdf_bytes(SECRET_TEXT)))), BytesIO()
    writer.encrypt(user_password, owner_password="owner", algorithm=algorithm)
    writer.write(out)
    return out.getvalue()


def locked_office(program: str) -> bytes:
    """As office programs write it: an OLE container around the encrypted package."""
    return (
        OLE_START
        + bytes(504)
        + program.encode()
        + "EncryptionInfo".encode("utf-16-le")
        + "EncryptedPackage".encode("utf-16-le")
        + bytes(64)
    )


def locked_archive(data: bytes) -> bytes:
    """Every part of it marked as encrypted."""
    archive, at = bytearray(data), 0
    while (at := archive.find(b"PK\x01\x02", at)) >= 0:
        struct.pack_into("<H", archive, at + 8, 1)
        at += 4
    return bytes(archive)


_ALGORITHMS = ("RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256")
OPEN = {f"{algorithm}.pdf": locked_pdf(algorithm, "") for algorithm in _ALGORITHMS}
LOCKED = {
    **{f"{algorithm}-locked.pdf": locked_pdf(algorithm, "secret") for algorithm in _ALGORITHMS},
    "locked.docx": locked_office("Word"),
    "locked.xlsx": locked_office("Excel"),
    "parts.docx": locked_archive(word_bytes(SECRET_TEXT)),
    "parts.xlsx": locked_archive(sheet_bytes([SECRET_TEXT])),
    "parts.pptx": locked_archive(slides_bytes(SECRET_TEXT)),
    "protected.epub": epub_bytes(
        {"1.xhtml": "x"},
        **{
            "META-INF/encryption.xml": '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
            '<enc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/><enc:CipherData>'
            '<enc:CipherReference URI="OPS/1.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>'
        },
    ),
    "message.eml": b"From: a@example.org\r\nTo: b@example.org\r\nSubject: x\r\n"
    b'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b\r\n\r\n'
    b"--b\r\n\r\nx\r\n--b--\r\n",
}

__all__ = ["LOCKED", "OPEN", "SECRET_TEXT", "TEXTLESS"]
