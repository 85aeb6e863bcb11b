"""A client that may be killed: it debits, draws, keeps the answer, and then sends it.

    python -m tests.ledger.client URL FILE REQUESTS THREADS

What it sends are lines of the file: the number of a request, and the private text. Requests that
were sent before are repeated: their answers must be the same.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from malaprop import TEM, Lexicon, Privatizer
from malaprop.ledger import BudgetError, Ledger, LedgerError, Request

SECRET = bytes(range(32))
EPSILON = 0.01
SUBJECTS = 5
TEXT = "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9"
REFUSED = "refused"


def privatizer() -> Privatizer:
    """A hundred words, all about as likely: two texts are the same only if they are one."""
    return Privatizer(
        Lexicon([f"w{n}" for n in range(100)], [[float(n)] for n in range(100)]),
        TEM(epsilon=EPSILON),
    )


def answer(ledger: Ledger, own: Privatizer, number: int) -> str:
    """Answer a request, as a server does."""
    request = Request(f"request {number}", TEXT.encode())
    try:
        receipt = ledger.debit(
            ledger.charge(own, [TEXT]), subject=f"s{number % SUBJECTS}", request=request
        )
    except BudgetError:
        return REFUSED
    if receipt.answered:
        return (ledger.stored_answer(request) or b"expired").decode()
    return ledger.store_answer(request, own(TEXT).text.encode()).decode()


def work(
    ledger: Ledger,
    file: Path,
    requests: int,
    threads: int,
    *,
    until_allowed: Callable[[int], object] | None = None,
) -> None:
    """Answer all requests, several at a time.

    With `until_allowed`, which waits until a request may be sent, also wait until the database is
    back.
    """
    own, numbers = privatizer(), count()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def client() -> None:
        while (number := next(numbers)) < requests:
            if until_allowed is not None:
                until_allowed(number)
            while True:
                try:
                    sent = answer(ledger, own, number)
                    break
                except LedgerError:
                    if until_allowed is None:
                        raise
                    time.sleep(0.02)
            os.write(descriptor, f"{number} {sent}\n".encode())

    clients = [threading.Thread(target=client) for _ in range(threads)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    os.close(descriptor)


if __name__ == "__main__":
    with Ledger.open(sys.argv[1], secret=SECRET) as opened:
        work(opened, Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
