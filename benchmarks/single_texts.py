"""Single texts: the time of one sentence, of many short texts one by one, and of a cold start.

    python benchmarks/single_texts.py                      sentences of words of `english`
    python benchmarks/single_texts.py --reviews FILE       and short texts of your own, a line each

Times are those of the processor (user and system), in one thread: other processes on the machine
change them little. Wall times are stated beside them only for the cold start.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from malaprop import TEM, Balanced, Lexicon, Mechanism, Privatizer

WORDS = 12  # of a sentence
SENTENCES = 150
REPEATS = 2000
TEXTS = 6000
TOKENS = 10_000


def spent(work: Callable[[], object]) -> float:
    """Return the processor time that some work takes, in seconds."""
    before = time.process_time()
    work()
    return time.process_time() - before


def sentences(words: list[str]) -> list[str]:
    """Cut words into sentences, so that no word occurs twice."""
    return [" ".join(words[i : i + WORDS]) for i in range(0, len(words) - WORDS, WORDS)]


def measure_sentences(lexicon: Lexicon, mechanism: Mechanism) -> None:
    """Print the median time of a sentence of new words, and of one whose words are stocked."""
    privatizer = Privatizer(lexicon, mechanism)
    words = list(privatizer.lexicon.words)
    random.Random(1).shuffle(words)  # noqa: S311
    new, *more = sentences(words)[: SENTENCES + 1]
    privatizer(new)
    fresh = median(spent(lambda text=text: privatizer(text)) for text in more)  # type: ignore[misc]
    stocked = median(spent(lambda: privatizer(new)) for _ in range(REPEATS))
    print(f"{mechanism!r:24} new sentence {1e3 * fresh:6.2f} ms, again {1e6 * stocked:5.0f} µs")


def measure_texts(path: Path, epsilon: float) -> None:
    """Print the time of up to 6,000 lines of a file, one by one."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:TEXTS]
    privatizer = Privatizer(epsilon=epsilon)
    privatizer("warm")
    taken = spent(lambda: [privatizer(line) for line in lines])
    print(f"{len(lines):,} texts one by one, ε = {epsilon:g}: {taken:.2f} s")


def measure_cold_start(words: list[str], runs: int) -> None:
    """Print the least and the median time of the command line on a small file."""
    odds = [1.0 / rank for rank in range(1, len(words) + 1)]
    drawn = random.Random(2).choices(words, odds, k=TOKENS)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder:
        notes, out = Path(folder, "notes.txt"), Path(folder, "out.txt")
        lines = (" ".join(drawn[i : i + 20]) for i in range(0, TOKENS, 20))
        notes.write_text("\n".join(lines) + "\n", encoding="utf-8")
        times = [_run(notes, out) for _ in range(runs)]
    for name, values in zip(("wall", "processor"), zip(*times, strict=True), strict=True):
        print(f"{TOKENS:,} tokens, cold: {name} {min(values):.2f} s, median {median(values):.2f} s")


def _run(notes: Path, out: Path) -> tuple[float, float]:
    command = "from malaprop.cli.main import main; main()"
    arguments = ["privatize", str(notes), "-o", str(out), "-e", "1.5", "--force"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", command, *arguments], check=True, capture_output=True)  # noqa: S603
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure single texts.")
    parser.add_argument("--reviews", type=Path, help="short texts, a line each")
    parser.add_argument("--runs", type=int, default=5, help="how many cold starts")
    chosen = parser.parse_args()
    opened = spent(lambda: Privatizer(epsilon=1.5))
    print(f"a Privatizer on english, in a warm process: {opened:.2f} s")
    print(f"other work on the machine: load {os.getloadavg()[0]:.1f}")
    lexicon = Lexicon.open("english")
    for epsilon in (1.0, 1.5, 2.0):
        measure_sentences(lexicon, Balanced(epsilon=epsilon))
    measure_sentences(lexicon, TEM(epsilon=1.5))
    if chosen.reviews is not None:
        measure_texts(chosen.reviews, 1.5)
    measure_cold_start(list(lexicon.words), chosen.runs)


if __name__ == "__main__":
    main()
