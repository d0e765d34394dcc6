"""Proof that a deleted document has left nothing: every place that held something of it is asked, by key and by id."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.core.catalog import Catalog, Document, DocumentNotFound, DocumentState, Tombstone
from app.core.errors import PrereadError
from kvstore.errors import TierDown
from kvstore.remains import behind_another_passage, remaining
from kvstore.staging import is_staged
from kvstore.tiers.base import Tier
from workers.files import DocumentFiles


@dataclass(frozen=True)
class Remains:
    """How much one place still holds; `left` is None where it cannot tell, and `problem` says why."""

    place: str
    left: int | None
    problem: str = ""


@dataclass(frozen=True)
class Proof:
    """`state` is None once the document's rows are gone. `keys`: of all its chunk KV, `kept` of them because another
    document has the same chunk, `waiting` until every place has answered."""

    document_id: str
    state: DocumentState | None
    deleted_at: datetime | None
    keys: int
    kept: int
    waiting: int
    places: tuple[Remains, ...]

    @property
    def lives(self) -> bool:
        return self.state not in (None, DocumentState.DELETING)

    @property
    def proven(self) -> bool:
        return not self.lives and all(place.left == 0 for place in self.places)


@dataclass(frozen=True)
class Places:
    """`tiers` are opened one by one; `vectors` counts a document's in the index, and may raise any PrereadError."""

    catalog: Catalog
    tiers: Mapping[str, Callable[[], Tier]]
    vectors: Callable[[str], int]
    files: DocumentFiles
    staging_dir: Path


def prove(tenant: str, document_id: str, places: Places) -> Proof:
    """Ask every place. Raises: DocumentNotFound where no trace of the document or its deletion is known."""
    catalog = places.catalog
    document = _document(catalog, tenant, document_id)
    tombstones = catalog.tombstones_of(tenant, document_id)
    if document is not None and document.state is not DocumentState.DELETING:
        return Proof(document_id, document.state, None, 0, 0, 0, ())
    if document is None and not tombstones:
        raise DocumentNotFound(
            f"Nothing is known of a document {document_id}.",
            "It was never here, or its deletion was finished more than 30 days ago. `preread ls` shows what is there.",
        )
    keys = {tombstone.key for tombstone in tombstones if tombstone.key}
    standing = {tombstone.key for tombstone in catalog.standing_tombstones(tenant, keys)}
    kept = {
        reading.key: reading.conditioning_hash
        for reading in catalog.readings_under(tenant, keys)
        if reading.key not in standing
    }
    gone = keys - kept.keys()
    return Proof(
        document_id,
        None if document is None else document.state,
        min((tombstone.deleted_at for tombstone in tombstones if not tombstone.key), default=None),
        len(keys),
        len(kept),
        len(standing),
        (
            Remains("catalog", int(document is not None)),
            _index(places, document_id),
            Remains("files", places.files.count(tenant, document_id)),
            Remains("staging", sum(is_staged(places.staging_dir, key) for key in gone)),
            _engine(tombstones),
            *(_tier(name, make, tenant, gone, kept) for name, make in places.tiers.items()),
        ),
    )


def _document(catalog: Catalog, tenant: str, document_id: str) -> Document | None:
    try:
        return catalog.get_document(tenant, document_id)
    except DocumentNotFound:
        return None


def _index(places: Places, document_id: str) -> Remains:
    try:
        return Remains("index", places.vectors(document_id))
    except PrereadError as error:
        return Remains("index", None, f"{error.message} {error.hint}")


def _engine(tombstones: Collection[Tombstone]) -> Remains:
    """Its memory and prefix cache cannot be asked, but it answers once it has emptied them."""
    deaf = sum(tombstone.stands and tombstone.forgotten_at is None for tombstone in tombstones)
    problem = f"It has not answered yet for {deaf} keys; it is asked again until it does."
    return Remains("engine", None, problem) if deaf else Remains("engine", 0)


def _tier(
    name: str, make: Callable[[], Tier], tenant: str, gone: Collection[str], kept: Mapping[str, str]
) -> Remains:
    """What it holds of `gone`, and of the blobs kept for others those behind another passage than these want."""
    try:
        tier = make()
        return Remains(name, len(remaining(tier, tenant, gone)) + len(behind_another_passage(tier, tenant, kept)))
    except TierDown as error:
        return Remains(name, None, f"{error.message} {error.hint}")
