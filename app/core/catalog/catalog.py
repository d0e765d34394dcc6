"""The catalog: everything the database knows, behind one object."""

from app.core.catalog.attempts import Attempts
from app.core.catalog.audit import AuditLog
from app.core.catalog.chunks import Chunks
from app.core.catalog.claims import Claims
from app.core.catalog.compaction import Compaction
from app.core.catalog.documents import Documents
from app.core.catalog.history import History
from app.core.catalog.jobs import Jobs
from app.core.catalog.keys import Keys
from app.core.catalog.known import Known
from app.core.catalog.labels import Labelling
from app.core.catalog.lookups import Lookups
from app.core.catalog.overview import Overview
from app.core.catalog.readings import Readings
from app.core.catalog.runs import Runs
from app.core.catalog.savings import Savings
from app.core.catalog.schema import Schema
from app.core.catalog.sessions import Sessions
from app.core.catalog.synced import SyncedFiles
from app.core.catalog.syncs import Syncs
from app.core.catalog.tombstones import Tombstones
from app.core.catalog.users import Users
from app.core.catalog.versions import Versions


class Catalog(
    Schema, Documents, Claims, Versions, Chunks, Readings, Lookups, Savings, Overview, Tombstones, Attempts, Jobs, Runs,
    Compaction, History, Known, Labelling, SyncedFiles, Syncs, Keys, Users, Sessions, AuditLog,
):  # fmt: skip
    """Documents, versions, chunks, readings, jobs, runs, counters, keys, users of every tenant, in SQLite or Postgres.

        catalog = Catalog("sqlite:////var/lib/preread/preread.db")
        catalog.migrate()
        document, created = catalog.add_document("default", "travel.md", sha256, "text/markdown", size)

    Each method is one short transaction and returns frozen records.
    """
