"""Kubernetes' own schemas, and kubectl, which renders a kustomization. Only make ci has both."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

PATIENCE = 60.0
OLDEST = (1, 29)
"""The first version in which a claim may be for one pod alone without a feature gate."""


def refuse_outside_ci() -> None:
    if "CI" not in os.environ:
        pytest.skip("only make ci has kubectl and the schemas of Kubernetes")


def schemas() -> Path:
    """The folder with those of all versions."""
    refuse_outside_ci()
    found = find_spec("kubernetes_validate")
    if found is None or not found.origin:
        pytest.fail("kubernetes-validate is not installed (make kubernetes)")
    return Path(found.origin).parent / "kubernetes-json-schema"


def versions() -> list[str]:
    """Folders of strict schemas, which know every field there is and no other."""
    names = [path.name for path in schemas().iterdir() if path.name.endswith("-local-strict")]
    return [name for name in names if tuple(map(int, name[1:].split(".")[:2])) >= OLDEST]


def refuse_invalid(document: Mapping[str, Any], version: str) -> None:
    """Fail with everything that the schema of this version finds wrong."""
    group, _, number = document["apiVersion"].rpartition("/")
    of_group = f"{group.split('.')[0]}-" if group else ""
    kind = f"{document['kind'].lower()}-{of_group}{number}.json"
    folder = schemas() / version

    @cache
    def retrieved(uri: str) -> Resource[Any]:
        content = json.loads((folder / uri.rpartition("/")[2]).read_text())
        return Resource.from_contents(content, default_specification=DRAFT202012)

    schema = json.loads((folder / kind).read_text())
    validator = Draft202012Validator(schema, registry=Registry(retrieve=retrieved))
    wrong = [f"{'.'.join(map(str, error.path))}: {error.message[:300]}" for error in validator.iter_errors(document)]
    if wrong:
        raise AssertionError(f"{version} {kind}: {wrong}")


def rendered(folder: Path) -> list[dict[str, Any]]:
    """What `kubectl apply -k` would send."""
    refuse_outside_ci()
    command = shutil.which("kubectl") or pytest.fail("kubectl is not installed (make kubernetes)")
    done = subprocess.run([command, "kustomize", folder], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))
