"""Audit the embedded lexicons, and write the exponents that TEM may have on each.

    python tools/build_exponents.py [NAME ...]

Writes src/malaprop/data/NAME/exponents.json, which takes some minutes for 33,000 words on one core.
Prints the entry to put into src/malaprop/lexicon/shipped.toml once the tests have passed.
"""

import hashlib
import sys
import time

from malaprop.lexicon import store
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.tem_exponents import build_table


def main(names: list[str]) -> None:
    """Build the tables of these lexicons."""
    for name in names:
        started = time.monotonic()
        table = build_table(Lexicon.open(name), progress=_show)
        path = store.embedded()[name] / table.shipped
        table.write(path)
        print(f"\r{name}: {len(table.exponents)} exponents, {time.monotonic() - started:.0f} s")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        print(f'[tables.{table.fingerprint}] "{table.shipped}" = "{digest}"')


def _show(done: int, total: int) -> None:
    print(f"\r{100 * done // total:3} %", end="", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or sorted(store.embedded()))
