"""Clients and databases that are killed, again and again: no debit is lost, none is skipped.

A few times with all other tests; MALAPROP_KILLS and MALAPROP_CLIENTS say otherwise, as  make stress
does.
"""

import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest
from tests.ledger.client import EPSILON, REFUSED, SECRET, SUBJECTS, work
from tests.postgres import LACKING, Cluster, binaries, cluster_folder

from malaprop.ledger import Ledger, Request

KILLS = int(os.environ.get("MALAPROP_KILLS", "2"))
CLIENTS = int(os.environ.get("MALAPROP_CLIENTS", "16"))
REQUESTS = 40 + 5 * KILLS
PRICE = Decimal(repr(EPSILON))
LIMIT = PRICE * (REQUESTS // SUBJECTS - 2)  # two of each subject are refused
ROOT = Path(__file__).parents[2]


def client(url: str, file: Path, requests: int, threads: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.ledger.client", url, str(file), str(requests)]
    return subprocess.Popen([*command, str(threads)], cwd=ROOT, stderr=subprocess.PIPE)


def check(ledger: Ledger, sent: Path, requests: int) -> None:
    """What was sent was debited, once, and a repeated request had the same answer."""
    answers: dict[int, set[str]] = defaultdict(set)
    for line in sent.read_text().splitlines():
        number, _, text = line.partition(" ")
        answers[int(number)].add(text)
    assert answers.keys() == set(range(requests))
    assert all(len(texts) == 1 for texts in answers.values())
    private = [texts for texts in answers.values() if texts != {REFUSED}]
    assert len(set(map(str, private))) == len(private)
    assert ledger.budget().spent == len(private) * PRICE
    for subject in range(SUBJECTS):
        assert ledger.budget(subject=f"s{subject}").spent <= LIMIT
    assert ledger.verify() == []


def test_killed_clients_lose_no_debit_and_release_nothing_undebited(
    url: str, tmp_path: Path
) -> None:
    sent = tmp_path / "sent"
    with Ledger.open(url, secret=SECRET) as ledger:
        ledger.set_limits(subject_epsilon=LIMIT)
        whole = time.monotonic()
        with client(url, tmp_path / "warm", 0, 1) as process:
            process.communicate()
        start = time.monotonic() - whole
        for _ in range(KILLS):
            with client(url, sent, REQUESTS, 4) as process:
                time.sleep(start + random.SystemRandom().uniform(0.0, 0.5))
                process.kill()
                process.communicate()
            assert ledger.verify() == []
            lines = sent.read_text().splitlines() if sent.exists() else []
            numbers = {line.split()[0] for line in lines if line.partition(" ")[2] != REFUSED}
            assert ledger.budget().spent >= len(numbers) * PRICE
        with client(url, sent, REQUESTS, 4) as process:
            assert process.communicate()[1] == b""
        check(ledger, sent, REQUESTS)


def test_a_killed_database_loses_no_debit(tmp_path: Path) -> None:
    programs = binaries()
    if programs is None:
        pytest.skip(LACKING)
    folder = cluster_folder()
    sent = tmp_path / "sent"
    killed, more = 0, threading.Condition()

    def until_killed_often_enough(number: int) -> None:
        """Spread the requests over the times between kills, with some of them after the last."""
        with more:
            more.wait_for(lambda: killed >= number * (KILLS + 1) // REQUESTS)

    try:
        cluster = Cluster(folder, programs)
        cluster.start()
        with Ledger.open(cluster.database(), secret=SECRET) as ledger:
            ledger.set_limits(subject_epsilon=LIMIT)
            server = threading.Thread(
                target=work,
                args=(ledger, sent, REQUESTS, 4),
                kwargs={"until_allowed": until_killed_often_enough},
                daemon=True,
            )
            server.start()
            for _ in range(KILLS):
                time.sleep(random.SystemRandom().uniform(0.0, 0.2))
                cluster.kill()
                cluster.start()
                with more:
                    killed += 1
                    more.notify_all()
            server.join(timeout=600)
            assert not server.is_alive()
            check(ledger, sent, REQUESTS)
        cluster.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_processes_and_threads_never_overspend(url: str, tmp_path: Path) -> None:
    """As many clients as there may be, in four processes, all with requests of their own."""
    with Ledger.open(url, secret=SECRET) as ledger:
        ledger.set_limits(subject_epsilon=LIMIT, total_epsilon=LIMIT * SUBJECTS - PRICE)
        files = [tmp_path / f"sent{n}" for n in range(4)]
        # The same requests from all of them: each is debited once, whoever is first.
        processes = [client(url, file, REQUESTS, max(1, CLIENTS // 4)) for file in files]
        for process in processes:
            _, err = process.communicate()
            assert process.returncode == 0, err
        sent = tmp_path / "sent"
        sent.write_text("".join(file.read_text() for file in files))
        assert ledger.budget().spent == LIMIT * SUBJECTS - PRICE
        assert ledger.verify() == []
        for subject in range(SUBJECTS):
            assert ledger.budget(subject=f"s{subject}").spent <= LIMIT
        answers = defaultdict(set)
        for line in sent.read_text().splitlines():
            number, _, text = line.partition(" ")
            if text != REFUSED:
                answers[number].add(text)
        assert all(len(texts) == 1 for texts in answers.values())
        assert len(answers) * PRICE == ledger.budget().spent
        assert ledger.stored_answer(Request("request 0", b"w0 w1 w2 w3 w4 w5 w6 w7 w8 w9"))
