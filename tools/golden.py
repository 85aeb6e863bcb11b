"""Record what a user gets, and compare it later: the net under a change that must change nothing.

    python tools/golden.py record FOLDER            a file for each case, in a folder
    python tools/golden.py compare FOLDER           run again; print what differs, and exit with 1
    python tools/golden.py compare FOLDER --only attack-*

The cases stand in golden.toml: commands, and programs that use what `malaprop` exports. Each runs
with seeds, in processes and a folder of its own. Its file holds exit codes, outputs, messages and
all files that were written, but no dates, durations and versions: they change by themselves.
`seconds.tsv` in FOLDER says how long each case took, by the clock and of the processor, and is not
compared. A tree is chosen by PYTHONPATH.
"""

import argparse
import difflib
import fnmatch
import gzip
import hashlib
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 400_000
"""Text files of more characters are recorded by their digest."""

UNSEEN = ("in/", ".state/", ".home/cache/")
"""Folders that are not recorded: the input, keys, and caches whose names depend on versions."""
SAME_ENTROPY = """
import hashlib, os, threading, time
_now = time.monotonic
os.urandom = lambda size: hashlib.shake_256(b"golden").digest(size)
time.time_ns = time.perf_counter_ns = lambda: 0
time.monotonic = lambda: _now() / 100
"""
"""What every process of a case starts with: pages estimate some figures by noise without a seed.

Each call then draws the same noise, however many came before. Keys live for a second: here, longer.
"""
CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Files that cases read, commands and programs."""
COMMANDS: dict[str, str] = CASES["commands"]
PROGRAMS: dict[str, str] = CASES["programs"]
START = PROGRAMS.pop("start")


def write_inputs(folder: Path) -> None:
    """Write the files that cases read."""
    texts: dict[str, str] = dict(CASES["files"])
    notes = texts["notes.txt"].splitlines()
    rows = [{"id": i, "text": text, "seen": f"2024-03-{i + 1:02}"} for i, text in enumerate(notes)]
    texts["notes.csv"] = "id,text,seen\n" + "".join(_csv(row, ",") for row in rows)
    texts["notes.tsv"] = "id\ttext\tseen\n" + "".join(_csv(row, "\t") for row in rows)
    texts["notes.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
    rng = np.random.Generator(np.random.PCG64(7))
    texts["reviews.csv"] = _reviews(rng)
    names = "cold cool warm hot ice snow fire sun cat dog bird fish"
    points = zip(names.split(), np.round(rng.normal(size=(12, 3)) * 2, 3), strict=True)
    texts["tiny.vec"] = "".join(f"{name} {x} {y} {z}\n" for name, (x, y, z) in points)
    texts["prior.txt"] = "".join(f"{name} {i + 1}\n" for i, name in enumerate(names.split()))
    texts["vocabulary.txt"] = "".join(f"w{i}\n" for i in range(60))
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "binary.csv").write_bytes(b"id,text\n1,\xff\xfe\x00\n")
    (folder / "notes.csv.gz").write_bytes(gzip.compress(texts["notes.csv"].encode(), mtime=0))
    with pa.output_stream(folder / "notes.jsonl.zst", compression="zstd") as stream:
        stream.write(texts["notes.jsonl"].encode())
    pq.write_table(pa.Table.from_pylist(rows), folder / "notes.parquet")
    _write_vectors(folder, rng.normal(size=(60, 8)))


def _write_vectors(folder: Path, vectors: NDArray[np.float64]) -> None:
    pq.write_table(pa.table({"id": range(60), "v": vectors.tolist()}), folder / "vectors.parquet")
    np.save(folder / "vectors.npy", vectors)
    np.savez(folder / "vectors.npz", first=vectors, second=vectors[:9])
    shape = {"dtype": "F64", "shape": list(vectors.shape), "data_offsets": [0, vectors.nbytes]}
    head = json.dumps({"rows": shape}).encode()
    content = len(head).to_bytes(8, "little") + head + vectors.tobytes()
    (folder / "vectors.safetensors").write_bytes(content)


def _reviews(rng: np.random.Generator) -> str:
    """Return texts of two classes and two authors, who differ in a word each."""
    good = ["great", "lovely", "superb", "warm", "clever"]
    bad = ["dull", "awful", "boring", "cold", "stupid"]
    about = ["film", "book", "story", "actor", "plot", "scene", "song", "hotel", "doctor", "market"]
    lines = ["id,author,label,text"]
    for i in range(120):
        words = rng.choice((good if i % 2 else bad) + about, size=9)
        author, habit = ("Ann", "truly") if i % 3 else ("Bob", "rather")
        text = f"The {' '.join(words[:7])} and {habit} {words[7]} {words[8]}."
        lines.append(f"{i},{author},{'good' if i % 2 else 'bad'},{text}")
    return "\n".join(lines) + "\n"


def _csv(row: dict[str, object], mark: str) -> str:
    return mark.join('"' + str(value).replace('"', '""') + '"' for value in row.values()) + "\n"


def run_case(name: str, folder: Path) -> str:
    """Run a case in a folder, and return what came out."""
    (folder / "in" / "sitecustomize.py").write_text(SAME_ENTROPY, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": f"{folder / 'in'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "MALAPROP_HOME": str(folder / ".home"),
        "MALAPROP_STATE": str(folder / ".state"),
        "OPENBLAS_NUM_THREADS": "1",
        "COLUMNS": "100",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }
    parts = []
    for shown, command, source in _commands(name):
        with open(folder / source if source else os.devnull, "rb") as given:
            done = subprocess.run(
                command, cwd=folder, env=environment, stdin=given, capture_output=True, check=False
            )
        parts.append(f"$ {shown}\nexit {done.returncode}\n")
        for title, output in (("stdout", done.stdout), ("stderr", done.stderr)):
            if output:
                parts.append(f"--- {title}\n{output.decode('utf-8', 'replace')}")
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.is_file() and not str(place).startswith(UNSEEN):
            parts.append(f"--- file {place}\n{_content(path)}\n")
    return _normal("\n".join(parts), folder)


def _commands(name: str) -> list[tuple[str, list[str], str]]:
    """Return what to show of each command of a case, its arguments, and its input."""
    if name in PROGRAMS:
        return [(f"python: {name}", [sys.executable, "-c", START + PROGRAMS[name]], "")]
    commands = []
    for line in COMMANDS[name].splitlines():
        words, _, source = line.partition(" < ")
        call = [sys.executable, "-m", "malaprop", *shlex.split(words)]
        commands.append((f"malaprop {line}", call, source))
    return commands


def _content(path: Path) -> str:
    """Return the text of a file, or the digest of what is no text."""
    if path.suffix == ".malaprop":
        return "keyed facts, for a run that is resumed"
    if path.suffix in (".gz", ".zst"):
        kind = {".gz": "gzip", ".zst": "zstd"}[path.suffix]
        with pa.input_stream(path, compression=kind) as stream:
            return str(stream.read().decode())
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return f"{table.schema}\n" + "\n".join(map(str, table.to_pylist()))
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or len(text) > SHOWN:
        return f"{len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}"
    return text


_NUMBER = r"\d+\.\d[\w.+-]*"
_PACKAGES = "malaprop|numpy|scipy|scikit-learn|python"
CHANGING = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(\+00:00|Z| UTC)?", "DATE"),
    (rf'(?i)(\bseconds(?:": | \| |</td><td>| +)){_NUMBER}', r"\1SECONDS"),
    (rf'(?i)((?:{_PACKAGES})(?:": "|,? +| \| |</td><td>)){_NUMBER}', r"\1VERSION"),
    (r"datetime\([\d, ]+", "datetime(DATE, "),
    (r"seconds=[\d.e-]+", "seconds=SECONDS"),
    (r'[^\s"]*/src/malaprop/', "SRC/"),
)
"""What changes by itself, as patterns."""


def _normal(text: str, folder: Path) -> str:
    text = text.replace(str(folder), "CASE")
    for pattern, mark in CHANGING:
        text = re.sub(pattern, mark, text)
    return text


def run_all(names: list[str], times: Path) -> Iterator[tuple[str, str]]:
    """Run cases; yield each with what came out, and write down how long it took."""
    with tempfile.TemporaryDirectory(prefix="golden-") as made, times.open("w") as log:
        for name in names:
            folder = Path(made, name)
            (folder / "in").mkdir(parents=True)
            write_inputs(folder / "in")
            started, used = time.perf_counter(), _processor_seconds()
            text = run_case(name, folder)
            taken = time.perf_counter() - started
            print(f"{name}\t{taken:.1f}\t{_processor_seconds() - used:.1f}", file=log, flush=True)
            yield name, text


def _processor_seconds() -> float:
    """Return what all processes that ended so far took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="*", help="cases by name, such as attack-*")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    names = [name for name in (*COMMANDS, *PROGRAMS) if fnmatch.fnmatch(name, arguments.only)]
    if arguments.action == "record":
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in run_all(names, folder / "seconds.tsv"):
            (folder / f"{name}.golden").write_text(text, encoding="utf-8")
        return 0
    compared = run_all(names, folder / "seconds-compared.tsv")
    changed = [name for name, text in compared if _differs(folder, name, text)]
    print(f"{len(changed)} of {len(names)} cases changed", *changed, sep="\n  ")
    return 1 if changed else 0


def _differs(folder: Path, name: str, text: str) -> bool:
    """Print how a case differs from its record, if it does."""
    path = folder / f"{name}.golden"
    before = path.read_text("utf-8") if path.exists() else ""
    sys.stdout.writelines(
        line if line.endswith("\n") else f"{line}\n"
        for line in difflib.unified_diff(
            before.splitlines(), text.splitlines(), f"{name} before", f"{name} now", lineterm=""
        )
    )
    return before != text


if __name__ == "__main__":
    sys.exit(main())
