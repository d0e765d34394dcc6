"""EPUB: its chapters in reading order, each read as the web page it is."""

from collections.abc import Iterator
from posixpath import dirname, join, normpath
from urllib.parse import unquote
from zipfile import ZipFile

from bs4 import BeautifulSoup

from retrieval.errors import PasswordProtected
from retrieval.parsing.archive import damage_reported
from retrieval.parsing.decoding import decode
from retrieval.parsing.document import ParsedDocument, clean_title
from retrieval.parsing.html import declared_encoding, parse_html
from retrieval.parsing.manuscript import Manuscript
from retrieval.parsing.media_type import MediaType

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = {"application/xhtml+xml", "text/html"}
_OBFUSCATED_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def parse_epub(archive: ZipFile, name: str) -> ParsedDocument:
    """Raises: PasswordProtected for copy protection, UndecodableText, UnreadableFile."""
    manuscript = Manuscript()
    with damage_reported(name):
        _refuse_protected(archive, name)
        container = _xml(archive, _CONTAINER)
        root = container.find("rootfile")
        package_path = str(root["full-path"]) if root else ""
        package = _xml(archive, package_path)
        for path in _chapters(package, dirname(package_path)):
            data = archive.read(path)
            manuscript.include(parse_html(decode(data, name, declared_encoding(data)), name))
        title = package.find("title")
    return manuscript.parsed(clean_title(title.get_text() if title else None, name), MediaType.EPUB)


def _xml(archive: ZipFile, path: str) -> BeautifulSoup:
    return BeautifulSoup(archive.read(path), "xml")


def _chapters(package: BeautifulSoup, folder: str) -> Iterator[str]:
    pages = {
        str(item.get("id")): normpath(join(folder, unquote(str(item.get("href")))))
        for item in package.find_all("item")
        if item.get("media-type") in _PAGES
    }
    for reference in package.find_all("itemref"):
        path = pages.pop(str(reference.get("idref")), None)
        if path:
            yield path


def _refuse_protected(archive: ZipFile, name: str) -> None:
    if _ENCRYPTION not in archive.namelist():
        return
    methods = {str(method.get("Algorithm")) for method in _xml(archive, _ENCRYPTION).find_all("EncryptionMethod")}
    if methods - set(_OBFUSCATED_FONTS):
        raise PasswordProtected(f"{name} is copy-protected.", "Add a version without copy protection.")
