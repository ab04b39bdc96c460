"""Naive Bayes trained and asked across hospitals, without anyone pooling a table."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# gRPC reads this when it is first imported, by whichever module; `mixbayes.transport.tls` says what it is for.
os.environ["GRPC_SSL_CIPHER_SUITES"] = "ECDHE-RSA-AES256-GCM-SHA384"

if TYPE_CHECKING:
    __version__: str
    from mixbayes.agreement.agreement import Federation
    from mixbayes.model.classifier import load_model
    from mixbayes.simulation.estimator import FederatedNaiveBayes, PrivacyLeakWarning
    from mixbayes.simulation.run import simulate

__all__ = ["FederatedNaiveBayes", "Federation", "PrivacyLeakWarning", "__version__", "load_model", "simulate"]

_HOMES = {
    "Federation": "mixbayes.agreement.agreement",
    "FederatedNaiveBayes": "mixbayes.simulation.estimator",
    "PrivacyLeakWarning": "mixbayes.simulation.estimator",
    "load_model": "mixbayes.model.classifier",
    "simulate": "mixbayes.simulation.run",
}


def __getattr__(name: str) -> Any:
    """What is slow to import comes when it is asked for."""
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError(f"module 'mixbayes' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mixbayes")
    except PackageNotFoundError:  # src on the path without an installation
        return "unknown"
