"""What a word costs on one core: in a plain process, and in a task of Spark.

    python benchmarks/spark_cluster.py [documents]

Prints the rows of the table in docs/scaling.md. All costs are CPU times of processes, not of the
clock, so that a busy machine does not matter much; each is the smaller of two runs.
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


def smallest(run: Callable[[], dict[str, float]]) -> dict[str, float]:
    """The smallest cost of two runs, after one to get warm."""
    run()
    runs = [run() for _ in range(2)]
    return {name: min(found[name] for found in runs) for name in runs[0]}


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

    rows: list[tuple[str, Any]] = [("opening the lexicon, CPU s", opening)]
    rows += [(f"{name}, CPU s per million words", s) for name, s in smallest(plain).items()]
    with tempfile.TemporaryDirectory() as folder:
        rows += on_spark(texts, million, privatizer, folder)
    for name, value in rows:
        print(f"| {name} | {value:,.2f} |")


def on_spark(
    texts: list[str], million: float, privatizer: malaprop.Privatizer, folder: str
) -> list[tuple[str, Any]]:
    """The same on Spark, with one core; Parquet in, Parquet out."""
    from pyspark.sql import SparkSession

    from malaprop.spark import privatize

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

    found = smallest(run)
    sizes = {
        f"{name}, Parquet bytes a document": sum(
            part.stat().st_size for part in Path(folder, where).glob("part-*")
        )
        / len(texts)
        for name, where in (("input", "in"), ("output", "out0"))
    }
    sizes["input, text bytes a document"] = sum(len(t.encode()) for t in texts) / len(texts)
    spark.stop()
    costs = {f"{name}, CPU s per million words": s for name, s in found.items()}
    return [*costs.items(), *sizes.items()]


if __name__ == "__main__":
    main()
