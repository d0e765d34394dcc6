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

from app.core.codes import Code
from app.core.errors import BadInput, SetupError, Unavailable


class FileRefused(BadInput):
    code = Code.FILE_REFUSED


class UnsupportedType(FileRefused):
    code = Code.UNSUPPORTED_TYPE


class UnknownType(FileRefused):
    code = Code.UNKNOWN_TYPE


class UnreadableFile(FileRefused):
    code = Code.UNREADABLE_FILE


class PageLoop(FileRefused):
    code = Code.PAGE_LOOP


class PasswordProtected(FileRefused):
    code = Code.PASSWORD_PROTECTED


class UndecodableText(FileRefused):
    code = Code.UNDECODABLE_TEXT


class NoTextFound(FileRefused):
    code = Code.NO_TEXT_FOUND


class EmptyDocument(FileRefused):
    code = Code.EMPTY_DOCUMENT


class TooMuchText(FileRefused):
    code = Code.TOO_MUCH_TEXT


class ArchiveBomb(FileRefused):
    code = Code.ARCHIVE_BOMB


class TooComplex(FileRefused):
    code = Code.TOO_COMPLEX


class OutOfMemory(FileRefused):
    code = Code.OUT_OF_MEMORY


class ParserCrashed(FileRefused):
    code = Code.PARSER_CRASHED


class ParserKilled(FileRefused):
    code = Code.PARSER_KILLED


class ChunkLimitTooSmall(BadInput):
    code = Code.CHUNK_LIMIT_TOO_SMALL


class EmbeddingUnavailable(SetupError):
    code = Code.EMBEDDING_UNAVAILABLE


class RerankerUnavailable(SetupError):
    code = Code.RERANKER_UNAVAILABLE


class DimensionMismatch(SetupError):
    """Vectors of one length met an index of another; `found` and `expected` are numbers of components."""

    code = Code.DIMENSION_MISMATCH

    def __init__(self, found: int, expected: int) -> None:
        super().__init__(
            f"The embedding model makes vectors of {found} numbers, but the index holds vectors of {expected}.",
            "Give web and workers the same PREREAD_EMBEDDING_MODEL, and restart both.",
        )
        self.found = found
        self.expected = expected


class IndexLocked(SetupError):
    code = Code.INDEX_LOCKED


class IndexRefused(SetupError):
    code = Code.INDEX_REFUSED


class IndexUnavailable(Unavailable):
    code = Code.INDEX_UNAVAILABLE


class ParserUnavailable(Unavailable):
    code = Code.PARSER_UNAVAILABLE
