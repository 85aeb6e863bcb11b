import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from malaprop.privacy.progress import _limiting, in_threads, threads


def blas() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(params=[1, 2, 3])
def limit(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.parametrize("parts", [0, 1, 2, 7])
def test_results_come_in_order_and_the_limit_is_given_back(limit: int, parts: int) -> None:
    with threadpool_limits(limit, user_api="blas"):
        before = threads()
        assert before == limit
        found = in_threads(lambda part: (part, max(blas())), list(range(parts)))
        assert found == [(part, 1) for part in range(parts)]
        assert threads() == before


def test_an_error_comes_through_and_the_limit_is_given_back(limit: int) -> None:
    with threadpool_limits(limit, user_api="blas"):
        with pytest.raises(ZeroDivisionError):
            in_threads(lambda part: 1 // part, [1, 0, 2])
        assert threads() == limit


def test_searches_at_once_do_not_keep_the_limit() -> None:
    """Four threads search again and again: each gets its results, and the limit is restored."""
    with threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(in_threads, abs, [-1, -2, -3]) for _ in range(60)]
        assert [call.result() for call in calls] == [[1, 2, 3]] * 60
        assert threads() == 2


def test_work_within_work_does_not_wait_for_itself() -> None:
    def outer(part: int) -> list[int]:
        return in_threads(abs, [-part, -1])

    with threadpool_limits(2, user_api="blas"):
        assert in_threads(outer, [2, 3]) == [[2, 1], [3, 1]]


def _search() -> None:
    with threadpool_limits(2, user_api="blas"):
        in_threads(abs, [-1, -2, -3])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_does_not_wait_for_threads_that_it_does_not_have() -> None:
    child = multiprocessing.get_context("fork").Process(target=_search)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_limiting.acquire).result()  # held by a thread that is not forked
        try:
            child.start()
            child.join(30.0)
        finally:
            pool.submit(_limiting.release).result()
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0
