"""`mixbayes mixer` and `mixbayes party`: a node, from its start until SIGTERM or Ctrl-C."""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Annotated, Protocol, TypeVar

import typer

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.cli import bounded
from mixbayes.cli.kept_releases import KeptReleases
from mixbayes.cli.node_options import Agreed, Keys, Name, State
from mixbayes.cli.page import Listen, TextsFile, refuse_page, with_page
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import TABLE, USUAL, opened, read, reads_tables, tell_unmet
from mixbayes.cli.room import Room
from mixbayes.cli.tenths import Tenths
from mixbayes.keys.folder import load_keys
from mixbayes.node.log import Log, configure
from mixbayes.node.metrics.address import Address, checked
from mixbayes.node.observed import Observed
from mixbayes.node.supervision import supervised, tell_status
from mixbayes.parties.examination import Patient
from mixbayes.tables.counting import refuse_empty, refuse_too_few
from mixbayes.tables.folding import Folded, folded
from mixbayes.tables.protected_folds import Secrets, protected_in_folds
from mixbayes.tables.protecting import Protection, read_protection
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.source import SourceAway
from mixbayes.tables.tallying import Counted
from mixbayes.tables.with_noise import for_whom, refuse_unfit_for_noise
from mixbayes.transport.errors import NO_ROOM, CannotServe, RefusedByPolicy

MIXER_EXAMPLES = """Examples:

mixbayes mixer --federation federation.toml --name a --keys keys --state state

mixbayes mixer --federation federation.toml --name b --keys keys --state state --listen 0.0.0.0:8443
"""
PARTY_EXAMPLES = """Examples:

mixbayes party --federation federation.toml --name north --keys keys --data patients.csv --state state

mixbayes party --federation federation.toml --name north --keys keys --data patients.parquet --state state

mixbayes party --federation f.toml --name north --keys keys --data p.csv --state state --protect condensation:k=20
"""

Made = TypeVar("Made")
ASK_AGAIN = 30.0
"""Seconds after which a database that did not answer is asked again."""
Metrics = Annotated[
    str,
    typer.Option(
        metavar="127.0.0.1:PORT",
        help="Serve metrics for Prometheus there; default: nowhere.",
        envvar="MIXBAYES_METRICS",
    ),
]
MetricsOpen = Annotated[
    bool,
    typer.Option(
        "--metrics-open",
        help="Let --metrics be an address that other machines reach: anybody there may read, without TLS.",
        envvar="MIXBAYES_METRICS_OPEN",
    ),
]
Reflection = Annotated[bool, typer.Option("--reflection", help="Let gRPC tools list the services.")]


def mixer(
    federation: Agreed,
    name: Name,
    keys: Keys,
    state: State,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Default: the address in the agreement.", envvar="MIXBAYES_LISTEN"),
    ] = None,
    metrics: Metrics = "",
    metrics_open: MetricsOpen = False,
    reflection: Reflection = False,
    page: Listen = "",
    page_texts: TextsFile = None,
) -> None:
    """Run a mixer: collect contributions, train with the other mixer, answer questions."""
    bounded.begin("to start", bounded.TO_START)
    refuse_page(page, page_texts)
    from mixbayes.mixers import node

    shown_at = _metrics_address(metrics, metrics_open)
    agreed = read_federation(federation)
    log = configure(agreed.title(agreed.mixer(name).name) if agreed.mixers else "mixer")
    settings = node.Settings(agreed, name, keys, state, listen, reflection)
    shown = None
    if page:
        from mixbayes.pages.opening import PageSettings, mixer_page

        patient = Patient(federation, name, keys, None, USUAL, state, listen)
        shown = partial(mixer_page, PageSettings(page, page_texts), patient, agreed, log)
    until_stopped(_shown(with_page(node.running(settings, log), shown), shown_at, log), log)


