"""Where things are kept: results, the page, and what can be made again, which git ignores.

What is in the cache is made from `english`: `make clean` if that has changed.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCHMARKS = HERE.parent
CACHE = BENCHMARKS / ".cache"
VENVS = BENCHMARKS / ".venvs"


def results(size: str) -> Path:
    """The folder of what the parts of a run of that size found."""
    return CACHE / "smoke" if size == "smoke" else HERE / "results" / size


def pages(size: str) -> Path:
    """The folder of the page and the plots of a run of that size."""
    return CACHE / "smoke" if size == "smoke" else BENCHMARKS


def cached(name: str) -> Path:
    """The path of something that is made once."""
    CACHE.mkdir(exist_ok=True)
    return CACHE / name
