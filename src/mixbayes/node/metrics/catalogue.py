"""Every metric of a node: its name, what kind of number it is, its labels, and which nodes have it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """As Prometheus calls them. An exported summary has two series: NAME_count and NAME_sum."""

    GAUGE = "gauge"
    COUNTER = "counter"
    SUMMARY = "summary"


GAUGE, COUNTER, SUMMARY = Kind


class Which(StrEnum):
    """The nodes that have a metric."""

    EVERY = "every node"
    COMPUTING = "mixers, and hospitals without mixers"
    HOSPITALS = "hospitals"
    WITH_NOISE = "nodes whose agreement has noise"


EVERY, COMPUTING, HOSPITALS, WITH_NOISE = Which


@dataclass(frozen=True)
class Metric:
    """One metric. Its name has the prefix and the unit that Prometheus' rules of naming ask for."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    which: Which = EVERY


BUILD = Metric(
    "mixbayes_build_info",
    GAUGE,
    "Always 1: the version of mixbayes, and the newest and the oldest protocol number that it speaks.",
    ("version", "protocol", "oldest_protocol"),
)
NODE = Metric(
    "mixbayes_node_info",
    GAUGE,
    "Always 1: the node's name, its role (mixer or hospital), its federation, and the first 16 digits of the "
    "agreement's digest.",
    ("node", "role", "federation", "agreement"),
)
ROUND = Metric("mixbayes_round_number", GAUGE, "The number of the last round.")
STATE = Metric("mixbayes_round_state", GAUGE, "1 for the state that the last round is in, else 0.", ("state",))
OPENED = Metric(
    "mixbayes_round_opened_timestamp_seconds",
    GAUGE,
    "When the last round was opened; at a hospital with mixers, when its node first heard of it.",
)
WAITING = Metric("mixbayes_round_waiting", GAUGE, "1 if the last round waits for something that hinders it, else 0.")
MISSING = Metric(
    "mixbayes_round_missing", GAUGE, "1 if the last round has no contribution of this hospital, else 0.", ("hospital",)
)
REFUSED = Metric(
    "mixbayes_round_refused",
    GAUGE,
    "1 if the mixers refused this hospital's contribution to the last round, because no table can have its counts, "
    "else 0.",
    ("hospital",),
)
CHARGED_ROWS = Metric(
    "mixbayes_round_charged_rows",
    GAUGE,
    "Rows charged in the last round: at a hospital with mixers its own, elsewhere those of all hospitals together. "
    "The number falls when rows are given back.",
)
CHARGED_QUESTIONS = Metric(
    "mixbayes_round_charged_questions",
    GAUGE,
    "Questions recorded in the last round, of all hospitals together.",
    which=COMPUTING,
)
BUDGET = Metric(
    "mixbayes_budget_rows", GAUGE, "Rows that this hospital may ask about in the last round.", which=HOSPITALS
)
BUDGET_LEFT = Metric("mixbayes_budget_left_rows", GAUGE, "Rows of this budget that are left.", which=HOSPITALS)
EPSILON = Metric(
    "mixbayes_privacy_epsilon_agreed", GAUGE, "The total ε that is agreed for all rounds.", which=WITH_NOISE
)
EPSILON_SPENT = Metric(
    "mixbayes_privacy_epsilon_spent",
    GAUGE,
    "The ε of all noise charged so far, at the agreed total δ, by the largest ledger of which this node knows.",
    which=WITH_NOISE,
)
EPSILON_LEFT = Metric(
    "mixbayes_privacy_epsilon_left",
    GAUGE,
    "The agreed ε less the spent one, and not below 0. Rounds do not simply add up: it may pay for more of them than "
    "it seems.",
    which=WITH_NOISE,
)
DELTA = Metric("mixbayes_privacy_delta_agreed", GAUGE, "The total δ that is agreed for all rounds.", which=WITH_NOISE)
DELTA_SPENT = Metric(
    "mixbayes_privacy_delta_spent",
    GAUGE,
    "The δ of all noise in this node's own ledger, at the agreed total ε.",
    which=WITH_NOISE,
)
DELTA_LEFT = Metric(
    "mixbayes_privacy_delta_left", GAUGE, "The agreed δ less the spent one, and not below 0.", which=WITH_NOISE
)
CERTIFICATE = Metric(
    "mixbayes_certificate_expiry_timestamp_seconds",
    GAUGE,
    "When the node's own certificate ends (own), and when the first certificate above it ends (authority).",
    ("certificate",),
)
CONTACT = Metric(
    "mixbayes_peer_last_contact_timestamp_seconds",
    GAUGE,
    "When the last message from this peer came; if none has come yet, when this node started.",
    ("peer",),
)
RECEIVED = Metric(
    "mixbayes_peer_received_bytes_total",
    COUNTER,
    "Bytes of messages received, without what TLS and HTTP/2 add. A mixer counts all hospitals together.",
    ("peer",),
)
SENT = Metric("mixbayes_peer_sent_bytes_total", COUNTER, "Bytes of messages sent, counted in the same way.", ("peer",))
CALLS = Metric("mixbayes_calls_total", COUNTER, "Admitted calls, by method of gRPC.", ("method",))
REFUSALS = Metric(
    "mixbayes_refusals_total", COUNTER, "Calls that this node ended with an error, by its code.", ("code",)
)
QUESTIONS = Metric(
    "mixbayes_question_duration_seconds",
    SUMMARY,
    "Questions that this node asked or answered, from the announcement to the end, without those that failed.",
    ("side", "kind"),
)
ROWS = Metric(
    "mixbayes_question_rows_total",
    COUNTER,
    "Rows to classify in the questions of mixbayes_question_duration_seconds.",
    ("side", "kind"),
)
TRAININGS = Metric(
    "mixbayes_training_duration_seconds",
    SUMMARY,
    "Trainings of rounds that came to their end.",
    which=COMPUTING,
)
DISK_FREE = Metric("mixbayes_state_disk_free_bytes", GAUGE, "Free bytes of the disk that holds the state folder.")
DISK = Metric("mixbayes_state_disk_size_bytes", GAUGE, "All bytes of that disk.")
TRAILS = Metric("mixbayes_audit_findings", GAUGE, "Flaws found in audit trails, of this node and of others.")
ERRORS = Metric(
    "mixbayes_metrics_errors_total",
    COUNTER,
    "Groups of metrics that were left out of an answer because of an error, which is in the log.",
)

METRICS = (
    *(BUILD, NODE, ROUND, STATE, OPENED, WAITING, MISSING, REFUSED, CHARGED_ROWS, CHARGED_QUESTIONS, BUDGET),
    *(BUDGET_LEFT, EPSILON, EPSILON_SPENT, EPSILON_LEFT, DELTA, DELTA_SPENT, DELTA_LEFT, CERTIFICATE, CONTACT),
    *(RECEIVED, SENT, CALLS, REFUSALS, QUESTIONS, ROWS, TRAININGS, DISK_FREE, DISK, TRAILS, ERRORS),
)
