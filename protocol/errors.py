"""Every error that has a code; the local methods have their own, and the commands tell them as one of these.

The message says who, where, why and what to do; docs/errors has each code. Ours and theirs are different classes:
`BadData` is the hospital's own table, `PeerError` blames another node by name, `LocalError` is a mistake of this
program. A message about one's own table quotes up to 20 cells of a column that do not fit, and counts rows. No message
to or about another node holds a secret, a count or a cell.
"""


class MixbayesError(Exception):
    """Anything that ends a job; the command line turns it into its exit code."""

    code = "E000"
    exit_code = 1


class BadData(MixbayesError):
    """A table or a file of this hospital cannot be used as it is."""

    code = "E100"
    exit_code = 6


class TableMismatch(BadData):
    """The table breaks the dictionary; the message lists every column and value that does."""

    code = "E101"


class BadDictionary(BadData):
    """The dictionary contradicts itself or the rules."""

    code = "E102"


class DictionaryTooLarge(BadData):
    """The dictionary asks for more classes or cells than the protocols take."""

    code = "E103"


class TooManyRows(BadData):
    """All hospitals together have more rows than the dictionary allows for."""

    code = "E104"


class BadFederation(BadData):
    """The federation file cannot be read or contradicts itself."""

    code = "E105"


class BadKeys(MixbayesError):
    """The key folder lacks something, or what it holds does not fit together."""

    code = "E120"
    exit_code = 3


class BadState(MixbayesError):
    """The state folder is in use, damaged, of another federation, or closed with another key."""

    code = "E121"


class CannotServe(MixbayesError):
    """The node cannot listen where it should, or not on that address."""

    code = "E122"


class Unsupported(MixbayesError):
    """The combination that was asked for does not exist."""

    code = "E110"
    exit_code = 2


class PeerError(MixbayesError):
    """Another node sent something wrong: it is named, with the step at which it happened."""

    code = "E200"
    exit_code = 3
    usual_remedy = "Ask who runs it which version and file they use"

    def __init__(self, peer: str, step: str, why: str, remedy: str | None = None) -> None:
        super().__init__(peer, step, why, remedy)  # all of them, so that the error survives pickling
        self.peer = peer
        self.step = step
        self.why = why
        self.remedy = remedy or self.usual_remedy

    def __str__(self) -> str:
        return f"{self.peer}, at {self.step}: {self.why}. {self.remedy}."


class WrongLength(PeerError):
    """A message is shorter or longer than the public dictionary makes it."""

    code = "E201"
    usual_remedy = "Compare the digests of both dictionaries and both versions"


class WrongStep(PeerError):
    """A message came out of order, twice, or where none was due."""

    code = "E202"
    usual_remedy = "Start the job again; if it comes back, compare versions"


class OutOfRange(PeerError):
    """A number in a message lies outside what the protocol allows."""

    code = "E203"


class CheatingReceiver(PeerError):
    """The receiver of oblivious transfers failed the consistency check."""

    code = "E204"
    usual_remedy = "Stop working with it until its operator has explained this; no honest run does it"


class BadGroupElement(PeerError):
    """A point that is not on the curve, or lies in its small subgroup."""

    code = "E205"
    usual_remedy = "Stop working with it until its operator has explained this; no honest run does it"


class Disagreement(PeerError):
    """The other node works by another agreement, another protocol or another version."""

    code = "E206"
    usual_remedy = "Compare both files with `mixbayes federation show`, and both versions with `mixbayes --version`"


class NotAdmitted(PeerError):
    """A certificate that does not speak for what was asked."""

    code = "E207"
    usual_remedy = "Ask who signs certificates for this federation"


class DifferentSets(PeerError):
    """The two mixers hold different contributions: nothing is computed."""

    code = "E208"
    usual_remedy = "Nothing was computed; start a new round"


class LyingHospital(PeerError):
    """A hospital's contribution is not the counts of any table."""

    code = "E220"
    usual_remedy = "It counts for nothing in this round; ask its operator which program made it, and from what table"


class PeerSilent(PeerError):
    """Nothing came before the deadline."""

    code = "E210"
    exit_code = 4
    usual_remedy = "Ask whether it is running and reachable, then try again"


class PeerGone(PeerError):
    """The connection was closed before the job was done."""

    code = "E211"
    usual_remedy = "Ask whether it is running and reachable, then try again"


class Unreachable(PeerError):
    """No connection could be made, or none that both ends trust."""

    code = "E212"
    usual_remedy = "Run `mixbayes doctor` there and here"


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


class LocalError(MixbayesError):
    """This program made a mistake; no other party is to blame."""

    code = "E300"


class PoolExhausted(LocalError):
    """More prepared randomness was asked for than had been made."""


class Reuse(LocalError):
    """Something that hides only once, or a conversation that broke off, was about to be used again."""
