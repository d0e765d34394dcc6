"""What retrieval refuses.

PrereadError
├── BadInput
│   ├── UnsupportedType          a kind of file that is not read (yet)
│   ├── UnreadableFile           the file is damaged, or is not what its name says
│   ├── PasswordProtected        it opens with a password only
│   ├── UndecodableText          its character encoding cannot be told for certain
│   ├── NoTextFound              there is no text in it: a scan, or an empty file
│   └── ChunkLimitTooSmall       one character alone has more tokens than a chunk may
├── SetupError
│   ├── EmbeddingUnavailable     the embedding model cannot be loaded
│   ├── DimensionMismatch        the index was made with vectors of another length
│   ├── IndexLocked              another process owns the local index folder
│   └── IndexRefused             the web process does not accept this worker's index calls
└── Unavailable
    └── IndexUnavailable         the index does not answer
"""

from app.core.errors import BadInput, SetupError, Unavailable


class UnsupportedType(BadInput):
    code = "unsupported_type"


class UnreadableFile(BadInput):
    code = "unreadable_file"


class PasswordProtected(BadInput):
    code = "password_protected"


class UndecodableText(BadInput):
    code = "undecodable_text"


class NoTextFound(BadInput):
    code = "no_text_found"


class ChunkLimitTooSmall(BadInput):
    code = "chunk_limit_too_small"


class EmbeddingUnavailable(SetupError):
    code = "embedding_unavailable"


class DimensionMismatch(SetupError):
    """Vectors of one length met an index of another; `found` and `expected` are numbers of components."""

    code = "dimension_mismatch"

    def __init__(self, found: int, expected: int) -> None:
        super().__init__(
            f"The embedding model makes vectors of {found} numbers, but the index holds vectors of {expected}.",
            "Use the embedding model the index was made with, or rebuild the index.",
        )
        self.found = found
        self.expected = expected


class IndexLocked(SetupError):
    code = "index_locked"


class IndexRefused(SetupError):
    code = "index_refused"


class IndexUnavailable(Unavailable):
    code = "index_unavailable"
