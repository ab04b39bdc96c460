"""What `mixbayes federation new` says of the agreement that it wrote: what to check in it, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.noise import against_whom, all_rounds, exactly, in_words, joint_test_in_words
from mixbayes.agreement.pinning import not_pinned
from mixbayes.node.log import printable
from mixbayes.protocol.bayes.joint_test import FEWEST

MOST_SHOWN = 10


def next_steps(federation: Federation, target: Path) -> Iterator[str]:
    """What to do with the agreement that was written there, for people."""
    attributes = federation.dictionary.attributes
    bounded = [attribute.name for attribute in attributes if attribute.numeric]
    yield f"Written: {target}. Nothing is agreed yet."
    yield ""
    if federation.cuts:
        yield "It is preliminary: it finds cut points and ranks, and answers no questions. Every numeric attribute is"
        yield "counted on a grid of round numbers."
    if bounded:
        names = ", ".join(bounded[:MOST_SHOWN]) + f" and {len(bounded) - MOST_SHOWN} more" * (len(bounded) > MOST_SHOWN)
        cuts = "" if federation.cuts else ", and cuts its quantiles, rounded"
        yield f"Bounds are the table's own, rounded outwards{cuts}: {printable(names)}."
        yield "Widen the bounds by hand to what can be measured at all: the table need not have everybody's extremes."
    yield "Values and classes are those of the table. Add what other hospitals have and it has not, and leave out"
    yield "what names a patient."
    yield ""
    yield from _about_noise(federation)
    yield ""
    yield "Next:"
    yield "1. One of you makes an authority: mixbayes keys authority DIR"
    yield f"2. Every node ({', '.join(_nodes(federation))}) makes its keys: mixbayes keys request NAME --out KEYS"
    yield "3. The authority signs the requests: mixbayes keys sign NAME.csr --authority DIR --out NAME.pem"
    yield "   NAME.pem goes back into KEYS, and authority.pem with it."
    yield f"4. Read and edit {target}, and have everybody sign it off."
    yield from _about_pins(federation, target)
    yield "5. Give every node a copy. Compare by telephone the digest that `mixbayes federation show FILE` prints."
    yield f"6. Every node starts, with a state folder of its own: {_start(federation)}"
    if federation.cuts:
        yield "7. Once all have contributed, any hospital writes the agreement that is to follow:"
        yield "   mixbayes federation cuts --federation FILE --name NAME --keys KEYS -o NEXT.toml"
    yield "`mixbayes doctor` says at any node what is wrong there."


def _about_pins(federation: Federation, target: Path) -> Iterator[str]:
    if warning := not_pinned(federation):
        given = " ".join(f"--key {name}={name}.csr" for name in federation.unpinned)
        yield f"   Now {warning}."
        yield f"   Before that, write them in: mixbayes federation pin {target} {given}"


def _about_noise(federation: Federation) -> Iterator[str]:
    """What is promised and what it costs, or what is given away without a promise."""
    privacy, policy = federation.privacy, federation.policy
    if privacy is None:
        yield exactly(federation)
        if not federation.cuts:
            yield f"Each hospital may ask about {policy.budget:,} rows in one round, as agreed here."
        if federation.joint_test and policy.minimum < FEWEST:
            yield f"Rounds of fewer than {FEWEST} hospitals have no joint test: each would see the other's figures."
        return
    promise, noise = in_words(privacy)
    yield f"Promised: {promise}. A patient with rows in two hospitals counts twice."
    yield f"Noise: {noise}."
    yield f"The promise holds {against_whom(privacy)}."
    if test := "; ".join(joint_test_in_words(federation)):
        yield f"Joint test: {test}."
    yield f"Rounds: {all_rounds(privacy, federation.releases, policy.rounds)}."


def _start(federation: Federation) -> str:
    commands = ["mixbayes mixer"] * bool(federation.mixers) + ["mixbayes party"]
    return f"{', '.join(commands)} (-h has examples)"


def _nodes(federation: Federation) -> Iterator[str]:
    yield from (f"party {party.name}" for party in federation.parties)
    yield from (f"mixer {mixer.name}" for mixer in federation.mixers)
