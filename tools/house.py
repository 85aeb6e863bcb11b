"""Print figures of the house: how large it is, and how many rooms a call goes through.

    python tools/house.py

Lines and modules are those of `src`. A module's importers are the modules that name it in an import
statement, wherever that stands. A call is followed by `sys.setprofile`, in this process: it enters
the modules of which a function, a property or an expression runs, and is as deep as Malaprop's own
frames on the stack.
"""

import ast
import contextlib
import io
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "malaprop"
SMALL = 150
"""A module of fewer lines is small."""
TEXTS = ("My dog ate chocolate.", "My doctor prescribed aspirin.")
"""What the first call gets, and the second: plain words, no values."""


def modules() -> dict[str, Path]:
    """Return the files of all modules, by dotted name."""
    return {_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def lines_of(path: Path) -> int:
    """Return how many lines a file has."""
    return len(path.read_text("utf-8").splitlines())


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the modules that a file imports: the innermost that a statement names."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else str(node.module)


def beside_their_one_importer(known: dict[str, Path]) -> list[str]:
    """Return the small modules with one importer, a module of the same folder."""
    importers = defaultdict(set)
    for name, path in known.items():
        for other in imported(path, known):
            if other != name:
                importers[other].add(path)
    return [
        name
        for name, path in known.items()
        if path.name != "__init__.py"
        and lines_of(path) < SMALL
        and len(importers[name]) == 1
        and (importer := next(iter(importers[name]))).parent == path.parent
        and importer.name != "__init__.py"
    ]


def recurring(known: dict[str, Path]) -> list[str]:
    """Return the names that several modules have."""
    names = Counter(path.stem for path in known.values() if path.name != "__init__.py")
    return sorted(name for name, count in names.items() if count > 1)


def ending_in_ing(known: dict[str, Path]) -> list[str]:
    """Return the modules whose names end in -ing."""
    return [name for name, path in known.items() if path.stem.endswith("ing")]


def test_files(known: dict[str, Path]) -> tuple[list[Path], list[Path]]:
    """Return the test files that import modules in folders of folders, and all."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    deep = [path for path in files if any(name.count(".") > 2 for name in imported(path, known))]
    return deep, files


def entered(call: Callable[[str], Any]) -> tuple[set[str], int]:
    """Return the modules that a call enters, and how deep it goes."""
    files: set[str] = set()
    deepest = 0

    def follow(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal deepest
        if event == "call" and _is_ours(frame):
            files.add(frame.f_code.co_filename)
            deepest = max(deepest, _depth(frame))

    with contextlib.redirect_stderr(io.StringIO()):
        call(TEXTS[0])  # imports and prepares
        sys.setprofile(follow)
        try:
            call(TEXTS[1])
        finally:
            sys.setprofile(None)
    return {_name(Path(file)) for file in files}, deepest


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(f"{SOURCE}/")


def _depth(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += _is_ours(frame)
        frame = frame.f_back
    return depth


def calls() -> dict[str, Callable[[str], Any]]:
    """Return the calls that are followed, by their titles."""
    import malaprop

    if not str(malaprop.__file__).startswith(str(SOURCE)):
        raise SystemExit(f"PYTHONPATH={SOURCE.parent} is missing: this is {malaprop.__file__}")
    privatizer = malaprop.Privatizer(epsilon=1.5)

    def run(text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "notes.csv")
            source.write_text(f'id,text\n1,"{text}"\n', encoding="utf-8")
            output = Path(folder, "private.csv")
            malaprop.privatize_files(source, output, epsilon=1.5, columns=["text"], workers=1)

    return {
        "second call of a Privatizer": privatizer,
        "second privatize_files of a CSV, one worker": run,
    }


def main() -> None:
    """Print the table."""
    known = modules()
    stubs = SOURCE.rglob("*.pyi")
    total = sum(lines_of(path) for path in (*known.values(), *stubs))
    deep, files = test_files(known)
    rows = [
        ("src lines / modules", f"{total:,} / {len(known)}"),
        (
            "small modules whose one importer stands beside them",
            len(beside_their_one_importer(known)),
        ),
    ]
    for title, call in calls().items():
        names, depth = entered(call)
        rows.append((f"{title}: modules entered / depth", f"{len(names)} / {depth}"))
    rows += [
        (
            "module names that recur / that end in -ing",
            f"{len(recurring(known))} / {len(ending_in_ing(known))}",
        ),
        ("test files that import malaprop.a.b.c", f"{len(deep)} of {len(files)}"),
    ]
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
