"""What a word costs on one core: in a plain process, and in a task of Spark.

    python benchmarks/spark_cluster.py [documents]

Prints the rows of the table in docs/howto/scaling.md. All costs are CPU times of processes, not of
the clock, so that a busy machine does not matter much. The first pass of a fresh Python process of
Spark opens the lexicon, and draws ahead for words that recur; Spark keeps the process, and later
passes find all that prepared. So the first pass stands by itself, and of the later ones there are
the smallest and the largest.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import malaprop

WORDS = 200  # a document's
LATER = 4  # passes after the first
BATCH = 800  # documents: about a million characters, as in all engines
_TICK = os.sysconf("SC_CLK_TCK")


def documents(lexicon: malaprop.Lexicon, count: int) -> list[str]:
    """Documents in which words are as common as Zipf's law has it."""
    rng = np.random.Generator(np.random.PCG64(1))
    odds = 1.0 / np.arange(1, len(lexicon) + 1)
    ids = rng.choice(len(lexicon), size=(count, WORDS), p=odds / odds.sum())
    return [" ".join(lexicon.words[i] for i in row) + "." for row in ids.tolist()]


def family() -> Iterator[tuple[str, float]]:
    """Name and CPU seconds of this process's children, and of theirs."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            head, _, tail = (folder / "stat").read_text().rpartition(")")
        except OSError:
            continue
        fields = tail.split()
        seconds = sum(map(int, fields[11:15])) / _TICK
        found[int(folder.name)] = (head.partition("(")[2], int(fields[1]), seconds)
    for name, parent, seconds in found.values():
        while parent in found and parent != os.getpid():
            parent = found[parent][1]
        if parent == os.getpid():
            yield name, seconds


def cpu(name: str) -> float:
    """CPU seconds of all descendants of that name."""
    return sum(seconds for found, seconds in family() if found.startswith(name))


def passes(run: Callable[[], dict[str, float]]) -> tuple[dict[str, float], list[dict[str, float]]]:
    """The costs of the first pass, and those of the later ones."""
    return run(), [run() for _ in range(LATER)]


def rows_of(name: str, first: float, later: list[float]) -> list[tuple[str, float]]:
    """The rows of a cost."""
    return [
        (f"{name}, first pass, CPU s per million words", first),
        (f"{name}, later passes, smallest", min(later)),
        (f"{name}, later passes, largest", max(later)),
    ]


def main() -> None:
    """Measure, and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3_200
    started = time.process_time()
    lexicon = malaprop.Lexicon.open("english")
    privatizer = malaprop.Privatizer(lexicon, malaprop.TEM(epsilon=1.5))
    privatizer("ready")
    opening = time.process_time() - started
    texts = documents(lexicon, count)
    million = count * WORDS / 1e6

    def plain() -> dict[str, float]:
        begun = time.process_time()
        for start in range(0, count, BATCH):
            privatizer.many(texts[start : start + BATCH])
        return {"one process": (time.process_time() - begun) / million}

    rows: list[tuple[str, Any]] = [
        ("words a pass, million", million),
        ("opening the lexicon, CPU s", opening),
    ]
    first, later = passes(plain)
    rows += rows_of("one process", first["one process"], [one["one process"] for one in later])
    with tempfile.TemporaryDirectory() as folder:
        rows += on_spark(texts, million, privatizer, folder)
    for name, value in rows:
        print(f"| {name} | {value:,.2f} |")


def on_spark(
    texts: list[str], million: float, privatizer: malaprop.Privatizer, folder: str
) -> list[tuple[str, Any]]:
    """The same on Spark, with one core; Parquet in, Parquet out."""
    from pyspark.sql import SparkSession

    from malaprop.integrations.spark import privatize

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "OFF").getOrCreate()
    table = spark.createDataFrame(list(enumerate(texts)), "key long, text string")
    table.repartition(2).write.parquet(f"{folder}/in")
    runs = iter(range(99))

    def run() -> dict[str, float]:
        java, python = cpu("java"), cpu("python") + cpu("pyspark")
        privatize(
            spark.read.parquet(f"{folder}/in"),
            ["text"],
            lexicon=privatizer.lexicon,
            mechanism=privatizer.mechanism,
            path=f"{folder}/out{next(runs)}",
        )
        return {
            "Spark: Python": (cpu("python") + cpu("pyspark") - python) / million,
            "Spark: Java": (cpu("java") - java) / million,
        }

    first, later = passes(run)
    rows: list[tuple[str, Any]] = []
    for name in first:
        rows += rows_of(name, first[name], [one[name] for one in later])
    # Java is slower, too, before its compiler has seen the code: that is not Python's share.
    steady = max(one["Spark: Python"] for one in later)  # as in the table of docs/howto/scaling.md
    once = (first["Spark: Python"] - steady) * million
    rows.append(("once for each Python process of Spark, CPU s", once))
    sizes = {
        f"{name}, Parquet bytes a document": sum(
            part.stat().st_size for part in Path(folder, where).glob("part-*")
        )
        / len(texts)
        for name, where in (("input", "in"), ("output", "out0"))
    }
    sizes["input, text bytes a document"] = sum(len(t.encode()) for t in texts) / len(texts)
    spark.stop()
    return [*rows, *sizes.items()]


if __name__ == "__main__":
    main()
