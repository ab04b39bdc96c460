"""The manifests for Kubernetes: hardened, one pod for one state, and what they start works as an ordinary user."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from mixbayes.cli import bounded
from mixbayes.node.serving import server
from tests.deploy.helpers import COMMAND, ROOT, Node, World, run, stopped
from tests.deploy.kubernetes import refuse_invalid, rendered, versions
from tests.deploy.test_container import only
from tests.ports import free_port

FOLDER = ROOT / "deploy" / "kubernetes"
PAGE = (ROOT / "docs" / "operations" / "kubernetes.md").read_text()


@dataclass(frozen=True)
class Role:
    """A kustomization, and the name of the node in it."""

    folder: str
    node: str
    command: str

    @property
    def path(self) -> Path:
        return FOLDER / self.folder

    @property
    def manifest(self) -> list[dict[str, Any]]:
        return list(yaml.safe_load_all((self.path / f"{self.folder}.yaml").read_text()))

    @property
    def kustomization(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.path / "kustomization.yaml").read_text())
        return found

    def one(self, kind: str) -> dict[str, Any]:
        [found] = [document for document in self.manifest if document["kind"] == kind]
        return found

    @property
    def state(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.one("StatefulSet")["spec"]
        return spec

    @property
    def pod(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.state["template"]["spec"]
        return spec

    @property
    def container(self) -> dict[str, Any]:
        [found] = self.pod["containers"]
        return found

    @property
    def init(self) -> dict[str, Any]:
        [found] = self.pod["initContainers"]
        return found

    @property
    def environment(self) -> dict[str, str]:
        return {one["name"]: one["value"] for one in self.container["env"]}


MIXER, HOSPITAL = Role("mixer", "b", "mixer"), Role("hospital", "north", "party")
ROLES = pytest.mark.parametrize("role", [MIXER, HOSPITAL], ids=["mixer", "hospital"])


@ROLES
def test_a_pod_has_no_privileges(role: Role) -> None:
    """As the restricted profile of the Pod Security Standards asks, and with a root that cannot be written."""
    of_pod = role.pod["securityContext"]
    assert of_pod["runAsNonRoot"] is True
    assert of_pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert f"{of_pod['runAsUser']}:{of_pod['runAsGroup']}" == only("USER")
    assert of_pod["fsGroup"] == of_pod["runAsGroup"]
    for container in (role.container, role.init):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert set(container["resources"]) == {"requests", "limits"}
        assert "memory" in container["resources"]["limits"]
    assert not {"hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"} & set(role.pod)
    assert role.pod["automountServiceAccountToken"] is False
    assert role.one("ServiceAccount")["automountServiceAccountToken"] is False
    assert {kind for volume in role.pod["volumes"] for kind in volume if kind != "name"} <= {
        "configMap",
        "secret",
        "emptyDir",
        "persistentVolumeClaim",
    }


@ROLES
def test_no_two_pods_have_one_state(role: Role) -> None:
    assert role.state["replicas"] == 1
    assert role.one("StatefulSet")["apiVersion"] == "apps/v1"
    assert "updateStrategy" not in role.state  # the usual one ends the old pod first
    [claim] = role.state["volumeClaimTemplates"]
    assert claim["spec"]["accessModes"] == ["ReadWriteOncePod"]
    [mount] = [one for one in role.container["volumeMounts"] if one["name"] == claim["metadata"]["name"]]
    assert role.environment["MIXBAYES_STATE"].startswith(f"{mount['mountPath']}/")


@ROLES
def test_names_lead_to_each_other(role: Role) -> None:
    labels = role.state["template"]["metadata"]["labels"]
    assert role.state["selector"]["matchLabels"] == labels
    assert role.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == labels
    assert role.pod["serviceAccountName"] == role.one("ServiceAccount")["metadata"]["name"]
    volumes = {volume["name"] for volume in role.pod["volumes"]}
    claims = {claim["metadata"]["name"] for claim in role.state["volumeClaimTemplates"]}
    for container in (role.container, role.init):
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes | claims
        assert container["image"] == role.kustomization["images"][0]["name"]
    by_kind = {kind: about for volume in role.pod["volumes"] for kind, about in volume.items() if kind != "name"}
    [secret], [agreement] = role.kustomization["secretGenerator"], role.kustomization["configMapGenerator"]
    assert by_kind["secret"]["secretName"] == secret["name"]
    assert by_kind["configMap"]["name"] == agreement["name"]
    due = {f"keys/{role.node}.{end}" for end in ("key", "state", "pem")} | {"keys/authority.pem"}
    assert set(secret["files"]) == due
    assert agreement["files"] == ["federation.toml"]


@ROLES
def test_the_image_is_that_of_this_version(role: Role) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert role.kustomization["images"][0]["newTag"] == project["version"]


@ROLES
def test_only_the_root_is_closed_to_what_the_node_writes(role: Role) -> None:
    mounts = {mount["mountPath"]: mount for mount in role.container["volumeMounts"]}
    written = {path for path, mount in mounts.items() if not mount.get("readOnly")}
    assert written == {role.environment["MIXBAYES_KEYS"], "/var/lib/mixbayes", "/tmp"}
    assert all(mount.get("readOnly") for mount in role.init["volumeMounts"] if mount["name"] == "keys")


@ROLES
def test_probes_are_the_commands_of_the_image(role: Role) -> None:
    health = only("HEALTHCHECK")
    command = json.loads(health[health.index("[") :])
    probes = [role.container[f"{name}Probe"] for name in ("startup", "readiness", "liveness")]
    assert [probe["exec"]["command"] for probe in probes] == [command] * 3
    start = probes[0]["periodSeconds"] * probes[0]["failureThreshold"]
    assert start > bounded.TO_START
    assert role is MIXER or start >= 2 * 3600
    assert role.pod["terminationGracePeriodSeconds"] > max(2 * server._GRACE, bounded.TO_END)


@ROLES
def test_variables_are_the_ones_that_the_command_reads(role: Role) -> None:
    help_text = run([COMMAND, role.command, "--help"], {"COLUMNS": "300", "TERM": "dumb"}).stdout
    text = (role.path / f"{role.folder}.yaml").read_text()
    named = set(re.findall(r"\bMIXBAYES_[A-Z_]+\b", text))
    assert role.container["args"] == [role.command]
    assert set(role.environment) < named
    assert [name for name in named if name not in help_text] == []
    [metrics] = re.findall(r'MIXBAYES_METRICS, value: "(.*)"', text)
    port = next(one["containerPort"] for one in role.container["ports"] if one["name"] == "metrics")
    assert metrics.endswith(f":{port}")


def ports(rules: list[dict[str, Any]]) -> set[int]:
    return {port["port"] for port in chain.from_iterable(rule["ports"] for rule in rules)}


def test_networks_let_through_what_is_needed() -> None:
    for role in (MIXER, HOSPITAL):
        policy = role.one("NetworkPolicy")["spec"]
        assert policy["policyTypes"] == ["Ingress", "Egress"]
        assert ports(policy["egress"]) == {53, 8443}
        named = {one["containerPort"] for one in role.container["ports"]}
        assert ports(policy["ingress"]) == named
    [open_port] = MIXER.one("Service")["spec"]["ports"]
    listening = int(MIXER.environment["MIXBAYES_LISTEN"].rpartition(":")[2])
    [target] = [one for one in MIXER.container["ports"] if one["name"] == open_port["targetPort"]]
    assert (target["containerPort"], open_port["port"]) == (listening, 8443)
    assert MIXER.one("Service")["spec"]["selector"] == MIXER.state["selector"]["matchLabels"]
    assert MIXER.one("Service")["spec"]["externalTrafficPolicy"] == "Local"
    assert HOSPITAL.environment["MIXBAYES_LISTEN"].startswith("127.0.0.1:")
    assert all(document["kind"] != "Service" for document in HOSPITAL.manifest)


def test_the_roles_are_hardened_alike() -> None:
    for name in ("securityContext", "initContainers", "terminationGracePeriodSeconds"):
        assert MIXER.pod[name] == HOSPITAL.pod[name]
    assert MIXER.container["securityContext"] == HOSPITAL.container["securityContext"]
    by_name = [
        {one["name"]: one for one in role.pod["volumes"] if one["name"] != "table"} for role in (MIXER, HOSPITAL)
    ]
    assert by_name[0] == by_name[1]


def test_the_page_names_what_is_there() -> None:
    for named in re.findall(r"`(deploy/kubernetes/[\w./-]*)`", PAGE):
        assert (ROOT / named).exists(), named
    for kind in {document["kind"] for role in (MIXER, HOSPITAL) for document in role.manifest}:
        assert kind in PAGE


def moved(text: str, world: World, role: Role, listens: str) -> str:
    """A text of the manifest with its paths in the scratch folder."""
    for there, here in (
        ("/etc/mixbayes/federation.toml", world.agreement),
        ("/run/secrets", world.folder / f"own-keys-{role.node}"),
        ("/keys/", f"{world.folder / f'secret-{role.node}'}/"),
        ("/var/lib/mixbayes", world.folder / f"volume-{role.node}"),
        ("/data/table.csv", world.table(role.node)),
        (role.environment["MIXBAYES_LISTEN"], listens),
    ):
        text = text.replace(there, str(here))
    return text


def environment(world: World, role: Role, listens: str) -> dict[str, str]:
    return {key: moved(value, world, role, listens) for key, value in role.environment.items()}


def as_a_secret(world: World, role: Role) -> None:
    """Files as Kubernetes mounts them: a group may read them, and whoever owns them is somebody else."""
    folder = world.folder / f"secret-{role.node}"
    folder.mkdir()
    for file in role.kustomization["secretGenerator"][0]["files"]:
        shutil.copy(world.keys(role.node) / Path(file).name, folder)
    for file in folder.iterdir():
        file.chmod(0o440)
    for name in ("own-keys", "volume"):
        (world.folder / f"{name}-{role.node}").mkdir()


def prepared(world: World, role: Role) -> None:
    """The init container has run."""
    as_a_secret(world, role)
    done = run([moved(word, world, role, "") for word in role.init["command"]])
    assert done.returncode == 0, done.stderr


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.new(tmp_path)


def test_pods_get_ready_are_healthy_and_stop(world: World) -> None:
    listens = {MIXER: world.listens("b"), HOSPITAL: f"127.0.0.1:{free_port()}"}
    with ExitStack() as stack:
        nodes: dict[Role, Node] = {}
        for role, at in listens.items():
            prepared(world, role)
            command = [COMMAND, *role.container["args"]]
            nodes[role] = Node(command, environment(world, role, at), world.folder / f"{role.folder}.log")
            stack.callback(nodes[role].kill)
        for role, node in nodes.items():
            node.wait_for("ready")
            probe = [COMMAND, *role.container["livenessProbe"]["exec"]["command"][1:]]
            asked = environment(world, role, listens[role])
            assert run(probe, asked).returncode == 0
        assert stopped(nodes.values()) == [0, 0]
        assert run([COMMAND, "doctor", "--health"], environment(world, MIXER, listens[MIXER])).returncode == 3
        for role in nodes:
            kept = list((world.folder / f"own-keys-{role.node}").glob(f"{role.node}.*"))
            assert {file.stat().st_mode & 0o777 for file in kept} == {0o400}


def test_without_copies_the_node_refuses_a_secret(world: World) -> None:
    """This is what the init container is for."""
    as_a_secret(world, MIXER)
    told = environment(world, MIXER, world.listens("b"))
    done = run([COMMAND, "mixer"], told | {"MIXBAYES_KEYS": str(world.folder / "secret-b")})
    assert (done.returncode, "can be used by others than its owner" in done.stderr) == (3, True)


def with_files(role: Role, world: World) -> Path:
    """A copy of the kustomization with what an operator puts into it."""
    folder = world.folder / role.folder
    shutil.copytree(role.path, folder)
    shutil.copy(world.agreement, folder / "federation.toml")
    shutil.copytree(world.keys(role.node), folder / "keys")
    return folder


def test_schemas_of_kubernetes_find_nothing_wrong() -> None:
    for version in versions():
        for document in (*MIXER.manifest, *HOSPITAL.manifest):
            refuse_invalid(document, version)


def test_schemas_of_kubernetes_would_find_a_mistake() -> None:
    [version, *_] = versions()
    wrong = json.loads(json.dumps(MIXER.one("StatefulSet")))
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readOnlyRoot"] = True
    with pytest.raises(AssertionError, match="readOnlyRoot"):
        refuse_invalid(wrong, version)


@ROLES
def test_kubectl_renders_it(role: Role, world: World) -> None:
    documents = rendered(with_files(role, world))
    for version in versions():
        for document in documents:
            refuse_invalid(document, version)
    by_kind: Mapping[str, dict[str, Any]] = {document["kind"]: document for document in documents}
    assert set(by_kind) == {document["kind"] for document in role.manifest} | {"ConfigMap", "Secret"}
    assert {document["metadata"]["namespace"] for document in documents} == {"mixbayes"}
    pod = by_kind["StatefulSet"]["spec"]["template"]["spec"]
    image = role.kustomization["images"][0]
    for container in (*pod["containers"], *pod["initContainers"]):
        assert container["image"] == f"{image['newName']}:{image['newTag']}"
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert volumes["keys"]["secret"] == {"defaultMode": 0o440, "secretName": by_kind["Secret"]["metadata"]["name"]}
    assert volumes["agreement"]["configMap"]["name"] == by_kind["ConfigMap"]["metadata"]["name"]
    assert set(by_kind["Secret"]["data"]) == {
        Path(file).name for file in role.kustomization["secretGenerator"][0]["files"]
    }
