"""docs/settings.md is what the code says."""

import importlib.util

from markdown_pages import ROOT

from app.core.settings import Settings


def written_page():
    spec = importlib.util.spec_from_file_location("settings_page", ROOT / "scripts" / "settings_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.page()


def test_the_page_is_up_to_date():
    page = (ROOT / "docs" / "settings.md").read_text()
    assert page == written_page(), "run: .venv/bin/python scripts/settings_page.py"


def test_every_setting_has_a_row_with_a_meaning():
    rows = [row.split(" | ") for row in written_page().splitlines() if row.startswith("| `PREREAD_")]
    named = sorted(row[0].strip("| `") for row in rows)
    assert named == sorted(f"PREREAD_{name.upper()}" for name in Settings.model_fields)
    assert all(row[-1].strip(" |") for row in rows)
