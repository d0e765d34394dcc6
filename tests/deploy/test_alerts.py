"""The alert rules ask for nothing that /metrics does not export; `promtool test rules alerts_test.yml` says more."""

import re
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"
PAGE = FOLDER.parents[1] / "docs" / "metrics.md"
RULES = [rule for group in yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
RECORDED = {rule["record"] for rule in RULES if "record" in rule}


def asked_for(expression):
    return set(re.findall(r"(?:\w+:)?preread_\w+(?::\w+)?", expression))


def exported():
    """The metrics that docs/metrics.md lists, which tests/docs holds against the collector."""
    return set(re.findall(r"^\| `(\w+)", PAGE.read_text(), re.MULTILINE))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert") or rule["record"])
def test_every_metric_of_a_rule_is_exported_or_recorded(rule):
    assert asked_for(rule["expr"])
    assert asked_for(rule["expr"]) - RECORDED <= exported()


def test_what_the_service_promises_to_tell_of_is_told_of():
    assert ALERTS.keys() == {
        "PrereadCompressionLow",
        "PrereadDeadLetters",
        "PrereadHitRateDropped",
        "PrereadJobWaits",
        "PrereadMachineMemoryHigh",
        "PrereadNightlyLate",
        "PrereadNightlyMissing",
        "PrereadNightlyNever",
        "PrereadQuestionsRefused",
        "PrereadTierMemoryHigh",
        "PrereadTierDown",
    }
    for name, alert in ALERTS.items():
        assert alert["for"], name
        assert alert["labels"]["severity"] in {"info", "warning", "critical"}
        assert alert["annotations"].keys() == {"summary", "description"}


def test_the_thresholds_are_those_of_the_page():
    assert "< 1.5" in ALERTS["PrereadCompressionLow"]["expr"]
    for name in ("PrereadMachineMemoryHigh", "PrereadTierMemoryHigh"):
        assert ALERTS[name]["expr"].strip().endswith("> 0.9")
    for name, seconds in (("PrereadNightlyLate", "> 26 * 3600"), ("PrereadNightlyMissing", "> 50 * 3600")):
        assert seconds in ALERTS[name]["expr"]
    assert all(f"> {seconds}" in ALERTS["PrereadJobWaits"]["expr"] for seconds in (3600, 86400))


def test_every_alert_is_on_the_page_and_is_tried_by_promtool():
    tried = yaml.safe_load((FOLDER / "alerts_test.yml").read_text())["tests"]
    names = {each["alertname"] for test in tried for each in test["alert_rule_test"] if each["exp_alerts"]}
    assert names == ALERTS.keys()
    assert all(f"`{name}`" in PAGE.read_text() for name in ALERTS)


def test_the_example_scrapes_with_these_rules():
    example = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    assert [FOLDER / name for name in example["rule_files"]] == [FOLDER / "alerts.yml"]
    jobs = {job["job_name"]: job["static_configs"][0]["targets"] for job in example["scrape_configs"]}
    assert jobs == {"preread": ["web:8100"], "preread-engine": ["engine:8101"]}
