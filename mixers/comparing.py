"""What the two mixers compare before they answer a question, or give one back: its announcement, and their ledgers."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from mixbayes.node import questions
from mixbayes.node.ledger import Ledger
from mixbayes.node.questions import RUN_BYTES, Question, Verdict
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import DifferentSets, OutOfRange, PeerSilent

_STEP = "question"
_OF_QUESTION, _OF_BROKEN = struct.Struct(f"<{RUN_BYTES}sB"), struct.Struct("<Q9x")
"""What a mixer says of a question: its training and its verdict. Of a broken one: its count. Both are as long."""


def common_verdict(me: ComputingParty, asker: Channel, ledger: Ledger[Model], question: Question) -> Verdict:
    """Compare the question, the training and the verdict. A question that only one of the two has stored is spent."""
    verdict = ledger.verdict(question)
    serving = verdict is not Verdict.NOT_SERVING
    run = ledger.trained(question.round)[0] if serving else bytes(RUN_BYTES)
    their_run, said = _OF_QUESTION.unpack(_compared(me, asker, question, _OF_QUESTION.pack(run, verdict)))
    other = Verdict(said) if said in list(Verdict) else Verdict.NOT_SERVING
    if serving and other is not Verdict.NOT_SERVING and their_run != run:
        raise DifferentSets(me.channel.peer, _STEP, "its model is from another training than this mixer's")
    if {verdict, other} == {Verdict.GO, Verdict.STORED}:
        return Verdict.SPENT
    return max(verdict, other)


def give_back(me: ComputingParty, asker: Channel, ledger: Ledger[Model], broken: Question) -> None:
    """Charge of a broken question only the rows of which both mixers have written down a share."""
    written = ledger.freeze(broken)
    (theirs,) = _OF_BROKEN.unpack(_compared(me, asker, broken, _OF_BROKEN.pack(written)))
    known = min(written, theirs)
    ledger.give_back(broken, known)
    questions.send_given(asker, known)


def _compared(me: ComputingParty, asker: Channel, question: Question, mine: bytes) -> bytes:
    """What the other mixer says of the question, once it is sure that the hospital announced the same to both."""
    announced = hashlib.sha256(question.encoded()).digest()  # as long whatever recipe is named
    with _same_announcement(me.channel, asker):
        theirs = me.channel.swap(_STEP, announced + mine).tobytes()
    if theirs[: len(announced)] != announced:
        perhaps = f"{asker.peer} or {me.channel.peer}"  # which may have altered what it says it was asked
        raise OutOfRange(perhaps, questions.NEXT, "the two mixers say that they were asked different questions")
    return theirs[len(announced) :]


@contextmanager
def _same_announcement(other: Channel, asker: Channel) -> Iterator[None]:
    """A step at which the mixers wait for each other: the other one is also silent if the hospital sent it nothing."""
    try:
        yield
    except PeerSilent as error:
        perhaps = f"{asker.peer} told one mixer alone, or each something else, or {other.peer} is stuck"
        why = f"{error.why} from {other.peer}: {perhaps}"
        raise PeerSilent(f"{asker.peer} or {other.peer}", questions.NEXT, why) from None
