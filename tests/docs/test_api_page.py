"""docs/api.md is what the code says: every route, event and code, with the pages on settings and metrics linked."""

import importlib.util
import re

import pytest
from markdown_pages import ROOT, links

from app.core.codes import Code
from app.web.stream import EVENT_NAMES

PAGE = ROOT / "docs" / "api.md"
SCRIPT = ROOT / "scripts" / "api_page.py"


@pytest.fixture(scope="module")
def written():
    spec = importlib.util.spec_from_file_location("api_page", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(written):
    assert PAGE.read_text() == written.page(), "run: .venv/bin/python scripts/api_page.py"


def test_every_code_has_a_row_with_a_meaning():
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]+) \|", PAGE.read_text().split("## Codes\n")[1], re.MULTILINE)
    assert dict(rows) == {code: code.meaning for code in Code}


def test_every_event_has_a_row():
    events = PAGE.read_text().split("## Events of a stream\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", events, re.MULTILINE) == list(EVENT_NAMES.values())


def test_settings_and_metrics_are_a_click_away():
    assert {"settings.md", "metrics.md", "logs.md", "tracing.md"} <= set(links(PAGE))


def test_every_link_within_the_page_leads_somewhere():
    headings = re.findall(r"^#+ .*", PAGE.read_text(), re.MULTILINE)
    anchors = {heading.strip("`# ").lower().replace(" ", "-") for heading in headings}
    assert {link[1:] for link in links(PAGE) if link.startswith("#")} <= anchors
