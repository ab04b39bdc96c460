"""The page of metrics, the alerts and the board: they name what nodes export, and a real Prometheus takes them."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from mixbayes.node.doctor.machine import LITTLE
from mixbayes.node.metrics.catalogue import METRICS, SUMMARY
from tests.deploy.alert_cases import CASES, as_promtool_reads_them
from tests.deploy.helpers import COMMAND, ROOT, Node, World, stopped
from tests.deploy.prometheus import PATIENCE, prometheus, promtool
from tests.ports import free_port
from tests.services.helpers import wait_until

PAGE = (ROOT / "docs" / "operations" / "metrics.md").read_text()
FOLDER = ROOT / "deploy" / "prometheus"
RULES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
CONFIGURATION: dict[str, Any] = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
BOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "grafana" / "mixbayes.json").read_text())
PROCESS = ("cpu_seconds_total", "resident_memory_bytes", "virtual_memory_bytes", "start_time_seconds", "open_fds")
EXPORTED = {f"process_{name}" for name in (*PROCESS, "max_fds")} | set(
    chain.from_iterable([f"{m.name}_count", f"{m.name}_sum"] if m.kind is SUMMARY else [m.name] for m in METRICS)
)
ROW = re.compile(r"^\| `(mixbayes_\w+)` \| (\w+) \| (.*?) ?\| (.+?) \| (.+) \|$", re.MULTILINE)


def board_expressions() -> list[str]:
    return [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]


def expressions() -> list[str]:
    """As Grafana sends them for all nodes."""
    chosen = [one.replace("$instance", ".*").replace("$__rate_interval", "5m") for one in board_expressions()]
    return [*(rule["expr"] for rule in RULES), *chosen]


def test_the_page_lists_every_metric_as_it_is_exported() -> None:
    listed = [(name, kind, labels, nodes, meaning) for name, kind, labels, nodes, meaning in ROW.findall(PAGE)]
    due = [(m.name, m.kind.value, ", ".join(f"`{one}`" for one in m.labels), m.which.value, m.help) for m in METRICS]
    assert listed == due


def test_the_page_names_no_other_metric() -> None:
    named = set(re.findall(r"\b(?:mixbayes|process)_[a-z_]+\b", PAGE)) - {"mixbayes_"}
    assert named - {metric.name for metric in METRICS} - EXPORTED == set()
    assert {name for name in EXPORTED if name.startswith("process_")} <= named


def test_the_page_explains_every_label() -> None:
    of_build = {"version", "protocol", "oldest_protocol", "node", "role", "federation", "agreement"}
    explained = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE)) - {metric.name for metric in METRICS}
    assert explained == {label for metric in METRICS for label in metric.labels} - of_build


def test_the_page_lists_every_alert() -> None:
    listed = re.findall(r"^\| `(Mixbayes\w+)` \| (\w+) \|", PAGE, re.MULTILINE)
    assert listed == [(rule["alert"], rule["labels"]["severity"]) for rule in RULES]


@pytest.mark.parametrize("expression", expressions())
def test_expressions_name_what_is_exported(expression: str) -> None:
    named = set(re.findall(r"\b(?:mixbayes|process)_[a-z_]+\b", expression))
    assert named - EXPORTED == set()
    assert named or expression == 'up{job="mixbayes"} == 0'


def test_the_alerts_expect_the_job_of_the_configuration() -> None:
    [job] = CONFIGURATION["scrape_configs"]
    assert f'up{{job="{job["job_name"]}"}}' in RULES[0]["expr"]
    assert CONFIGURATION["rule_files"] == ["alerts.yaml"]


def test_the_alert_on_disk_is_where_doctor_warns() -> None:
    [rule] = [rule for rule in RULES if rule["alert"] == "MixbayesDiskLow"]
    assert rule["expr"].endswith("< 2^30")
    assert LITTLE == 2**30


def test_every_alert_says_where_and_what_to_do() -> None:
    for rule in RULES:
        assert "$labels.instance" in rule["annotations"]["summary"]
        assert rule["annotations"]["description"].endswith(".")
        assert rule["labels"]["severity"] in ("info", "warning", "critical")


def test_the_board_can_be_imported() -> None:
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
    assert len({panel["title"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
    variables = {variable["name"] for variable in BOARD["templating"]["list"]}
    assert variables == {"datasource", "instance"}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(BOARD["panels"])))
    assert used == variables | {"__rate_interval"}
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}


def test_no_two_panels_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


def test_promtool_takes_the_rules_and_the_configuration() -> None:
    promtool("check", "rules", FOLDER / "alerts.yaml")
    promtool("check", "config", FOLDER / "prometheus.yml")


def test_there_is_a_case_for_every_alert() -> None:
    assert [case.alert for case in CASES] == [rule["alert"] for rule in RULES]


def test_every_alert_fires_when_it_should_and_not_else(tmp_path: Path) -> None:
    tests = tmp_path / "tests.yaml"
    tests.write_text(yaml.safe_dump(as_promtool_reads_them(RULES, str(FOLDER / "alerts.yaml")), allow_unicode=True))
    promtool("test", "rules", tests)


def started(stack: ExitStack, world: World, name: str, port: int) -> Node:
    agreed = ["--federation", world.agreement, "--name", name, "--keys", world.keys(name), "--state", world.state(name)]
    table = ["--data", world.table(name)] if len(name) > 1 else []
    command = [COMMAND, "party" if table else "mixer", *agreed, *table, "--metrics", f"127.0.0.1:{port}"]
    node = Node(command, {}, world.folder / f"{name}.log")
    stack.callback(node.kill)
    return node


@pytest.mark.timeout(180)
def test_a_real_prometheus_scrapes_real_nodes(tmp_path: Path) -> None:
    """It loads the rules, finds every node, and evaluates every expression of rules and board."""
    world, ports = World.new(tmp_path), {name: free_port() for name in ("a", "b", "north", "south", "west")}
    targets = [f"127.0.0.1:{port}" for port in ports.values()]
    scraping = CONFIGURATION["scrape_configs"][0] | {"static_configs": [{"targets": targets}]}
    configuration = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(FOLDER / "alerts.yaml")],
        "scrape_configs": [scraping],
    }
    with ExitStack() as stack:
        server = stack.enter_context(prometheus(free_port(), configuration))
        nodes = {name: started(stack, world, name, port) for name, port in ports.items()}
        for node in nodes.values():
            node.wait_for("ready")
        nodes["north"].wait_for("serving")
        wait_until(lambda: server.up() == set(targets), "every node is scraped", PATIENCE)
        wait_until(
            lambda: len(server.query('mixbayes_round_state{state="serving"} == 1')) == len(targets),
            "every node shows that the round serves",
            PATIENCE,
        )
        for expression in expressions():
            server.query(expression)
        known = {rule["name"]: rule["health"] for rule in server.get("rules")["groups"][0]["rules"]}
        assert set(known) == {rule["alert"] for rule in RULES}
        wait_until(lambda: all_evaluated(server.get("rules")), "every rule is evaluated", PATIENCE)
        exported = {name for name in server.get("label/__name__/values") if name.startswith("mixbayes_")}
        noise = {metric.name for metric in METRICS if metric.name.startswith("mixbayes_privacy_")}
        assert exported == {name for name in EXPORTED if name.startswith("mixbayes_")} - noise
        roles = {one["metric"]["node"]: one["metric"]["role"] for one in server.query("mixbayes_node_info")}
        assert roles == {"a": "mixer", "b": "mixer", "north": "hospital", "south": "hospital", "west": "hospital"}
        assert server.query('ALERTS{alertstate="firing"}') == []
        assert stopped(nodes.values()) == [0] * len(nodes)
        wait_until(lambda: server.up() == set(), "Prometheus sees that they are down", PATIENCE)
        assert len(server.query(RULES[0]["expr"])) == len(targets)


def all_evaluated(found: dict[str, Any]) -> bool:
    health = {rule["health"] for rule in found["groups"][0]["rules"]}
    assert "err" not in health, found
    return health == {"ok"}
