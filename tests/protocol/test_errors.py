import pickle

import pytest

from mixbayes.protocol.errors import BadData, MixbayesError, PeerError, PeerSilent, WrongLength
from mixbayes.tables.encoding import TableMismatch


@pytest.mark.parametrize("kind", [PeerError, WrongLength, PeerSilent])
def test_peer_error_names_peer_step_reason_and_remedy(kind: type[PeerError]) -> None:
    error = kind("mixer b", "training", "7 bytes came where 8 were due")
    assert (error.peer, error.step) == ("mixer b", "training")
    assert str(error) == f"mixer b, at training: 7 bytes came where 8 were due. {kind.usual_remedy}."


def test_peer_error_takes_a_remedy_of_its_own() -> None:
    assert str(PeerError("party va", "greeting", "no", "Call them")) == "party va, at greeting: no. Call them."


def test_peer_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(PeerSilent("party va", "greeting", "silence", "Call them")))
    assert isinstance(error, PeerSilent)
    assert (error.peer, str(error)) == ("party va", "party va, at greeting: silence. Call them.")


def test_exit_codes_tell_own_data_from_the_peer() -> None:
    assert [kind.exit_code for kind in (MixbayesError, BadData, TableMismatch, PeerError, PeerSilent)] == [
        1,
        6,
        6,
        3,
        4,
    ]
