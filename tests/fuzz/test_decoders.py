"""No bytes from elsewhere end in anything but a value or an error that says what is wrong with them."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.wire.v1.contribution_pb2 import Contribution
from tests.fuzz.decoders import DECODERS, seeds

SCRIPT = Path(__file__).with_name("fuzz_decoders.py")
SEEDS = seeds()


@pytest.mark.parametrize("name", DECODERS)
@given(raw=st.binary(max_size=600))
@settings(max_examples=60)
def test_random_bytes(name: str, raw: bytes) -> None:
    with warnings.catch_warnings(action="ignore"):
        DECODERS[name](raw)


@pytest.mark.parametrize("name", SEEDS)
@given(data=st.data())
@settings(max_examples=60)
def test_right_ones_with_some_bytes_changed(name: str, data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from(SEEDS[name])))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    with warnings.catch_warnings(action="ignore"):
        DECODERS[name](bytes(raw))


@given(
    digest=st.binary(max_size=33),
    id=st.binary(max_size=17),
    share=st.tuples(st.sampled_from(["seed", "words"]), st.binary(max_size=33)),
    right=st.booleans(),
)
def test_contributions_whose_fields_have_any_size(
    digest: bytes, id: bytes, share: tuple[str, bytes], right: bool
) -> None:
    """Changed bytes alone seldom come to this, because a field says its size."""
    message = Contribution(federation_digest=bytes(32) if right else digest, id=bytes(16) if right else id, round=1)
    setattr(message, *share)
    DECODERS["contribution"](message.SerializeToString())


@pytest.mark.parametrize("name", sorted(set(SEEDS) - {"agreement", "messages", "pem"}))
def test_right_ones_are_read(name: str) -> None:
    assert DECODERS[name](SEEDS[name][0]) is not None


@pytest.mark.parametrize(("name", "runs"), [("contribution", 50_000), ("rows", 10_000), ("agreement", 200)])
def test_guided_by_what_the_code_does_with_them(name: str, runs: int, tmp_path: Path) -> None:
    """A second each, in continuous integration the same one every time; the script alone goes on for ever."""
    pytest.importorskip("atheris", reason="atheris is not there for this platform")
    how = ["-seed=1", f"-runs={runs}"] if "CI" in os.environ else ["-max_total_time=1"]
    words = [sys.executable, str(SCRIPT), name, *how, f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Done" in done.stderr