@reads_tables
def party(
    federation: Agreed,
    name: Name,
    keys: Keys,
    data: Annotated[str, typer.Option(metavar="TABLE", help=TABLE, envvar="MIXBAYES_DATA_TABLE")],
    state: State,
    listen: Annotated[
        str,
        typer.Option(
            metavar="127.0.0.1:PORT",
            help="For the hospital's own applications; default: a free port.",
            envvar="MIXBAYES_LISTEN",
        ),
    ] = "127.0.0.1:0",
    listen_partner: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT",
            help="Without mixers, where the other hospital is listened to; default: the address in the agreement.",
            envvar="MIXBAYES_LISTEN_PARTNER",
        ),
    ] = "",
    protect: Annotated[
        str,
        typer.Option(
            metavar="METHOD[:KEY=VALUE]...",
            help="Count the table as this local method releases it; `mixbayes protect` has the methods.",
            envvar="MIXBAYES_PROTECT",
        ),
    ] = "",
    even_if_unchanged: Annotated[
        bool,
        typer.Option(
            "--even-if-unchanged",
            help="Contribute also where --protect changes none of the numbers of which labels are made.",
            envvar="MIXBAYES_EVEN_IF_UNCHANGED",
        ),
    ] = False,
    metrics: Metrics = "",
    metrics_open: MetricsOpen = False,
    reflection: Reflection = False,
    page: Listen = "",
    page_texts: TextsFile = None,
    how: How = USUAL,
) -> None:
    """Run a hospital's node: check the table, contribute its counts, answer the hospital's own applications."""
    bounded.begin("to start", bounded.TO_START)
    refuse_page(page, page_texts)
    from mixbayes.parties.alone import node as partner_node
    from mixbayes.parties.settings import Settings
    from mixbayes.parties.with_mixers import node

    shown_at = _metrics_address(metrics, metrics_open)
    agreed = read_federation(federation)
    title = agreed.title(agreed.party(name).name)
    protection = read_protection(protect) if protect else None
    if protection and (privacy := agreed.privacy):
        refuse_unfit_for_noise(protection, privacy.epsilon, privacy.delta)
    bounded.over()  # a large table may take its time, and so may a database that is not up yet
    tell_status("counts the table")
    secret = load_keys(keys, name, datetime.now(UTC)).state_key
    found = _when_it_answers(
        lambda: (
            _protected(agreed, data, how, secret, protection, state)
            if protection
            else _folded(agreed, data, how, secret)
        )
    )
    counts = found.counted
    log = configure(title)
    _tell_what_was_counted(counts, log)
    if not even_if_unchanged:
        _refuse_unchanged(counts)
    settings = Settings(
        agreed,
        name,
        keys,
        state,
        counts.vector,
        counts.rows,
        listen,
        listen_partner,
        reflection,
        counts.protection,
        counts.guarantee,
        changed=_changed(agreed, counts),
        own_release=counts.own_release,
        unprotected=found.unprotected,
        patients=found.patients,
        aside=found.aside,
    )
    shown = None
    if page:
        from mixbayes.pages.opening import PageSettings, hospital_page

        patient = Patient(federation, name, keys, data, how, state, listen)
        shown = partial(hospital_page, PageSettings(page, page_texts), patient, agreed, log)
    running = partner_node.running if agreed.two_party else node.running
    bounded.begin("to start", bounded.TO_START + _FIRST_CALLS * agreed.policy.timeout)
    until_stopped(_shown(with_page(running(settings, log), shown), shown_at, log), log)


def _metrics_address(text: str, open_to_all: bool) -> Address | None:
    return checked(text, open_to_all=open_to_all) if text else None


def _folded(agreed: Federation, data: str, how: How, secret: bytes) -> Folded:
    layout, share = agreed.layout, agreed.policy.test_share
    with Talk() as talk:
        table = opened(data, how)
        found = folded(layout, table, test_share=share, secret=dealt_by(agreed, secret), progress=talk)
    tell_unmet(table)
    refuse_empty(found.counted.rows, table.title)
    refuse_too_few(found.counted.rows, layout.terms.min_rows, table.title)
    return found


def dealt_by(agreed: Federation, secret: bytes) -> bytes:
    """The secret by which rows are dealt: under every agreement they are dealt independently."""
    return secret + bytes.fromhex(agreed.digest())


def _protected(agreed: Federation, data: str, how: How, secret: bytes, protection: Protection, state: Path) -> Folded:
    layout = agreed.layout
    with Talk() as talk:
        table = read(data, how, talk)
        refuse_empty(table.rows, table.source)
        refuse_too_few(table.rows, layout.terms.min_rows, table.source)
        return protected_in_folds(
            layout,
            table,
            protection,
            Secrets(dealt_by(agreed, secret), secret),
            test_share=agreed.policy.test_share,
            kept=KeptReleases(state, secret),
            progress=Tenths(talk),
        )


def _refuse_unchanged(counts: Counted) -> None:
    """A protection that changes nothing would be taken for one."""
    if counts.changed and not counts.changed.differing:
        raise RefusedByPolicy(
            f"{counts.protection}: {counts.changed}. Choose another method or setting, leave out --protect, or say "
            "--even-if-unchanged."
        )


def _changed(agreed: Federation, counts: Counted) -> str:
    """What protecting changed, and who has which promise, for the hospital's own applications."""
    said = [str(counts.changed)] if counts.changed else []
    if counts.own_release:
        noise, aside = agreed.privacy is not None, agreed.joint_test
        said.append(f"Promised is {for_whom(counts.own_release, noise=noise, aside=aside)}")
    return ". ".join(said)


