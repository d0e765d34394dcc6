"""`preread verify`: read all chunk KV, compare it with the catalog, and repair what is amiss."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from app.cli.console import out
from app.cli.purged import show_proof
from app.cli.verify_view import MissingResult, TierResult, as_object, missing_line, tier_line
from app.core.settings import Settings, get_settings

if TYPE_CHECKING:
    from app.core.catalog import Catalog
    from kvstore.tiers.base import Tier
    from kvstore.verification import Judge
    from workers.missing import Fates


def verify(
    repair: Annotated[bool, typer.Option(help="Remove what is amiss, and have what is missing pre-read.")] = False,
    purged: Annotated[
        str, typer.Option(metavar="ID", help="Prove instead that this deleted document has left nothing anywhere.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Read all chunk KV in the shared tiers; exit code 1 if something is amiss and is not repaired.

    With --purged, exit code 0 only if every place answers and none holds anything of the document. Preread may run
    meanwhile, or not.
    """
    settings = get_settings()
    if purged:
        if repair:
            raise typer.BadParameter("--purged only tells; what is left is removed by itself.")
        with opened_catalog(settings) as catalog:
            show_proof(settings, catalog, purged, as_json=as_json)
        return
    results, missing = verified(settings, repair=repair)
    if as_json:
        typer.echo(json.dumps(as_object(results, missing)))
    else:
        for line in [*map(tier_line, results), missing_line(missing)]:
            out.print(escape(line))
    if not (missing.well and all(result.well for result in results)):
        raise typer.Exit(1)


def verified(settings: Settings, *, repair: bool) -> tuple[list[TierResult], MissingResult]:
    """Raises SchemaError where there is no catalog to compare with; BadInput for an encryption key that is none."""
    from kvstore.codecs.codecs import Codecs
    from kvstore.errors import TierDown
    from kvstore.lookup import longest_life
    from kvstore.tiers.configured import TierOptions, tier_makers
    from kvstore.verification import Judge
    from workers.missing import Fates, is_known

    makers = tier_makers(TierOptions.from_settings(settings), settings.kv_encryption_key.get_secret_value())
    tiers: list[Tier] = []
    results = []
    with opened_catalog(settings) as catalog, Progress(console=Console(stderr=True), transient=True) as progress:
        judge = Judge(Codecs.beside(settings.profiles_dir), partial(is_known, catalog))
        for name, make in makers.items():
            try:
                tier = make()
                results.append(_verified_tier(tier, judge, progress, repair=repair))
                tiers.append(tier)
            except TierDown as error:
                results.append(TierResult(name, problem=f"{error.message} {error.hint}"))
        if len(tiers) < len(makers):
            return results, MissingResult(None)
        try:
            amiss = [judgement for result in results if result.examined for judgement in result.examined.amiss]
            fates = Fates(amiss, datetime.now(UTC), longest_life(settings))
            return results, _compared(catalog, tiers, fates if repair else None)
        except TierDown:
            return results, MissingResult(None)


@contextmanager
def opened_catalog(settings: Settings) -> "Iterator[Catalog]":
    """Raises SchemaError where Preread has not run yet, or another version of it has."""
    from app.core.catalog import Catalog, SchemaError

    start = "Starting Preread makes it or brings it up to date: preread up"
    if not settings.database_url and not (settings.state_dir / "preread.db").exists():
        raise SchemaError(f"There is no database in {settings.state_dir} yet.", start)
    catalog = Catalog(settings.effective_database_url)
    try:
        if not catalog.is_current():
            raise SchemaError("The database is of another version of Preread.", start)
        yield catalog
    finally:
        catalog.close()


def _verified_tier(tier: "Tier", judge: "Judge", progress: Progress, *, repair: bool) -> TierResult:
    from kvstore.verification import examine, remove

    bar = progress.add_task(tier.name, total=tier.stats().entries)
    found = examine(tier, judge, lambda: progress.advance(bar))
    if not repair or not found.amiss:
        return TierResult(tier.name, found)
    if found.doubtful:
        return TierResult(tier.name, found, doubtful=True)
    return TierResult(tier.name, found, remove(tier, judge, found.amiss))


def _compared(catalog: "Catalog", tiers: "Sequence[Tier]", fates: "Fates | None") -> MissingResult:
    """With `fates` what is missing is made again."""
    from workers.missing import make_again, missing_readings

    count, documents = 0, set[str]()
    for readings in missing_readings(catalog, tiers):
        count += len(readings)
        if fates is not None:
            documents |= make_again(catalog, readings, fates)
    return MissingResult(count, None if fates is None else len(documents))
