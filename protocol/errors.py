"""The errors of the mathematics, and the base classes of all errors that have a code.

`transport/errors.py` has those of nodes at work. The local methods have their own, which the commands turn into one of
these. A message says who, where, why and what to do, and docs/errors.md explains each code. The classes say whose fault
it is: `BadData` is about the own table, `PeerError` blames another node by name, `LocalError` is a mistake of
this program. A message about the own table quotes up to 20 cells of a column that do not fit, and counts rows. No
message to or about another node holds a secret, a count or a cell.
"""


class MixbayesError(Exception):
    """Anything that ends a job; the command line turns it into its exit code."""

    code = "E000"
    exit_code = 1
    origin = ""
    """The node that raised it, where another node has reported it here, however many nodes passed it on."""


class BadData(MixbayesError):
    """A table or a file of this hospital cannot be used as it is."""

    code = "E100"
    exit_code = 6


class BadDictionary(BadData):
    """The dictionary contradicts itself or the rules."""

    code = "E102"


class DictionaryTooLarge(BadData):
    """The dictionary asks for more classes or cells than the protocols take."""

    code = "E103"


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


class CheatingSender(PeerError):
    """The sender of silent transfers failed the consistency check."""

    code = "E215"
    usual_remedy = CheatingReceiver.usual_remedy


class CheatingToss(PeerError):
    """The other party departs from the protocol while coins of the noise are tossed."""

    code = "E217"
    usual_remedy = CheatingReceiver.usual_remedy


class BadGroupElement(PeerError):
    """A point that is not on the curve, or lies in its small subgroup."""

    code = "E205"
    usual_remedy = "Stop working with it until its operator has explained this; no honest run does it"


class DifferentTransfers(PeerError):
    """The other computing party makes oblivious transfers in another way."""

    code = "E216"
    usual_remedy = "Compare both files with `mixbayes federation show`, and both versions with `mixbayes --version`"


class DifferentSets(PeerError):
    """The two computing parties hold different contributions, or what was made of different ones."""

    code = "E208"
    usual_remedy = "Nothing was computed; start a new round"


class PeerSilent(PeerError):
    """Nothing came before the deadline."""

    code = "E210"
    exit_code = 4
    usual_remedy = "Ask whether it is running and reachable, then try again"


class PeerGone(PeerError):
    """The connection was closed before the job was done."""

    code = "E211"
    usual_remedy = "Ask whether it is running and reachable, then try again"


class LocalError(MixbayesError):
    """This program made a mistake; no other party is to blame."""

    code = "E300"


class PoolExhausted(LocalError):
    """More prepared randomness was asked for than had been made."""


class Reuse(LocalError):
    """Something that hides only once, or a conversation that broke off, was about to be used again."""
