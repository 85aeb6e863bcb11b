"""Forks that Python does not see, and restored memory: no noise is repeated."""

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, hashlib, os, sys
import numpy as np
from malaprop import TEM, Balanced, Laplace, Lexicon, Privatizer, secure_rng
from malaprop.privacy.stock import Stock
{before}

words = [a + b for a in "bcdfghklmn" for b in ("aba", "ebe", "ibi", "obo")]
plane = Lexicon(words, np.random.default_rng(1).normal(size=(40, 2)))
graph = plane.with_graph()
rng, ids = secure_rng(), np.zeros(60, dtype=int)
tem, laplace = TEM(epsilon=0.01).on(plane), Laplace(epsilon=0.01).on(plane)
balanced = Balanced(epsilon=0.01).on(graph)
stocked = Stock(tem)
privatizer = Privatizer(plane, TEM(epsilon=0.01))
text = "baba " * 60
draws = {{
    "random": lambda: rng.random(4).tolist(),
    "integers": lambda: rng.integers(2**62, size=4).tolist(),
    "bytes": lambda: rng.bytes(16),
    "normal": lambda: rng.standard_normal(4).tolist(),
    "raw": lambda: rng.bit_generator.random_raw(4).tolist(),
    "release": lambda: laplace.release_words(ids, rng).tolist(),
    "laplace": lambda: laplace.substitute(ids, rng).tolist(),
    "tem": lambda: tem.substitute(ids, rng).tolist(),
    "balanced": lambda: balanced.substitute(ids, rng).tolist(),
    "stocked": lambda: stocked.substitute(ids, rng).tolist(),
    "privatizer": lambda: privatizer(text).text,
    "spawned": lambda: spawned.bytes(16),
}}
spawned = rng.spawn(1)[0]
draw = draws[sys.argv[1]]
draw()  # there is a key, and a stock of draws made ahead
sys.stdout.flush()
child = ctypes.PyDLL(None).fork()  # without Python's hooks
drawn = hashlib.sha256(repr(draw()).encode()).hexdigest()
if child == 0:
    print(drawn, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(drawn)
"""

KINDS = [
    *("random", "integers", "bytes", "normal", "raw", "release", "laplace", "tem", "balanced"),
    *("stocked", "privatizer", "spawned"),
]
linux = pytest.mark.skipif(sys.platform != "linux", reason="libc's fork is looked up as on Linux")


def two_draws(kind: str, before: str = "") -> list[str]:
    command = [sys.executable, "-c", SCRIPT.format(before=before), kind]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return run.stdout.splitlines()


@linux
@pytest.mark.parametrize("kind", KINDS)
def test_parent_and_child_draw_differently(kind: str) -> None:
    first, second = two_draws(kind)
    assert first != second


@linux
@pytest.mark.parametrize("kind", ["random", "release", "privatizer"])
def test_where_both_have_the_same_process_id(kind: str) -> None:
    """As in two containers, where both have process id 1."""
    first, second = two_draws(kind, before="os.getpid = lambda: 1")
    assert first != second


@linux
@pytest.mark.parametrize("kind", ["random", "release", "privatizer"])
def test_where_the_kernel_wipes_no_memory(kind: str) -> None:
    before = "from malaprop.privacy import randomness as r; r._page = None; r.renew_randomness()"
    first, second = two_draws(kind, before=before)
    assert first != second
