"""Worker processes: fresh noise in each, all work done once, and an end that is an end."""

import os
import platform
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malaprop import TEM, Privatizer
from malaprop.files.resume_file import Drawn
from malaprop.files.workers import (
    BatchDraw,
    Item,
    StartMethod,
    WorkerError,
    WorkerPool,
    draw_all,
)
from malaprop.privacy.errors import MalapropError

METHODS: list[StartMethod] = ["fork", "spawn", "forkserver"]


@pytest.fixture(scope="module")
def privatizer(tmp_path_factory: pytest.TempPathFactory) -> Privatizer:
    """A hundred words, all about as likely: two texts are the same only with the same noise."""
    path = tmp_path_factory.mktemp("lexicon") / "hundred.vec"
    path.write_text("".join(f"w{chr(97 + i // 10)}{chr(97 + i % 10)} {i} 0\n" for i in range(100)))
    return Privatizer(path, TEM(epsilon=0.001))


def batches(number: int) -> list[list[str]]:
    return [["waa wbb wcc " * 10, f"w{chr(97 + i % 10)}a"] for i in range(number)]


def items(batches: Iterable[list[str]], file: int = 0) -> Iterator[Item]:
    return (Item((file, number), texts) for number, texts in enumerate(batches))


def drawn_of(batches: Iterable[list[str]], pool: WorkerPool, file: int = 0) -> list[Drawn]:
    return [drawn for _, drawn in draw_all(items(batches, file), pool)]


@pytest.mark.parametrize("method", METHODS)
def test_no_two_workers_have_the_same_noise(privatizer: Privatizer, method: StartMethod) -> None:
    draw = BatchDraw(privatizer)
    text = ["waa " * 40]
    seen = [draw((0, 0), text).texts[0]]  # the parent's generator is in use when it forks
    with WorkerPool(draw, size=2, start=method) as pool:
        for number in range(6):
            pool.add((0, number), text)
        while len(seen) < 7:
            seen += [drawn.texts[0] for _, drawn in pool.results()]
    seen.append(draw((0, 0), text).texts[0])
    assert len(set(seen)) == 8
    # Nor does one noise run behind another: no eight words in a row are shared. (Of five, two of
    # the 288 runs would be equal once in 240,000 times.)
    runs = [tuple(str(text).casefold().split()[i : i + 8]) for text in seen for i in range(33)]
    assert len(set(runs)) == len(runs)


def test_a_seed_gives_the_same_with_any_number_of_workers(privatizer: Privatizer) -> None:
    def made(workers: int, file: int = 0, seed: int | None = 7) -> list[Drawn]:
        with WorkerPool(BatchDraw(privatizer, seed), workers) as pool:
            return drawn_of(batches(9), pool, file)

    alone = made(1)
    assert len({drawn.texts[0] for drawn in alone}) == 9
    assert made(2) == alone
    assert made(3) == alone
    assert made(2, file=1) != alone
    assert made(2, seed=8) != alone
    assert made(2, seed=None) != alone


def test_order_is_kept_and_all_is_drawn_once(privatizer: Privatizer) -> None:
    texts = [[f"w{chr(97 + i % 10)}{'!' * i}"] * (1 + 500 * (i % 3 == 0)) for i in range(20)]
    with WorkerPool(BatchDraw(privatizer), 3) as pool:
        drawn = drawn_of([*texts, [], *texts], pool)
    assert [len(batch.texts) for batch in drawn] == [len(batch) for batch in [*texts, [], *texts]]
    marks = [str(batch.texts[0]).count("!") for batch in drawn if batch.texts]
    assert marks == [*range(20), *range(20)]
    assert sum(batch.counts.get("protected", 0) for batch in drawn) == 2 * sum(map(len, texts))


def test_few_batches_are_read_ahead(privatizer: Privatizer) -> None:
    read = 0

    def reading() -> Any:
        nonlocal read
        for batch in batches(50):
            read += 1
            yield batch

    with WorkerPool(BatchDraw(privatizer), 2) as pool:
        for done, _ in enumerate(draw_all(items(reading()), pool)):
            assert read <= done + 5
    with WorkerPool(BatchDraw(privatizer), 1) as pool:
        next(draw_all(items(reading()), pool))
    assert read == 51


def test_a_single_batch_needs_no_process(privatizer: Privatizer) -> None:
    def here(key: Any, texts: list[str]) -> int:
        return os.getpid()

    with WorkerPool(here, 8) as pool:
        pool.add(0, ["a"])
        assert list(pool.results()) == [(0, os.getpid())]
        pool.add(1, ["a"])
        pool.add(2, ["a"])
        found = list(pool.results())
        assert os.getpid() not in [pid for _, pid in found]


def test_a_worker_that_dies_is_noticed(privatizer: Privatizer) -> None:
    def die(key: Any, texts: list[str]) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with WorkerPool(die, 2) as pool:
        pool.add(0, ["a"])
        pool.add(1, ["a"])
        with pytest.raises(WorkerError, match=r"exit code -9.*`workers`"):
            list(pool.results())


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MalapropError("said on purpose"), "said on purpose"),
        (ValueError("secret"), r"internal error in a worker: ValueError at test_workers.py:\d+"),
        (KeyError("secret"), "internal error in a worker: KeyError"),
    ],
)
def test_an_error_in_a_worker_tells_no_text(error: Exception, message: str) -> None:
    def fail(key: Any, texts: list[str]) -> None:
        raise error

    with WorkerPool(fail, 2) as pool:
        pool.add(0, ["secret"])
        pool.add(1, ["secret"])
        with pytest.raises(MalapropError, match=message) as caught:
            list(pool.results())
    assert "secret" not in repr(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_memory_that_runs_out_in_a_worker() -> None:
    def fail(key: Any, texts: list[str]) -> None:
        raise MemoryError

    with WorkerPool(fail, 2) as pool:
        pool.add(0, ["a"])
        pool.add(1, ["a"])
        with pytest.raises(MemoryError):
            list(pool.results())


ORPHANS = """
import os, sys, time
from malaprop.files.workers import WorkerPool
def wait(key, texts):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(600)
with WorkerPool(wait, 3) as pool:
    for number in range(3):
        pool.add(number, [])
    list(pool.results())
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are seen in /proc")
def test_workers_do_not_outlive_a_parent_that_is_killed() -> None:
    command = [sys.executable, "-c", ORPHANS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            workers = [int(process.stdout.readline()) for _ in range(3)]
        finally:
            process.kill()
    deadline = time.monotonic() + 600
    while any(Path(f"/proc/{worker}/cmdline").exists() and _alive(worker) for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def _page_faults(_: Any, texts: list[str]) -> int:
    def use() -> None:
        [np.ones(2**20) for _ in range(6)]  # 8 MB each, 2,048 pages

    use()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        use()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only this C library is told to")
def test_a_worker_keeps_the_memory_of_arrays() -> None:
    with WorkerPool(_page_faults, size=2) as pool:
        for number in range(2):
            pool.add((0, number), [])
        assert all(faults < 2048 for _, faults in pool.results())
