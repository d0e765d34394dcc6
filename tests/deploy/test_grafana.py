"""The dashboard asks for nothing that /metrics does not export."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
OF_PROMETHEUS = {"up"}
# What of a query is no metric: PromQL's words, labels in braces and behind by, texts, durations.
WORDS = {"by", "sum", "max", "min", "rate", "increase", "histogram_quantile", "time"}
NO_METRIC = r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)'


def exported():
    """The metrics that docs/metrics.md lists, which tests/docs holds against the collector; histograms by series."""
    page = (ROOT / "docs" / "metrics.md").read_text()
    for name, meaning in re.findall(r"^\| `(\w+)` \|[^|]*\|[^|]*\| ([^|]*)", page, re.MULTILINE):
        yield from (
            (f"{name}{end}" for end in ("_bucket", "_count", "_sum")) if meaning.startswith("histogram") else [name]
        )


def asked_for(expression):
    return set(re.findall(r"[a-z_]\w*", re.sub(NO_METRIC, "", expression))) - WORDS


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_every_metric_of_a_panel_is_exported(panel):
    for target in panel["targets"]:
        assert asked_for(target["expr"])
        assert asked_for(target["expr"]) <= {*exported(), *OF_PROMETHEUS}


def test_the_data_source_and_the_tenant_are_chosen_by_whoever_looks():
    variables = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
    assert variables.keys() == {"datasource", "tenant"}
    assert variables["datasource"]["type"] == "datasource"
    for panel in PANELS:
        assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}
    of_tenants = [target["expr"] for panel in PANELS for target in panel["targets"] if "{{" not in target["expr"]]
    for expression in of_tenants:
        for name in asked_for(expression) - OF_PROMETHEUS:
            if not re.match(r"preread_(tier|machine)_", name):
                assert 'tenant=~"$tenant"' in expression, name


def test_several_webs_are_counted_once():
    """Each of them tells the same counters."""
    for panel in PANELS:
        for target in panel["targets"]:
            assert re.search(r"\b(max|min) by", target["expr"]), target["expr"]


def test_it_shows_what_an_operator_asks_first():
    everything = json.dumps(PANELS)
    for name in (
        "preread_lookup_chunks_total", "preread_first_token_seconds_bucket", "preread_tier_up", "preread_jobs",
        "preread_documents", "preread_nightly_complete", "up{",
    ):  # fmt: skip
        assert name in everything


def test_panels_lie_side_by_side():
    taken = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
