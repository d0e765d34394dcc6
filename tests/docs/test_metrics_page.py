"""docs/metrics.md lists what /metrics exports, every miss reason, and nothing else."""

import re
from types import SimpleNamespace

from markdown_pages import ROOT

from app.core.catalog import Catalog, RunKind, RunState, WantedReading
from app.core.settings import Settings
from app.web.admission import Admission
from app.web.metrics import ServiceCollector
from kvstore.reasons import MissReason
from workers.context import build_store

PAGE = (ROOT / "docs" / "metrics.md").read_text()


def rows(heading):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_every_metric_has_a_row(tmp_path):
    settings = Settings(_env_file=None, state_dir=tmp_path)
    catalog = Catalog(settings.effective_database_url)
    catalog.migrate()
    catalog.want_preamble(WantedReading("default", "a" * 64, "b" * 64, "c" * 64, "d" * 64, "opening"))
    catalog.reading_ready("default", "a" * 64, 1, 1, None, 5)
    run = catalog.start_run("default", RunKind.NIGHTLY, [], None)
    catalog.end_run(run.id, RunState.DONE)
    reindexing = SimpleNamespace(left=lambda: 0)
    store, admission = build_store(settings), Admission(settings)
    services = SimpleNamespace(
        settings=settings, catalog=catalog, store=store, reindexing=reindexing, admission=admission
    )
    families = list(ServiceCollector(services, "default").collect())
    catalog.close()
    assert {family.name + ("_total" if family.type == "counter" else "") for family in families} == set(rows("Metrics"))
    assert all(family.documentation.endswith(".") for family in families)


def test_every_miss_reason_has_a_row():
    assert set(rows("Miss reasons")) == set(MissReason)
