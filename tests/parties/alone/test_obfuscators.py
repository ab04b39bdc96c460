import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future

import pytest

from mixbayes.parties.alone.obfuscators import BATCH, Key, Stock
from mixbayes.protocol.errors import LocalError, PoolExhausted
from tests.protocol.paillier.test_key import small_key

KEY = small_key(256)


def running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children() -> list[int]:
    return [process.pid for process in multiprocessing.active_children() if process.pid]


@pytest.mark.parametrize("key", [KEY, KEY.public], ids=["owner", "other"])
def test_what_a_stock_hands_out_hides_and_is_never_the_same(key: Key) -> None:
    count = 5 * BATCH + 3
    with Stock(key, ahead=2 * BATCH, processes=2) as stock:
        stock.fill()
        taken = [next(stock) for _ in range(count)]
    assert len(set(taken)) == count
    assert [KEY.decrypt(obfuscator) for obfuscator in taken] == [0] * count
    assert 1 not in taken


def test_two_stocks_of_one_key_have_nothing_in_common() -> None:
    with Stock(KEY, ahead=1) as first, Stock(KEY, ahead=1) as second:
        assert not {next(first) for _ in range(BATCH)} & {next(second) for _ in range(BATCH)}


def test_closing_ends_the_processes() -> None:
    before = set(children())
    with Stock(KEY, ahead=1) as stock:
        next(stock)
        assert set(children()) - before
    assert not set(children()) - before
    with pytest.raises(LocalError):
        next(stock)


def test_a_process_that_dies_is_an_error_and_no_wait() -> None:
    before = set(children())
    with Stock(KEY, ahead=1) as stock:
        next(stock)
        for pid in set(children()) - before:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(LocalError, match="have ended"):
            [next(stock) for _ in range(100 * BATCH)]


def test_what_is_not_made_in_time_is_said() -> None:
    with Stock(KEY, ahead=1, deadline=0.01) as stock:
        stock._coming.append(Future())  # that nobody makes
        with pytest.raises(PoolExhausted):
            stock.fill()


def test_processes_end_with_an_owner_that_was_killed() -> None:
    code = """
import multiprocessing, sys, time
from mixbayes.parties.alone.obfuscators import Stock
from mixbayes.protocol.paillier.key import SecretKey
if __name__ == "__main__":
    stock = Stock(SecretKey(11, 13), ahead=1)
    next(stock)
    print(multiprocessing.active_children()[0].pid, flush=True)
    time.sleep(600)
"""
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    with owner, owner.stdout:
        pid = int(owner.stdout.readline())
        assert running(pid)
        owner.kill()
    until = time.monotonic() + 60
    while running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not running(pid)


def test_a_stock_does_not_print_what_it_holds() -> None:
    with Stock(KEY, ahead=1) as stock:
        assert repr(stock) == "Stock(...)"
