"""Who takes part: hospitals and mixers, where they are dialled, and by which public key they are known."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from mixbayes.agreement.addresses import Address
from mixbayes.agreement.names import Name
from mixbayes.agreement.pins import Fingerprint


class _Member(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Fingerprint | None = None
    """Of the first key that it has under this agreement; None where everybody believes the authority alone."""

    @model_serializer(mode="wrap")
    def _content(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without `key` where there is none: such agreements keep the digest that they had before keys were pinned."""
        content: dict[str, Any] = written(self)
        if self.key is None:
            content.pop("key", None)
        return content


class Party(_Member):
    """A hospital. It has an address only where two hospitals work without mixers and this one listens."""

    name: Name
    address: Address | None = None


class Mixer(_Member):
    """One of the two semi-trusted nodes that compute; everybody dials them."""

    name: Literal["a", "b"]
    address: Address
