"""The image and the compose file: hardened, consistent, and every command line in them works."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.helpers import COMMAND, HOSPITALS, NODES, ROOT, Node, World, run, stopped
from tests.ports import free_port

FOLDER = ROOT / "deploy" / "container"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
NAMES = {f"mixer-{name}" if name in "ab" else name: name for name in NODES}


def instructions() -> list[tuple[str, str]]:
    """Of the image that is left in the end."""
    text = (FOLDER / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    last = max(i for i, (word, _) in enumerate(lines) if word == "FROM")
    return [(word, rest) for word, rest in lines[last:]]


def only(word: str) -> str:
    [found] = [rest for one, rest in instructions() if one == word]
    return found


def image_environment() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in shlex.split(only("ENV")))
    return {key: value for key, _, value in pairs}


def test_every_base_is_named_by_its_digest() -> None:
    """Without one the name is no name, so that nothing is built on what a registry says today."""
    text = (FOLDER / "Containerfile").read_text()
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(bases) == 2
    assert all(re.search(r"@(\$\{DIGEST\}|sha256:[0-9a-f]{64})$", base) for base in bases)
    assert re.findall(r"^ARG DIGEST.*$", text, re.MULTILINE) == ["ARG DIGEST"]
    assert {told["build"]["args"]["DIGEST"].partition("?")[0] for told in SERVICES.values()} == {"${PYTHON_DIGEST:"}


def test_the_services_are_the_nodes() -> None:
    assert set(SERVICES) == set(NAMES)
    for service, name in NAMES.items():
        assert SERVICES[service]["environment"]["MIXBAYES_NAME"] == name


@pytest.mark.parametrize("service", NAMES)
def test_every_service_is_hardened(service: str) -> None:
    told = SERVICES[service]
    assert told["read_only"] is True
    assert told["cap_drop"] == ["ALL"]
    assert told["security_opt"] == ["no-new-privileges:true"]
    assert told["user"] == only("USER") == "10001:10001"
    assert told["tmpfs"]
    assert not {"privileged", "cap_add", "devices", "network_mode", "pid", "ipc"} & set(told)
    assert not any("docker.sock" in volume for volume in told["volumes"])
    assert all(volume.endswith(":ro") or volume.split(":")[0] in COMPOSE["volumes"] for volume in told["volumes"])


def test_mixers_publish_one_port_and_hospitals_none() -> None:
    assert {service for service, told in SERVICES.items() if "ports" in told} == {"mixer-a", "mixer-b"}
    for mixer in ("mixer-a", "mixer-b"):
        [port] = SERVICES[mixer]["ports"]
        assert port.endswith(":" + SERVICES[mixer]["environment"]["MIXBAYES_LISTEN"].rpartition(":")[2])
    assert all(SERVICES[name]["environment"]["MIXBAYES_LISTEN"].startswith("127.0.0.1:") for name in HOSPITALS)


def test_every_node_has_its_own_secrets_and_state() -> None:
    for service, name in NAMES.items():
        assert set(SERVICES[service]["secrets"]) == {f"{name}.key", f"{name}.state", f"{name}.pem", "authority.pem"}
    assert set(COMPOSE["secrets"]) == {secret for told in SERVICES.values() for secret in told["secrets"]}
    states = [volume.split(":")[0] for told in SERVICES.values() for volume in told["volumes"] if "state-" in volume]
    assert sorted(states) == sorted(COMPOSE["volumes"])
    assert len(set(states)) == len(states)


def test_the_image_holds_nothing_secret_and_what_it_copies_is_there() -> None:
    text = (FOLDER / "Containerfile").read_text()
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line]
    for path in (path for paths in copied for path in paths):
        assert (ROOT / path).exists(), path
    assert not re.search(r"\.key|\.state\b|federation\.toml .*COPY", text)
    assert shlex.split(only("STOPSIGNAL")) == ["SIGTERM"]


def entry(word: str) -> list[str]:
    """The words of an instruction in brackets, with the command as it is installed here."""
    words: list[str] = json.loads(only(word)[only(word).index("[") :])
    assert words[0] == "mixbayes"
    return [COMMAND, *words[1:]]


def placed(world: World, name: str, service: dict[str, Any], secrets: Path, listen: str) -> dict[str, str]:
    """The service's environment, its paths moved into the scratch folder."""
    moved = {
        "/etc/mixbayes/federation.toml": str(world.agreement),
        "/run/secrets": str(secrets),
        "/var/lib/mixbayes": str(world.state(name)),
        "/data/table.csv": str(world.folder / f"{name}.csv"),
    }
    told: dict[str, str] = image_environment() | service["environment"]
    told = {key: moved.get(value, value) for key, value in told.items() if key not in ("PATH", "HOME")}
    return told | {"MIXBAYES_LISTEN": listen}


def mounted(world: World, name: str, service: dict[str, Any]) -> Path:
    """The service's secrets in a folder that nobody may write."""
    folder = world.folder / "secrets" / name
    folder.mkdir(parents=True)
    for secret in service["secrets"]:
        shutil.copy(world.keys(name) / secret, folder / secret)
    folder.chmod(0o555)
    return folder


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.new(tmp_path)
    yield world
    for folder in (tmp_path / "secrets").glob("*"):
        folder.chmod(0o755)


def test_hospitals_differ_in_their_names_only() -> None:
    north = json.dumps(SERVICES["north"])
    assert all(json.dumps(SERVICES[name]) == north.replace("north", name) for name in HOSPITALS)


def test_services_get_ready_are_healthy_and_stop(world: World) -> None:
    with ExitStack() as stack:
        nodes, told = {}, {}
        for service, name in (("mixer-a", "a"), ("mixer-b", "b"), ("north", "north")):
            secrets = mounted(world, name, SERVICES[service])
            listen = world.listens(name) if name in world.ports else f"127.0.0.1:{free_port()}"
            told[name] = placed(world, name, SERVICES[service], secrets, listen)
            command = [*entry("ENTRYPOINT"), *SERVICES[service]["command"]]
            nodes[name] = Node(command, told[name], world.folder / f"{service}.log")
            stack.callback(nodes[name].kill)
        for node in nodes.values():
            node.wait_for("ready")
        for name in ("b", "north"):
            asked = (run(entry("HEALTHCHECK"), told[name]) for _ in range(3))  # as often as the container is
            healthy = next((done for done in asked if done.returncode == 0), None)
            assert healthy is not None, name
            assert (healthy.stdout, healthy.stderr) == ("", "")
        assert stopped(nodes.values()) == [0] * len(nodes)
        assert run(entry("HEALTHCHECK"), told["a"]).returncode == 3
        assert "Traceback" not in "".join(node.log.read_text() for node in nodes.values())


def test_without_its_state_key_a_read_only_folder_is_refused(world: World) -> None:
    service = SERVICES["mixer-a"]
    secrets = mounted(world, "a", service)
    (world.keys("a") / "a.state").unlink()
    secrets.chmod(0o755)
    (secrets / "a.state").unlink()
    secrets.chmod(0o555)
    done = run([*entry("ENTRYPOINT"), *service["command"]], placed(world, "a", service, secrets, world.listens("a")))
    assert (done.returncode, "a.state is missing and cannot be made" in done.stderr) == (3, True)
