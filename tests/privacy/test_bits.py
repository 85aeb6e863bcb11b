import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from randomgen import AESCounter
from scipy.stats import kstest

from malaprop import (
    TEM,
    Laplace,
    Lexicon,
    ParameterError,
    Privatizer,
    renew_randomness,
    secure_rng,
    seeded_rng,
)
from malaprop.integrations.sklearn import PrivateEmbedding
from malaprop.privacy.randomness import label

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
    """The child must neither wait for a thread that it does not have, nor repeat noise."""
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


def test_copies_of_the_bits_are_other_bits() -> None:
    bits: Any = secure_rng().bit_generator
    again = [copy.copy(bits), copy.deepcopy(bits), pickle.loads(pickle.dumps(bits))]  # noqa: S301
    again += [bits.jumped(), bits.jumped(), *bits.spawn(2)]
    assert len({Generator(each).bytes(16) for each in [bits, *again]}) == 8
    assert {type(each) for each in again} == {type(bits)}


@pytest.mark.parametrize(
    "repeat",
    [
        lambda bits: bits.state,
        lambda bits: setattr(bits, "state", AESCounter(key=1).state),
        lambda bits: bits.seed(7),
        lambda bits: bits.seed(key=7),
        lambda bits: bits.advance(-10),
        lambda bits: bits.jump(),
    ],
)
def test_nothing_takes_secure_bits_back_to_where_they_were(repeat: Callable[[Any], Any]) -> None:
    with pytest.raises(ParameterError, match="seeded_rng"):
        repeat(secure_rng().bit_generator)


def _memory(rng: Generator) -> Any:
    """The state of the bits, taken by force, as a snapshot of the whole machine takes it."""
    return AESCounter.state.__get__(rng.bit_generator)


def _restore(rng: Generator, memory: Any) -> None:
    AESCounter.state.__set__(rng.bit_generator, memory)


@pytest.mark.parametrize("key_life", [0.0, 1.0])
def test_each_call_takes_in_fresh_entropy(
    plane: Lexicon, monkeypatch: pytest.MonkeyPatch, key_life: float
) -> None:
    """Two machines restored from one snapshot draw differently from the next call on."""
    monkeypatch.setattr("malaprop.privacy.secure_bits._KEY_LIFE", key_life)
    ids, rng = np.zeros(60, dtype=int), secure_rng()
    laplace = Laplace(epsilon=0.01).on(plane)
    private = PrivateEmbedding(epsilon=1.0, random_state=rng).fit(plane.vectors)
    calls: list[Callable[[], Any]] = [
        lambda: laplace.substitute(ids, rng),
        lambda: laplace.release_words(ids, rng),
        lambda: laplace.release(plane.vectors, rng),
        lambda: TEM(epsilon=0.01).on(plane).substitute(ids, rng),
        lambda: Privatizer(plane, TEM(epsilon=0.01), rng=rng)("waa " * 60).text,
        lambda: private.transform(plane.vectors),
    ]
    for call in calls:
        snapshot = _memory(rng)
        first = call()
        _restore(rng, snapshot)
        assert not np.array_equal(call(), first)


def test_a_kernel_that_repeats_itself_does_not_repeat_the_noise(
    plane: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel unaware that its machine was copied gives both copies the same entropy."""
    laplace, rng = Laplace(epsilon=0.01).on(plane), secure_rng()
    snapshot = _memory(rng)
    monkeypatch.setattr(os, "urandom", bytes)
    first = laplace.release(plane.vectors, rng)
    _restore(rng, snapshot)
    assert not np.array_equal(laplace.release(plane.vectors, rng), first)


def test_the_second_half_of_a_call_is_not_the_first() -> None:
    rng: Any = secure_rng()
    blocks = set()
    for _ in range(50):
        rng.begin_call()
        stream = rng.bytes(1600)
        blocks |= {stream[start : start + 16] for start in range(0, 1600, 16)}
    assert len(blocks) == 5000


def test_a_counter_is_counted_on_beyond_its_first_half() -> None:
    """A counter is two halves of 64 bits: if a carry were lost, blocks would repeat."""
    rng = secure_rng()
    memory = _memory(rng)
    memory["s"]["counter"][0::2] = np.uint64(2**64 - 4) + np.arange(4, dtype=np.uint64)
    memory["s"]["counter"][1::2] = 7
    memory["s"]["offset"] = 64
    _restore(rng, memory)
    rng.bytes(128)
    assert _memory(rng)["s"]["counter"].tolist() == [4, 8, 5, 8, 6, 8, 7, 8]


def test_secure_calls_give_uniform_numbers() -> None:
    rng: Any = secure_rng()
    found = []
    for _ in range(5_000):
        rng.begin_call()
        found.append(rng.random())
    assert kstest(found, "uniform").pvalue > 1e-6


def test_every_draw_of_numpys_notices_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    rng: Any = secure_rng()
    noticed: list[int] = []
    monkeypatch.setattr(rng.bit_generator, "notice", lambda: noticed.append(1))
    draws = [name for name in dir(Generator) if name[0] != "_"]
    without = {"bit_generator", "spawn"}
    for name in sorted(set(draws) - without):
        before = len(noticed)
        with suppress(TypeError):
            getattr(rng, name)()
        assert len(noticed) > before, name


def test_renewing_takes_new_keys() -> None:
    rng = secure_rng()
    before = _memory(rng)["s"]["seed"].tolist()
    rng.random()
    assert _memory(rng)["s"]["seed"].tolist() == before
    renew_randomness()
    rng.random()
    assert _memory(rng)["s"]["seed"].tolist() != before


def test_copies_of_what_holds_a_generator_draw_differently(plane: Lexicon) -> None:
    privatizer = Privatizer(plane, TEM(epsilon=0.01))
    private = PrivateEmbedding(epsilon=1.0, random_state=secure_rng()).fit(plane.vectors)
    privatizer("waa " * 60)  # there is a stock of draws
    ways: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy]
    ways.append(lambda thing: pickle.loads(pickle.dumps(thing)))  # noqa: S301
    for copied in ways:
        other, transformer = copied(privatizer), copied(private)
        assert other.randomness == "secure"
        assert other("waa " * 60).text != privatizer("waa " * 60).text
        here, there = private.transform(plane.vectors), transformer.transform(plane.vectors)
        assert not np.array_equal(here, there)


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
