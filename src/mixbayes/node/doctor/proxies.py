"""Which variables of the environment name a proxy."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mixbayes.node.doctor.finding import Finding, fine, warning
from mixbayes.transport.proxies import EXCEPTIONS, PROXIES


def proxy_variables(environment: Mapping[str, str] = os.environ) -> Finding:
    """Which are set, without what may be a password in them."""
    found = [name for name in (*PROXIES, *EXCEPTIONS) if name in environment]
    unread = [name.upper() for name in PROXIES if name.upper() in environment and name not in environment]
    if unread:
        said = f"{', '.join(unread)} is set in capitals, which nodes do not read"
        return warning("proxy variables", said, "Set https_proxy and no_proxy in small letters if a proxy is needed")
    return fine("proxy variables", f"{', '.join(found)} set" if found else "none is set; nodes dial directly")
