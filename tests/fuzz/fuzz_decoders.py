"""Feed one decoder with what coverage suggests: `python tests/fuzz/fuzz_decoders.py NAME [libFuzzer options]`."""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, cast

import atheris

atheris = cast("Any", atheris)  # its types know no function of it
sys.path.insert(0, str(Path(__file__).parents[2]))
with atheris.instrument_imports(include=["mixbayes"]):
    from tests.fuzz.decoders import DECODERS, seeds


def main() -> None:
    name = sys.argv.pop(1)
    decode = DECODERS[name]
    warnings.simplefilter("ignore")

    def feed(raw: bytes) -> None:
        decode(raw)

    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds().get(name, [])):
            Path(corpus, str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, corpus], feed)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
