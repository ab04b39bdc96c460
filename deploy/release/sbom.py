"""The list of packages (SBOM) of a release, as CycloneDX 1.6 in JSON: the same packages give the same bytes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packages import ROOT, Package
from packageurl import PackageURL

_NAMESPACE = uuid.UUID("5c1c4c0e-5f0a-4b53-9a38-0d8c9b6d7c55")


def document(packages: Mapping[str, Package], epoch: int) -> str:
    """The JSON text. `epoch` is the time of the release's commit, in seconds since 1970."""
    components = {name: _component(package) for name, package in sorted(packages.items())}
    bom = Bom(components=[one for name, one in components.items() if name != ROOT])
    bom.metadata.component = components[ROOT]
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    bom.serial_number = uuid.uuid5(_NAMESPACE, _content(packages))
    for name, package in sorted(packages.items()):
        bom.register_dependency(components[name], [components[need] for need in sorted(package.needs)])
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _content(packages: Mapping[str, Package]) -> str:
    """A text that is the same for the same packages, and only for them."""
    return json.dumps([asdict(one) | {"needs": sorted(one.needs)} for _, one in sorted(packages.items())])


def _component(package: Package) -> Component:
    purl = PackageURL("pypi", None, package.name, package.version)
    return Component(
        type=ComponentType.APPLICATION if package.name == ROOT else ComponentType.LIBRARY,
        name=package.name,
        version=package.version,
        bom_ref=str(purl),
        purl=purl,
        licenses=[LicenseFactory().make_from_string(package.licence)] if package.licence else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=package.sha256)] if package.sha256 else [],
    )
