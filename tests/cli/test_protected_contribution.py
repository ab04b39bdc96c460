"""What `mixbayes party --protect` refuses before anything is sent, and what `mixbayes count --protect` says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixbayes.cli.kept_releases import KeptReleases
from mixbayes.tables.changed import GIVEN_AWAY
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.tables.tallying import Counted
from mixbayes.transport.errors import BadState
from tests.cli.typed import Prompt
from tests.services.helpers import make_site, write_csv
from tests.services.test_noise import NOISE

POLICY = {"folds": 2}
KEY = bytes(range(32))


@pytest.mark.parametrize(
    ("protection", "noise", "code", "said"),
    [
        ("sap:p=0.2", True, 2, "Possible with noise: recoding; private-synthesis"),
        ("private-synthesis:epsilon=5", True, 2, "Set both at most as large as agreed"),
        (
            "generalisation:k=1",
            False,
            5,
            f"0 of 16 numbers of the contribution differ from the unprotected ones: {GIVEN_AWAY}",
        ),
        ("generalisation:k=90", False, 6, "fold 1 of 2: k = 90"),
    ],
)
def test_what_a_hospitals_node_refuses(
    tmp_path: Path, typed: Prompt, protection: str, noise: bool, code: int, said: str
) -> None:
    site = make_site(tmp_path, policy=POLICY, **({"privacy": NOISE} if noise else {}))
    write_csv(tmp_path / "p.csv", site.tables["north"])
    words = ("--data", tmp_path / "p.csv", "--state", tmp_path / "state", "--protect", protection)
    done = typed.at(site, "north", "party", *words)
    assert done.code == code, done.err
    assert said in done.err


def test_what_would_be_contributed_is_counted_with_what_changed(tmp_path: Path, typed: Prompt) -> None:
    site = make_site(tmp_path, policy=POLICY)
    write_csv(tmp_path / "p.csv", site.tables["north"])
    done = typed("count", tmp_path / "p.csv", "--federation", site.file, "--protect", "sap:p=0.4")
    assert done.document["changed"]["numbers"] == len(done.document["counts"]) == 16
    assert done.document["changed"]["differing"] > 1
    assert done.document["protection"] == "sap:p=0.4"
    assert "of the contribution differ" in done.err
    assert "Warning" not in done.err
    same = typed("count", tmp_path / "p.csv", "--federation", site.file, "--protect", "generalisation:k=1")
    assert "Warning: " in same.err
    assert GIVEN_AWAY in same.err


def test_a_release_that_is_kept_opens_with_the_nodes_key_alone(tmp_path: Path) -> None:
    own = PrivateRelease(b"i" * 32, 2.0, 1e-6)
    counts = Counted(
        np.arange(5, dtype=np.uint64), 40, {"age": 2}, 1, "private-synthesis:epsilon=2", "kept", 3, None, own
    )
    kept = KeptReleases(tmp_path / "state", KEY)
    assert kept.recall(b"tag") is None
    kept.keep(b"tag", counts)
    found = KeptReleases(tmp_path / "state", KEY).recall(b"tag")
    assert found
    assert found.vector.tolist() == list(range(5))
    assert replace(found, vector=counts.vector) == counts
    (file,) = (tmp_path / "state").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert b"private-synthesis" not in file.read_bytes()
    with pytest.raises(BadState):
        KeptReleases(tmp_path / "state", KEY[::-1]).recall(b"tag")
