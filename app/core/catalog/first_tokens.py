"""How soon answers began, by whether their chunks were found: a histogram in the same roll-ups as the lookups."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.core.catalog.database import Database
from app.core.catalog.request_models import StoredFirstToken
from app.core.catalog.upsert import upsert

BOUNDS_MS = (50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200)
"""Upper bounds of the histogram's buckets."""

_ABOVE = 0


@dataclass(frozen=True)
class FirstToken:
    """`outcome`: hit where all of the answer's chunks were found, miss where none was, else partial."""

    outcome: str
    seconds: float


@dataclass(frozen=True)
class FirstTokens:
    """Answers by the bound that they began within, each counted once; `above`: those that began later than all."""

    within_ms: Mapping[int, int]
    above: int
    seconds: float


class FirstTokenCounts(Database):
    def first_tokens(self, tenant: str) -> dict[str, FirstTokens]:
        """By outcome, sums over all time."""
        columns = StoredFirstToken.outcome, StoredFirstToken.within_ms
        sums = func.sum(StoredFirstToken.answers), func.sum(StoredFirstToken.microseconds)
        query = select(*columns, *sums).where(StoredFirstToken.tenant == tenant).group_by(*columns)
        with self._read() as session:
            rows = [(str(outcome), int(ms), int(n), int(us)) for outcome, ms, n, us in session.execute(query)]
        return {
            outcome: FirstTokens(
                within_ms={ms: n for each, ms, n, _ in rows if each == outcome and ms != _ABOVE},
                above=sum(n for each, ms, n, _ in rows if each == outcome and ms == _ABOVE),
                seconds=sum(us for each, _, _, us in rows if each == outcome) / 1e6,
            )
            for outcome in {row[0] for row in rows}
        }


def add_first_token(session: Session, tenant: str, bucket: datetime, first: FirstToken) -> None:
    """Add one answer to its bucket's counts."""
    insert = upsert(session, StoredFirstToken)
    session.execute(
        insert.on_conflict_do_update(
            index_elements=["tenant", "bucket_start", "outcome", "within_ms"],
            set_={
                "answers": StoredFirstToken.answers + insert.excluded.answers,
                "microseconds": StoredFirstToken.microseconds + insert.excluded.microseconds,
            },
        ),
        {
            "tenant": tenant,
            "bucket_start": bucket,
            "outcome": first.outcome,
            "within_ms": next((ms for ms in BOUNDS_MS if 1000 * first.seconds <= ms), _ABOVE),
            "answers": 1,
            "microseconds": round(1e6 * first.seconds),
        },
    )
