"""Fuzzing: each target tries so many cases, and returns what it tried as figures.

A target is a function of the number of cases and a seed. It raises what it finds. `make fuzz` runs
all of them for some minutes; `test_fuzz.py` runs a few cases of each.
"""

from collections.abc import Callable

from tests.fuzz import (
    cutting,
    data_archives,
    journals,
    labelled_files,
    ledgers,
    lexicon_files,
    planning,
    public_pieces,
    record_files,
    vector_files,
)

Target = Callable[[int, int], dict[str, int]]

TARGETS: dict[str, tuple[Target, int]] = {
    "tokenizer": (cutting.fuzz, 100_000),
    "policy": (planning.fuzz, 10_000),
    "public pieces": (public_pieces.fuzz, 4_000),
    "file formats": (record_files.fuzz, 20_000),
    "labelled texts": (labelled_files.fuzz, 5_000),
    "lexicon formats": (lexicon_files.fuzz, 5_000),
    "vector formats": (vector_files.fuzz, 3_000),
    "journal": (journals.fuzz, 2_000),
    "data archives": (data_archives.fuzz, 5_000),
    "ledger": (ledgers.fuzz, 4_000),
    "keys": (ledgers.fuzz_keys, 2_000),
}
"""Each target, and how many cases `make fuzz` tries."""
