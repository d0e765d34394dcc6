"""What the catalog hands out and takes in: frozen, detached from the database. Times are UTC-aware."""

from dataclasses import dataclass
from datetime import datetime

from app.core.catalog.states import DocumentState, Gone, ReadingState, VersionState


@dataclass(frozen=True)
class Document:
    """`generation` grows whenever its work starts anew (new bytes, retry, deletion) and ends every earlier claim.

    Its labels, `collections` and `tags`, are sorted.
    """

    id: str
    tenant: str
    name: str
    title: str
    state: DocumentState
    failure_code: str | None
    failure_message: str | None
    created_at: datetime
    updated_at: datetime
    current_version_id: str | None
    pending_version_id: str | None
    claim_owner: str | None
    claim_until: datetime | None
    generation: int
    collections: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Version:
    """One state of a document's bytes; `title` and `pages` are None until it is parsed."""

    id: str
    document_id: str
    tenant: str
    sha256: str
    media_type: str
    size_bytes: int
    title: str | None
    pages: int | None
    state: VersionState
    created_at: datetime


@dataclass(frozen=True)
class NewChunk:
    """A chunk to be saved; `start` and `end` are character offsets into the document's text."""

    ordinal: int
    text: str
    start: int
    end: int
    page: int | None
    heading: str | None
    token_ids: list[int]
    ids_hash: str


@dataclass(frozen=True)
class ChunkRecord:
    """A saved chunk. Its id follows from the version and the ordinal, so saving again gives the same ids."""

    id: str
    version_id: str
    document_id: str
    tenant: str
    document_name: str
    document_title: str
    ordinal: int
    text: str
    start: int
    end: int
    page: int | None
    heading: str | None
    token_ids: list[int]
    ids_hash: str


@dataclass(frozen=True)
class WantedReading:
    """A reading that is to be made. Hashes and key are hex; `conditioning_hash` and `profile_id` are "" if none.

    `passage_version_id` is the version whose text the passage is; None: there is no passage, or it is nobody's text.
    """

    tenant: str
    key: str
    ids_hash: str
    model_fingerprint: str
    preamble_hash: str
    reading: str
    conditioning_hash: str = ""
    profile_id: str = ""
    passage_version_id: str | None = None


@dataclass(frozen=True)
class ReadingRecord:
    """What became of one reading; `n_tokens` and `bytes` are 0 until it is ready.

    `gone`: what became of its blob, as far as was noted, and `error_code`: of the last try to make it; both only until
    it is ready again. `bytes_in_16_bits`: what its KV takes in 16 bits a value; None: not known.
    """

    tenant: str
    key: str
    ids_hash: str
    model_fingerprint: str
    preamble_hash: str
    conditioning_hash: str
    profile_id: str
    reading: str
    state: ReadingState
    n_tokens: int
    bytes: int
    error: str | None
    created_at: datetime
    updated_at: datetime
    passage_version_id: str | None = None
    gone: Gone | None = None
    error_code: str | None = None
    bytes_in_16_bits: int | None = None


@dataclass(frozen=True)
class Tombstone:
    """Over a key whose blobs a deletion, a new version or a shared chunk wanted gone.

    `document_id`: the document whose KV or text it was; "" if of none that is known. `forgotten_at`: when the engine
    had emptied its memory of it. `revived_at`: when it was wanted anew. `purged_at`: when nothing was left nor could
    come.
    """

    tenant: str
    key: str
    document_id: str
    deleted_at: datetime
    forgotten_at: datetime | None
    revived_at: datetime | None
    purged_at: datetime | None

    @property
    def stands(self) -> bool:
        """Whether what lies under the key must not be used."""
        return self.revived_at is None and self.purged_at is None


@dataclass(frozen=True)
class CountedReadings:
    """A chunk is pre-read when all these readings of it are ready; only those of a model and preamble, unless None."""

    readings: tuple[str, ...] = ("opening",)
    model_fingerprint: str | None = None
    preamble_hash: str | None = None


@dataclass(frozen=True)
class LookupCount:
    """`detail` is the tier of hits, or the reason of misses."""

    detail: str
    chunks: int
    tokens: int


@dataclass(frozen=True)
class LookupTotals:
    """Chunk lookups: `hits` by tier and `misses` by reason, each ordered by `detail`."""

    hits: tuple[LookupCount, ...]
    misses: tuple[LookupCount, ...]

    @property
    def hit_chunks(self) -> int:
        return sum(count.chunks for count in self.hits)

    @property
    def miss_chunks(self) -> int:
        return sum(count.chunks for count in self.misses)

    @property
    def lookups(self) -> int:
        return self.hit_chunks + self.miss_chunks

    @property
    def tokens_reused(self) -> int:
        return sum(count.tokens for count in self.hits)

    @property
    def hit_rate(self) -> float | None:
        """Share of looked-up chunks that hit; None if nothing was looked up."""
        return self.hit_chunks / self.lookups if self.lookups else None

    @property
    def token_hit_rate(self) -> float | None:
        """Share of looked-up tokens that hit; None if nothing was looked up."""
        tokens = self.tokens_reused + sum(count.tokens for count in self.misses)
        return self.tokens_reused / tokens if tokens else None


@dataclass(frozen=True)
class Reuse:
    """What chunk KV did for one answer.

    `load_seconds` were spent on loading, of which `loaded_bytes` from tiers that in 16 bits a value would have been
    `loaded_bytes_in_16_bits`. Computing `timed_tokens` took `timed_seconds`; both 0 where that was not measured.
    """

    reused_tokens: int = 0
    fresh_tokens: int = 0
    load_seconds: float = 0.0
    loaded_bytes: int = 0
    loaded_bytes_in_16_bits: int = 0
    timed_tokens: int = 0
    timed_seconds: float = 0.0


@dataclass(frozen=True)
class Saving:
    """What chunk KV did for all answers: sums of `Reuse`, and the estimate of the seconds that it saved."""

    reused_tokens: int = 0
    fresh_tokens: int = 0
    saved_seconds: float = 0.0
    load_seconds: float = 0.0
    loaded_bytes: int = 0
    loaded_bytes_in_16_bits: int = 0


@dataclass(frozen=True)
class KvAtRest:
    """Of ready readings: `bytes` of all blobs, and of those whose size in 16 bits is known both sizes."""

    bytes: int = 0
    known_bytes: int = 0
    known_bytes_in_16_bits: int = 0

    @property
    def compression_ratio(self) -> float | None:
        """Bytes in 16 bits a value ÷ bytes at rest; None: no data."""
        return self.known_bytes_in_16_bits / self.known_bytes if self.known_bytes else None


@dataclass(frozen=True)
class DocumentPage:
    """One page of a list; `total` counts all pages' documents, `following` leads to the next page if there is one."""

    items: tuple[Document, ...]
    total: int
    following: str | None = None


@dataclass(frozen=True)
class DocumentRow:
    """A document with the numbers of its current version, or of its pending one where none is current."""

    document: Document
    media_type: str
    size_bytes: int
    pages: int | None
    chunks: int
    tokens: int
    chunks_ready: int
    kv_bytes: int
    hits: int
    misses: int


@dataclass(frozen=True)
class DocumentTable:
    """One page of rows; `total` counts all pages' documents, `following` leads to the next page if there is one."""

    rows: tuple[DocumentRow, ...]
    total: int
    following: str | None = None


@dataclass(frozen=True)
class ChunkCounts:
    """Chunks of all published versions of a tenant, and how many of them are pre-read."""

    chunks: int
    ready: int
