"""The kinds of attributes that a dictionary can name, by the word in its field `kind`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.several import Several

Attribute = Annotated[Nominal | Gaussian | Binned | Several, Field(discriminator="kind")]
