"""Releases of a hospital's own table that promise its patients something by themselves: each is charged once.

A hospital may contribute a function of such a release in place of its table (`tables/protected_folds.py`). Its patients
then have the ε and δ of the release, and nothing of the noise of the rounds: one of them may change any number of the
rows that are counted. Nothing that is computed from a release costs them more. So the hospital's ledger is charged
when the release is contributed for the first time, under whatever agreement, and not again for other rounds that count
the same one. A changed table or another dictionary is another release.

The patients of other hospitals have the noise of every round as before, and their own hospitals' ledgers say so.
"""

from __future__ import annotations

from mixbayes.agreement.agreement import Privacy
from mixbayes.node.disk.datastore import Tables
from mixbayes.node.privacy import GivenAway, too_much
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.transport.errors import RefusedByPolicy


def charge_own(tables: Tables, me: str, release: PrivateRelease, privacy: Privacy | None) -> None:
    """Charge it, if it is not charged; raise where the agreed total does not pay for it."""
    given = tables.given_away()
    if release in given.own:
        return
    if privacy and (why := too_much(given, release, privacy)):
        raise RefusedByPolicy(f"{me} does not contribute: {why}. Agree on a larger total, or keep the former release.")
    tables.add_own_release(release)
    about = {"release": release.id.hex(), "epsilon": f"{release.epsilon:g}", "delta": f"{release.delta:g}"}
    tables.note(me, "charged its own release", "own table", about)


def own_in_words(given: GivenAway) -> str:
    """What several releases promise together; nothing where there is one."""
    if len(given.own) < 2:
        return ""
    return (
        f"This node has contributed {len(given.own)} such releases: together they promise a row epsilon "
        f"{given.own_epsilon:g} and delta {given.own_delta:g}"
    )
