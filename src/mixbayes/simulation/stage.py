"""What a simulated federation needs before its nodes start: an agreement, an authority, keys, free ports, a folder."""

from __future__ import annotations

import re
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from mixbayes.agreement.agreement import USUAL_AHEAD, Federation, Policy, Privacy, federation_from
from mixbayes.agreement.members import Mixer, Party
from mixbayes.keys.authority import make_authority, make_request, sign
from mixbayes.protocol.attributes.dictionary import MOST_ROWS, Dictionary
from mixbayes.protocol.errors import Unsupported
from mixbayes.protocol.transfer.kinds import KindName

_RESERVED = {"a", "b", "authority"}


@dataclass(frozen=True)
class Rules:
    """What is agreed besides the dictionary: rows of each hospital, noise, folds, recipes, and the transfers."""

    min_rows: int = 1
    max_rows_each: int | None = None
    privacy: Privacy | None = None
    folds: int = 1
    recipes: tuple[str, ...] = ()
    transfers: KindName = "extended"
    ahead: int = USUAL_AHEAD


USUAL = Rules()


@dataclass(frozen=True)
class Stage:
    """Where everything lies. `names` are the hospitals' names as nodes, by what the user calls them."""

    folder: Path
    federation: Federation
    names: Mapping[str, str]

    def keys(self, node: str) -> Path:
        return self.folder / "keys" / node

    def state(self, node: str) -> Path:
        return self.folder / "state" / node


@contextmanager
def stage(
    hospitals: Sequence[str],
    dictionary: Dictionary,
    protocol: str,
    two_party: bool,
    timeout: float,
    rules: Rules = USUAL,
) -> Iterator[Stage]:
    """A folder that only this user can read, and that is gone afterwards."""
    names = node_names(hospitals)
    folder = Path(tempfile.gettempdir(), f"mixbayes-{secrets.token_hex(8)}")
    try:
        _make(folder)
        federation = _agreement(list(names.values()), dictionary, protocol, two_party, timeout, rules)
        set_up = Stage(folder, federation, names)
        _hand_out_keys(set_up)
        yield set_up
    finally:  # TemporaryDirectory would leave it behind if it were stopped between making and remembering it
        shutil.rmtree(folder, ignore_errors=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise Unsupported(f"{folder} cannot be made: {error.strerror}. Set TMPDIR to a folder with room.") from None


def node_names(hospitals: Sequence[str]) -> dict[str, str]:
    """A node's name for every hospital: its own in small plain letters where that is one, else a number."""
    names: dict[str, str] = {}
    for number, hospital in enumerate(hospitals, start=1):
        plain = re.sub(r"[^a-z0-9]+", "-", hospital.lower()).strip("-")[:40]
        fits = bool(plain) and plain not in _RESERVED and not plain.isdigit() and plain not in names.values()
        numbered = (f"hospital-{n}-of-{len(hospitals)}" for n in count(number))
        names[hospital] = plain if fits else next(name for name in numbered if name not in names.values())
    return names


def _agreement(
    names: Sequence[str], dictionary: Dictionary, protocol: str, two_party: bool, timeout: float, rules: Rules
) -> Federation:
    ports = free_ports(1 if two_party else 2)
    addresses = [f"127.0.0.1:{port}" for port in ports]
    listening = dict(zip(names[:1], addresses, strict=False)) if two_party else {}
    policy = Policy(
        minimum=len(names),
        budget=MOST_ROWS,
        timeout=timeout,
        rounds=1,
        min_rows=rules.min_rows,
        max_rows_each=rules.max_rows_each,
        transfers=rules.transfers,
        ahead=rules.ahead,
        folds=rules.folds,  # and no test_share: a simulation deals the rows itself, and has no joint test
    )
    mixers = [] if two_party else [Mixer(name="a", address=addresses[0]), Mixer(name="b", address=addresses[1])]
    return federation_from(
        {
            "name": "simulation",
            "protocol": protocol,
            "parties": [Party(name=name, address=listening.get(name)) for name in names],
            "mixers": mixers,
            "policy": policy,
            "privacy": rules.privacy,
            "recipes": rules.recipes,
            "dictionary": dictionary,
        }
    )


def free_ports(number: int) -> list[int]:
    """Ports of this machine on which nothing listens; all different, because all are held until the last is found."""
    try:
        with ExitStack() as held:
            sockets = [held.enter_context(socket.socket()) for _ in range(number)]
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            return [int(one.getsockname()[1]) for one in sockets]
    except OSError as error:
        raise Unsupported(
            f"The system lets this process listen nowhere on loopback ({error.strerror}). A simulation needs that, and "
            "perhaps a higher limit (ulimit -n)."
        ) from None


def _hand_out_keys(set_up: Stage) -> None:
    """One authority, and for every node a folder of its own, as an operator would make it."""
    authority = set_up.folder / "authority"
    make_authority(authority)
    trusted = (authority / "authority.pem").read_bytes()
    for node in (*set_up.federation.names, *(mixer.name for mixer in set_up.federation.mixers)):
        folder = set_up.keys(node)
        make_request(node, folder)
        sign(folder / f"{node}.csr", authority, folder / f"{node}.pem")
        (folder / "authority.pem").write_bytes(trusted)
