import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from malaprop import TEM, Laplace, Lexicon, ParameterError, secure_rng, seeded_rng
from malaprop.core.randomness import label

SHARED = secure_rng()  # exists before any fork


def shared_draws(_: int) -> list[int]:
    return [int(x) for x in SHARED.integers(2**62, size=4)]


def test_forked_workers_never_share_noise() -> None:
    with multiprocessing.get_context("fork").Pool(3) as pool:
        draws = pool.map(shared_draws, range(30), chunksize=1)
    draws.append(shared_draws(0))
    numbers = [x for four in draws for x in four]
    assert len(set(numbers)) == len(numbers)


def test_a_forked_child_differs_from_its_parent() -> None:
    rng = secure_rng()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, rng.bytes(32))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 32) != rng.bytes(32)


def test_a_fork_while_another_thread_draws() -> None:
    """The child must neither hang on the lock of a thread that it has not, nor repeat noise."""
    rng = secure_rng()
    stop = threading.Event()

    def draw_on() -> None:
        while not stop.is_set():
            rng.standard_normal(200_000)

    thread = threading.Thread(target=draw_on)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # ends the child if it hangs
                rng.random()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_two_processes_never_share_noise() -> None:
    command = "import malaprop; print(malaprop.secure_rng().integers(2**62, size=4))"
    runs = {subprocess.check_output([sys.executable, "-c", command]) for _ in range(2)}
    assert len(runs) == 2


def test_copies_and_pickles_are_other_generators() -> None:
    rng = secure_rng()
    again = [copy.copy(rng), copy.deepcopy(rng), pickle.loads(pickle.dumps(rng)), *rng.spawn(2)]  # noqa: S301
    assert len({generator.bytes(16) for generator in [rng, *again]}) == 6
    assert {label(generator) for generator in again} == {"secure"}


def test_only_our_own_generator_counts_as_secure() -> None:
    assert label(secure_rng()) == "secure"
    assert label(seeded_rng(1)) == "seeded: not private"
    assert label(np.random.Generator(np.random.PCG64())) == "seeded: not private"


def test_a_seed_repeats_and_another_does_not() -> None:
    assert seeded_rng(4).bytes(8) == seeded_rng(4).bytes(8)
    assert seeded_rng(4).bytes(8) != seeded_rng(5).bytes(8)


def test_secure_numbers_are_uniform() -> None:
    assert kstest(secure_rng().random(50_000), "uniform").pvalue > 1e-6


def test_two_channels_with_fresh_randomness_differ(plane: Lexicon) -> None:
    ids = np.arange(40).repeat(5)
    for mechanism in (TEM(epsilon=0.5), Laplace(epsilon=0.5)):
        channel = mechanism.on(plane)
        draws = {tuple(channel.substitute(ids, secure_rng())) for _ in range(3)}
        assert len(draws) == 3


@pytest.mark.parametrize("seed", [None, -1, 1.5, "1"])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(ParameterError, match="whole number"):
        seeded_rng(seed)


@pytest.mark.parametrize("rng", [None, 3, np.random])
def test_channels_take_generators_only(plane: Lexicon, rng: Any) -> None:
    channel = Laplace(epsilon=1.0).on(plane)
    calls: list[Callable[[], object]] = [
        lambda: channel.substitute([0], rng),
        lambda: channel.release(plane.vectors, rng),
        lambda: channel.release_words([0], rng),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match="Generator"):
            call()
