"""The sets that `preread bench retrieval` knows."""

from enum import StrEnum
from pathlib import Path

from benchmarks.datasets.cranfield import load_cranfield
from benchmarks.datasets.excerpt_library import load_excerpt_library
from benchmarks.datasets.library import Library
from benchmarks.datasets.squad import load_squad
from retrieval.tokenizer import TokenEncoder


class RetrievalSet(StrEnum):
    CRANFIELD = "cranfield"
    CHUNKING = "chunking"
    XQUAD = "xquad"
    JSQUAD = "jsquad"


def load_library(which: RetrievalSet, folder: Path, tokenizer: TokenEncoder, chunk_tokens: int) -> Library:
    """Only `chunking` is cut into chunks; the texts of the others are shorter than one. Raises BadData."""
    match which:
        case RetrievalSet.CRANFIELD:
            return load_cranfield(folder)
        case RetrievalSet.CHUNKING:
            return load_excerpt_library(folder, tokenizer, chunk_tokens)
        case RetrievalSet.XQUAD:
            return load_squad("xquad", folder, "xquad*.json")
        case RetrievalSet.JSQUAD:
            return load_squad("jsquad", folder, "valid*.json")
