"""The list of packages (SBOM) of a release, as CycloneDX 1.6 in JSON: the same packages give the same bytes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from packages import ROOT, Package

_NAMESPACE = uuid.UUID("5c1c4c0e-5f0a-4b53-9a38-0d8c9b6d7c55")


def document(packages: Mapping[str, Package], epoch: int) -> str:
    """The JSON text. `epoch` is the time of the release's commit, in seconds since 1970."""
    listed = [package for _, package in sorted(packages.items())]
    content = {
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(),
            "component": _component(packages[ROOT]),
        },
        "components": [_component(package) for package in listed if package.name != ROOT],
        "dependencies": [
            {"ref": _purl(package), "dependsOn": [_purl(packages[need]) for need in sorted(package.needs)]}
            for package in listed
        ],
    }
    head = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(_NAMESPACE, json.dumps(content)).urn,
        "version": 1,
    }
    return json.dumps(head | content, indent=2) + "\n"


def _component(package: Package) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "application" if package.name == ROOT else "library",
        "bom-ref": _purl(package),
        "name": package.name,
        "version": package.version,
        "purl": _purl(package),
    }
    if package.licence:
        found["licenses"] = [_licence(package)]
    if package.sha256:
        found["hashes"] = [{"alg": "SHA-256", "content": package.sha256}]
    return found


def _licence(package: Package) -> dict[str, Any]:
    if package.by_expression:
        return {"expression": package.licence}
    return {"license": {"name": package.licence}}


def _purl(package: Package) -> str:
    """The package's address, as lists of packages write it."""
    return f"pkg:pypi/{package.name}@{package.version}"
