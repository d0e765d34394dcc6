"""`preread verify --purged`: prove that a deleted document has left nothing."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from app.cli.client import ApiClient
from app.cli.console import out
from app.cli.errors import NotRunning
from app.cli.state_lock import holder_of
from app.core.settings import Settings

if TYPE_CHECKING:
    from app.core.catalog import Catalog
    from workers.proof import Proof


def show_proof(settings: Settings, catalog: "Catalog", document_id: str, *, as_json: bool) -> None:
    """Print it; exit code 1 unless it is proven. Raises DocumentNotFound."""
    from kvstore.tiers.configured import TierOptions, tier_makers
    from workers.files import DocumentFiles
    from workers.proof import Places, prove

    options = replace(TierOptions.from_settings(settings), read_only=True)
    places = Places(
        catalog,
        tier_makers(options, settings.kv_encryption_key.get_secret_value()),
        lambda document: _vectors(settings, document),
        DocumentFiles(settings.files_dir),
        settings.effective_staging_dir,
    )
    proof = prove(settings.tenant, document_id, places)
    if as_json:
        typer.echo(json.dumps(as_object(proof)))
    else:
        for line in lines(proof):
            out.print(escape(line))
    if not proof.proven:
        raise typer.Exit(1)


def lines(proof: "Proof") -> list[str]:
    if proof.lives:
        return [f"{proof.document_id} lives ({proof.state}). Delete it first: preread rm {proof.document_id}"]
    when = f"{proof.deleted_at:%Y-%m-%d %H:%M} UTC" if proof.deleted_at else "at a time that is not known"
    counts = f"{proof.keys} keys, {proof.kept} kept for other documents, {proof.waiting} still watched"
    told = [f"{proof.document_id}: deleted {when}; {counts}"]
    for place in proof.places:
        held = "nothing" if place.left == 0 else f"{place.left} left"
        told.append(f"{place.place}: {place.problem if place.left is None else held}")
    return [*told, "proven: nothing is left" if proof.proven else "not proven"]


def as_object(proof: "Proof") -> dict[str, Any]:
    return {
        "document_id": proof.document_id,
        "proven": proof.proven,
        "state": proof.state,
        "deleted_at": proof.deleted_at.isoformat() if proof.deleted_at else None,
        "keys": proof.keys,
        "kept": proof.kept,
        "waiting": proof.waiting,
        "places": [{"name": place.place, "left": place.left, "problem": place.problem} for place in proof.places],
    }


def _vectors(settings: Settings, document_id: str) -> int:
    """Through web where it runs: in embedded mode nobody else may open the folder."""
    try:
        with ApiClient.from_settings(settings) as client:
            return client.vectors(document_id)
    except NotRunning:
        if holder_of(settings.state_dir):
            raise
    if not settings.qdrant_url and not settings.qdrant_dir.exists():
        return 0
    from retrieval.configured_index import open_index
    from retrieval.embedding import Embedder

    index = open_index(settings, Embedder(settings.embedding_model).dimension)
    try:
        return index.count(settings.tenant, document_id)
    finally:
        index.close()
