"""For every alert: series for which it fires and others for which it does not, as `promtool test rules` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HOUR, DAY = 60, 24 * 60


@dataclass(frozen=True)
class Case:
    """With a sample a minute. Times are minutes."""

    alert: str
    series: Mapping[str, str]
    """By a series' name and labels, its values in promtool's notation."""
    fires_at: int
    for_labels: Mapping[str, str]
    not_yet: int = 0
    """At this time it does not fire yet."""


_STATE = 'mixbayes_round_state{instance="%s", state="%s"}'
_ENDS = 'mixbayes_certificate_expiry_timestamp_seconds{instance="%s", certificate="own"}'
_LEFT, _BUDGET = 'mixbayes_budget_left_rows{instance="%s"}', 'mixbayes_budget_rows{instance="%s"}'
_EPSILON, _AGREED = 'mixbayes_privacy_epsilon_left{instance="%s"}', 'mixbayes_privacy_epsilon_agreed{instance="%s"}'
_MISSING = 'mixbayes_round_missing{instance="%s", hospital="north"}'
_CONTACT = 'mixbayes_peer_last_contact_timestamp_seconds{instance="%s", peer="b"}'

CASES = (
    Case(
        "MixbayesNodeDown",
        {'up{job="mixbayes", instance="x"}': "1 0x20", 'up{job="mixbayes", instance="y"}': "1x21"},
        10,
        {"job": "mixbayes"},
        4,
    ),
    Case("MixbayesPeerSilent", {_CONTACT % "x": "60x60", _CONTACT % "y": "0+60x60"}, 25, {"peer": "b"}, 15),
    Case(
        "MixbayesRoundStuck",
        {_STATE % ("x", "sealed"): "1x90", _STATE % ("y", "sealed"): "1x50 0x40", _STATE % ("z", "serving"): "1x90"},
        70,
        {"state": "sealed"},
        50,
    ),
    Case(
        "MixbayesRoundWaiting",
        {'mixbayes_round_waiting{instance="x"}': "1x60", 'mixbayes_round_waiting{instance="y"}': "1x20 0x40"},
        40,
        {},
        20,
    ),
    Case(
        "MixbayesRoundFailed",
        {_STATE % ("x", "failed"): "1x30", _STATE % ("y", "closed"): "1x30"},
        15,
        {"state": "failed"},
        5,
    ),
    Case(
        "MixbayesHospitalMissing",
        {
            _MISSING % "x": f"1x{2 * DAY}",
            _STATE % ("x", "collecting"): f"1x{2 * DAY}",
            _MISSING % "y": f"1x{2 * DAY}",
            _STATE % ("y", "collecting"): f"0x{2 * DAY}",
        },
        DAY + HOUR,
        {"hospital": "north"},
        HOUR,
    ),
    Case(
        "MixbayesBudgetLow",
        {_LEFT % "x": "99x30", _BUDGET % "x": "1000x30", _LEFT % "y": "100x30", _BUDGET % "y": "1000x30"},
        15,
        {},
        5,
    ),
    Case(
        "MixbayesPrivacyLow",
        {_EPSILON % "x": "0.1x30", _AGREED % "x": "2x30", _EPSILON % "y": "0.5x30", _AGREED % "y": "2x30"},
        15,
        {},
        5,
    ),
    Case(
        "MixbayesCertificateEnds",
        {_ENDS % "x": f"{29 * 86400}x120", _ENDS % "y": f"{31 * 86400}x120"},
        90,
        {"certificate": "own"},
        30,
    ),
    Case(
        "MixbayesCertificateEndsSoon",
        {_ENDS % "x": f"{6 * 86400}x120", _ENDS % "y": f"{8 * 86400}x120"},
        90,
        {"certificate": "own"},
        30,
    ),
    Case(
        "MixbayesDiskLow",
        {
            'mixbayes_state_disk_free_bytes{instance="x"}': f"{2**30 - 1}x30",
            'mixbayes_state_disk_free_bytes{instance="y"}': f"{2**30}x30",
        },
        15,
        {},
        5,
    ),
    Case(
        "MixbayesRefusals",
        {
            'mixbayes_refusals_total{instance="x", code="E207"}': "0+40x60",
            'mixbayes_refusals_total{instance="y", code="E207"}': "0+20x60",
        },
        40,
        {"code": "E207"},
        5,
    ),
    Case(
        "MixbayesAuditTrailFlaw",
        {'mixbayes_audit_findings{instance="x"}': "0x4 1x9", 'mixbayes_audit_findings{instance="y"}': "0x14"},
        10,
        {},
        2,
    ),
    Case(
        "MixbayesMetricsIncomplete",
        {
            'mixbayes_metrics_errors_total{instance="x"}': "0+1x60",
            'mixbayes_metrics_errors_total{instance="y"}': "3x60",
        },
        40,
        {},
        10,
    ),
)
"""It is `x` for which they fire, and nobody else."""


def as_promtool_reads_them(rules: Sequence[Mapping[str, Any]], file: str) -> dict[str, Any]:
    """The document for `promtool test rules`."""
    by_name = {rule["alert"]: rule for rule in rules}
    return {
        "rule_files": [file],
        "evaluation_interval": "1m",
        "tests": [_test(case, by_name[case.alert]) for case in CASES],
    }


def _test(case: Case, rule: Mapping[str, Any]) -> dict[str, Any]:
    series = [{"series": series, "values": values} for series, values in case.series.items()]
    return {"interval": "1m", "input_series": series, "alert_rule_test": list(_looks(case, rule))}


def _looks(case: Case, rule: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    labels = {"instance": "x", **case.for_labels}
    texts = {key: _filled(text, labels) for key, text in rule["annotations"].items()}
    fired = {"exp_labels": labels | rule["labels"], "exp_annotations": texts}
    yield {"eval_time": f"{case.not_yet}m", "alertname": case.alert, "exp_alerts": []}
    yield {"eval_time": f"{case.fires_at}m", "alertname": case.alert, "exp_alerts": [fired]}


def _filled(text: str, labels: Mapping[str, str]) -> str:
    return re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels[found[1]], text)
