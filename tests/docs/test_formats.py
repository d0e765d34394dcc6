"""Wherever the kinds of file are listed that can be added, they are those that are read."""

import re
from pathlib import Path

from app.core.folder_files import SUFFIXES
from retrieval.errors import FileRefused
from retrieval.parsing.media_type import SUFFIXES as READ
from retrieval.parsing.media_type import MediaType

ROOT = Path(__file__).parents[2]


def test_the_command_line_looks_for_every_suffix_that_is_read() -> None:
    assert SUFFIXES == READ


def test_the_page_offers_every_suffix_that_is_read() -> None:
    source = (ROOT / "frontend/src/documents/UploadArea.tsx").read_text()
    accepted = re.search(r'ACCEPTED =\s*"([^"]+)"', source)
    assert accepted
    assert set(accepted[1].split(",")) == READ


def test_the_page_on_formats_has_a_row_for_each() -> None:
    page = (ROOT / "docs/formats.md").read_text()
    assert not [media_type for media_type in MediaType if f"`{media_type}`" not in page]


def test_the_page_on_formats_explains_every_code_that_a_file_fails_with() -> None:
    page = (ROOT / "docs/formats.md").read_text()
    assert not [refusal.code for refusal in FileRefused.__subclasses__() if f"`{refusal.code}`" not in page]
