"""The errors of nodes at work. A node reports them to its callers, as gRPC statuses (`status.py`)."""

from mixbayes.protocol.errors import MixbayesError, PeerError


class CannotServe(MixbayesError):
    """The node cannot listen where it should, or answers nobody there."""

    code = "E122"


NO_ROOM = (
    "The system may have no threads or memory left for it. Raise its limits (ulimit -u, ulimit -v; with systemd "
    "TasksMax and MemoryMax), or end something else, and start the node again."
)
"""What to do about a node that has no room to serve."""


class BadState(MixbayesError):
    """The state folder is in use, damaged, of another federation, or closed with another key."""

    code = "E121"


class Disagreement(PeerError):
    """The other node works by another agreement, another protocol or another version."""

    code = "E206"
    usual_remedy = "Compare both files with `mixbayes federation show`, and both versions with `mixbayes --version`"


class NotAdmitted(PeerError):
    """A certificate that does not speak for what was asked."""

    code = "E207"
    usual_remedy = "Ask who signs certificates for this federation"


class WrongKey(PeerError):
    """A certificate of the authority, for the right name and a key that is not the one of the agreement."""

    code = "E209"


class Revoked(PeerError):
    """A certificate that the authority has revoked."""

    code = "E214"


class Unreachable(PeerError):
    """No connection could be made, or none that both ends trust."""

    code = "E212"
    usual_remedy = "Run `mixbayes doctor` there and here"


class LyingHospital(PeerError):
    """A hospital's contribution is not the counts of any table."""

    code = "E220"
    usual_remedy = "It counts for nothing in this round; ask its operator which program made it, and from what table"


class Unjudged(PeerError):
    """The verdict on a hospital's contribution may not be opened again, and not both mixers have it."""

    code = "E221"
    usual_remedy = "It counts for nothing in this round; contribute anew in the next one"


class TooEarly(MixbayesError):
    """The round does not answer yet: somebody is missing."""

    code = "E213"
    exit_code = 4


class RefusedByPolicy(MixbayesError):
    """What the federation agreed on does not allow it."""

    code = "E230"
    exit_code = 5


class OverBudget(RefusedByPolicy):
    """The rows that this hospital may ask about in this round are used up."""

    code = "E231"


class AlreadyContributed(RefusedByPolicy):
    """A second, different contribution to the same round."""

    code = "E232"


class RoundOver(RefusedByPolicy):
    """The round takes no contributions or questions any more."""

    code = "E233"


class QuestionSpent(RefusedByPolicy):
    """This question broke off before; its rows stay charged, and it cannot be asked again under the same id."""

    code = "E234"


class RoundFailed(MixbayesError):
    """The round ended without a model."""

    code = "E240"