def _when_it_answers(work: Callable[[], Made]) -> Made:
    """After a power cut a node may be up before the database is."""
    while True:
        try:
            return work()
        except SourceAway as error:
            typer.echo(f"mixbayes: {error} Trying again in {ASK_AGAIN:g} s. [{error.code}]", err=True)
            tell_status("waits for the database of the table")
            time.sleep(ASK_AGAIN)


def _tell_what_was_counted(counts: Counted, log: Log) -> None:
    if counts.clipped:
        columns = ", ".join(f"{name} {times}" for name, times in counts.clipped.items())
        log.warning("values beyond the agreed bounds count as the bound, or of a list the first", columns=columns)
    if counts.unlabelled:
        log.warning("rows without a class are not counted", rows=counts.unlabelled)
    if counts.coarsened:
        log.warning("cells that the protection generalised count as missing", cells=counts.coarsened)
    if counts.protection:
        log.info("the table is protected", method=counts.protection, guarantee=counts.guarantee)
    if changed := counts.changed:
        say = log.warning if changed.hardly else log.info
        say("what protecting changed", changed=str(changed))


_ENOUGH = (signal.SIGTERM, signal.SIGINT)
_LOOK_EVERY = 5.0
_FIRST_CALLS = 6
"""A hospital's node calls both mixers before it has begun: for the status, to contribute, and the next step's."""


class AtWork(Protocol):
    """A node at work, and its threads: if one of them ends, the node is of no use."""

    @property
    def threads(self) -> Sequence[Thread]: ...


class Seen(AtWork, Protocol):
    """A node at work that shows its state."""

    @property
    def observed(self) -> Observed: ...


def until_stopped(node: AbstractContextManager[AtWork], log: Log) -> None:
    """Run until somebody says that it is enough; a second time ends at once."""
    with _told_to_stop() as signals, _with_room(node) as at_work:
        signals.starting = False
        bounded.over()
        try:
            _wait(signals.heard, at_work.threads)
        finally:
            bounded.begin("to end", bounded.TO_END)
        log.info("stopping")


def _wait(heard: socket.socket, threads: Sequence[Thread]) -> None:
    """Until it is enough. Raises if a thread has ended that the node needs, or it has no room to serve."""
    heard.settimeout(_LOOK_EVERY)
    room = Room()
    while True:
        try:
            if heard.recv(1)[0] in _ENOUGH:
                return
        except TimeoutError:
            if ended := [thread.name for thread in threads if not thread.is_alive()]:
                raise CannotServe(
                    f"A thread that this node needs has ended ({', '.join(ended)}); its log may say why. {NO_ROOM}"
                ) from None
            room.look()


@contextmanager
def _shown(node: AbstractContextManager[Seen], metrics: Address | None, log: Log) -> Iterator[Seen]:
    """The node, which shows itself to its supervisor, and to Prometheus where that is asked for."""
    with ExitStack() as stack:
        at_work = stack.enter_context(node)
        if metrics:
            from mixbayes.node.metrics.listener import served  # needs an extra

            stack.enter_context(served(metrics, at_work.observed, log))
        stack.enter_context(supervised(at_work.observed, log))
        yield at_work


@contextmanager
def _with_room(node: AbstractContextManager[Made]) -> Iterator[Made]:
    """The node. If the system has no more threads or memory for its start, the error says so."""
    with ExitStack() as stack:
        try:
            at_work = stack.enter_context(node)
        except (RuntimeError, MemoryError) as error:
            if isinstance(error, RuntimeError) and "thread" not in str(error):
                raise
            raise CannotServe(f"This node cannot start. {NO_ROOM}") from error
        yield at_work


@dataclass
class _Signals:
    heard: socket.socket
    """The end at which the numbers of signals arrive, written in whichever thread the system gives them to."""
    starting: bool = True
    """A node that is not ready yet may wait for others, and leaves off."""

    def once(self, number: int, frame: FrameType | None) -> None:
        """The handler. It cannot wake anybody: it runs once the main thread goes on. That may be between any two of its
        steps, so it may not wait for a lock either."""
        for again in _ENOUGH:
            signal.signal(again, signal.SIG_DFL)
        if self.starting:
            sys.exit(0)


@contextmanager
def _told_to_stop() -> Iterator[_Signals]:
    heard, told = socket.socketpair()
    with heard, told:
        told.setblocking(False)
        signals = _Signals(heard)
        told_before = signal.set_wakeup_fd(told.fileno())
        before = {number: signal.signal(number, signals.once) for number in _ENOUGH}
        try:
            yield signals
        finally:
            signals.starting = False
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(told_before)
