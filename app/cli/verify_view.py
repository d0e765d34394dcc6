"""What `preread verify` found, as lines and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.filesize import decimal

if TYPE_CHECKING:
    from kvstore.verification import Examined

_DOUBT = (
    "nothing was removed, because not one entry is whole. Check that PREREAD_STATE_DIR, PREREAD_DATABASE_URL and "
    "PREREAD_KV_ENCRYPTION_KEY are those of the other processes. If they are, empty the tier by hand."
)


@dataclass(frozen=True)
class TierResult:
    """`examined` is None where the tier did not answer, and `problem` says why. `removed`: how many entries, None where
    none was to be. `doubtful`: repair was refused."""

    name: str
    examined: "Examined | None" = None
    removed: int | None = None
    doubtful: bool = False
    problem: str = ""

    @property
    def well(self) -> bool:
        return self.examined is not None and (self.removed is not None or not self.examined.amiss)


@dataclass(frozen=True)
class MissingResult:
    """`readings` that are in no tier, None where a tier did not answer; `documents` that wait to be pre-read for it,
    None where none was to."""

    readings: int | None
    documents: int | None = None

    @property
    def well(self) -> bool:
        return self.readings == 0 or (self.readings is not None and self.documents is not None)


def tier_line(result: TierResult) -> str:
    found = result.examined
    if found is None:
        return f"{result.name}: {result.problem}"
    counts = ", ".join(f"{count} {verdict}" for verdict, count in _counts(found).items())
    line = f"{result.name}: {found.entries} entries, {decimal(found.nbytes)} read: {counts}"
    if result.doubtful:
        return f"{line}; {_DOUBT}"
    return line if result.removed is None else f"{line}; {result.removed} removed"


def missing_line(missing: MissingResult) -> str:
    if missing.readings is None:
        return "missing: not known while a tier does not answer"
    line = f"missing: {missing.readings} readings"
    return line if not missing.documents else f"{line}; {missing.documents} documents will be pre-read again"


def as_object(results: Sequence[TierResult], missing: MissingResult) -> dict[str, Any]:
    return {"tiers": [_tier_object(result) for result in results], "missing": asdict(missing)}


def _tier_object(result: TierResult) -> dict[str, Any]:
    found = result.examined
    if found is None:
        return {"name": result.name, "problem": result.problem}
    return {
        "name": result.name,
        "entries": found.entries,
        "bytes": found.nbytes,
        **_counts(found),
        "removed": result.removed,
        "problem": _DOUBT if result.doubtful else "",
        "amiss": [
            {"tenant": each.entry.tenant, "key": each.entry.key, "verdict": each.verdict, "reason": each.reason}
            for each in found.amiss
        ],
    }


def _counts(found: "Examined") -> dict[str, int]:
    from kvstore.verification import Verdict

    return {str(verdict): found.verdicts[verdict] for verdict in Verdict}
