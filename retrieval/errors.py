"""What retrieval refuses.

PrereadError
├── BadInput
│   ├── FileRefused              a file cannot be used; the document fails with this code and is not tried again
│   │   ├── UnsupportedType      a kind of file that is not read: an image, an archive, an old Office file
│   │   ├── UnknownType          it is neither text nor any kind of file that is known
│   │   ├── UnreadableFile       it is damaged or cut off
│   │   ├── PageLoop             its pages contain each other
│   │   ├── PasswordProtected    it opens with a password only, or is encrypted
│   │   ├── UndecodableText      its character encoding cannot be told for certain
│   │   ├── NoTextFound          its pages are pictures: a scan
│   │   ├── EmptyDocument        there is nothing in it
│   │   ├── TooMuchText          it has more characters than a document may
│   │   ├── ArchiveBomb          it unpacks to far more than its size
│   │   ├── TooComplex           reading it takes too long, or it is nested too deeply
│   │   ├── OutOfMemory          reading it takes more memory than a file may
│   │   ├── ParserCrashed        the process that read it broke down
│   │   └── ParserKilled         the process that read it was ended from outside
│   └── ChunkLimitTooSmall       one character alone has more tokens than a chunk may
├── SetupError
│   ├── EmbeddingUnavailable     the embedding model cannot be loaded
│   ├── RerankerUnavailable      the reranker cannot be loaded, or is none
│   ├── DimensionMismatch        a vector is not as long as those of the index
│   ├── IndexLocked              another process owns the local index folder
│   └── IndexRefused             web or the Qdrant server does not let this process use the index
└── Unavailable
    ├── IndexUnavailable         the index does not answer
    └── ParserUnavailable        this machine cannot start a process to read a file in
"""

from app.core.errors import BadInput, SetupError, Unavailable


class FileRefused(BadInput):
    code = "file_refused"


class UnsupportedType(FileRefused):
    code = "unsupported_type"


class UnknownType(FileRefused):
    code = "unknown_type"


class UnreadableFile(FileRefused):
    code = "unreadable_file"


class PageLoop(FileRefused):
    code = "page_loop"


class PasswordProtected(FileRefused):
    code = "password_protected"


class UndecodableText(FileRefused):
    code = "undecodable_text"


class NoTextFound(FileRefused):
    code = "no_text_found"


class EmptyDocument(FileRefused):
    code = "empty_document"


class TooMuchText(FileRefused):
    code = "too_much_text"


class ArchiveBomb(FileRefused):
    code = "archive_bomb"


class TooComplex(FileRefused):
    code = "too_complex"


class OutOfMemory(FileRefused):
    code = "out_of_memory"


class ParserCrashed(FileRefused):
    code = "parser_crashed"


class ParserKilled(FileRefused):
    code = "parser_killed"


class ChunkLimitTooSmall(BadInput):
    code = "chunk_limit_too_small"


class EmbeddingUnavailable(SetupError):
    code = "embedding_unavailable"


class RerankerUnavailable(SetupError):
    code = "reranker_unavailable"


class DimensionMismatch(SetupError):
    """Vectors of one length met an index of another; `found` and `expected` are numbers of components."""

    code = "dimension_mismatch"

    def __init__(self, found: int, expected: int) -> None:
        super().__init__(
            f"The embedding model makes vectors of {found} numbers, but the index holds vectors of {expected}.",
            "Give web and workers the same PREREAD_EMBEDDING_MODEL, and restart both.",
        )
        self.found = found
        self.expected = expected


class IndexLocked(SetupError):
    code = "index_locked"


class IndexRefused(SetupError):
    code = "index_refused"


class IndexUnavailable(Unavailable):
    code = "index_unavailable"


class ParserUnavailable(Unavailable):
    code = "parser_unavailable"
