"""A database with many documents, made without reading any."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import create_engine, insert, text

from app.core.catalog import DocumentState, LabelKind
from app.core.catalog.library_models import StoredLabel
from app.core.catalog.models import Base, StoredChunk, StoredDocument, StoredVersion
from app.core.catalog.states import VersionState
from app.core.catalog.text import folded

TENANT = "default"
RARE_TAG, LARGE_COLLECTION, COMMON_TAG = "rare", "collection 0", "tag 1"

_START = datetime(2026, 1, 1, tzinfo=UTC)
_BATCH = 2000
_COLLECTIONS, _TAGS, _RARE_EVERY, _FAILED_EVERY = 3, 40, 1000, 50
_TOKENS = 400
_TEXT = "The quick brown fox jumps over the lazy dog, and the report says so. " * 25

Rows = dict[type[Base], list[dict[str, Any]]]


def fill(database_url: str, documents: int, chunks: int) -> None:
    """Documents, each with a published version of so many chunks of about 1,700 characters, and with labels.

    A third of them is in each collection, a fortieth has each common tag, a thousandth the rare one; one in fifty has
    failed.
    """
    engine = create_engine(database_url)
    for first in range(0, documents, _BATCH):
        rows: Rows = {StoredDocument: [], StoredVersion: [], StoredChunk: [], StoredLabel: []}
        for number in range(first, min(first + _BATCH, documents)):
            _document(rows, number, chunks)
        with engine.begin() as connection:
            for table, values in rows.items():
                if values:
                    connection.execute(insert(table), values)
    if engine.dialect.name == "postgresql":  # which does so by itself a little later, and plans badly until then
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
    engine.dispose()


def _document(rows: Rows, number: int, chunks: int) -> None:
    document_id, version_id = f"doc_{sha256(str(number).encode()).hexdigest()[:20]}", f"ver_{number:020d}"
    name, title = f"department {number % 97}/report {number:07d}.pdf", f"Quarterly report no. {number}, Überblick"
    created_at = _START + timedelta(seconds=number)
    state = DocumentState.FAILED if number % _FAILED_EVERY == 0 else DocumentState.PREREAD
    rows[StoredDocument].append(
        {
            "id": document_id, "tenant": TENANT, "name": name, "title": title, "state": state,
            "created_at": created_at, "updated_at": created_at, "generation": 1, "sought": folded(f"{name}\n{title}"),
        }
    )  # fmt: skip
    rows[StoredVersion].append(
        {
            "id": version_id, "document_id": document_id, "tenant": TENANT, "sha256": f"{number:064x}",
            "media_type": "application/pdf", "size_bytes": 100_000, "title": title, "pages": 3,
            "state": VersionState.CURRENT, "created_at": created_at,
        }
    )  # fmt: skip
    for ordinal in range(chunks):
        rows[StoredChunk].append(
            {
                "id": f"chk_{number:020d}_{ordinal}", "version_id": version_id, "document_id": document_id,
                "tenant": TENANT, "ordinal": ordinal, "text": _TEXT, "start": 0, "end": len(_TEXT), "page": 1,
                "heading": None, "token_ids": bytes(4 * _TOKENS), "n_tokens": _TOKENS,
                "ids_hash": f"{number * chunks + ordinal:064x}",
            }
        )  # fmt: skip
    rows[StoredLabel] += [
        {"document_id": document_id, "kind": kind, "label": label, "tenant": TENANT, "created_at": created_at}
        for kind, label in _labels(number)
    ]


def _labels(number: int) -> Iterator[tuple[LabelKind, str]]:
    yield LabelKind.COLLECTION, f"collection {number % _COLLECTIONS}"
    yield LabelKind.TAG, f"tag {number % _TAGS}"
    if number % _RARE_EVERY == 0:
        yield LabelKind.TAG, RARE_TAG
