"""Files of vectors in every format, for the tests of what is done with them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load_file, save_file

from malaprop import Laplace, seeded_rng

ROWS = seeded_rng(1).normal(size=(250, 4)).astype(np.float32)
WORDS = [f"word{i}" for i in range(len(ROWS))]
NEAR = Laplace(epsilon=1e5)  # so little noise that rows can be recognised


def write_text(path: Path, rows: Any = ROWS, header: bool = False) -> None:
    lines = [
        f"{w} {' '.join(map(repr, row.tolist()))}\n" for w, row in zip(WORDS, rows, strict=False)
    ]
    path.write_text((f"{len(rows)} {rows.shape[1]}\n" if header else "") + "".join(lines))


def write_parquet(path: Path, kind: Any = None, rows: Any = ROWS) -> None:
    column = pa.array([row.tolist() for row in rows], kind or pa.list_(pa.float32()))
    table = pa.table({"id": pa.array(range(len(rows))), "vector": column})
    pq.write_table(table.replace_schema_metadata({"note": "a secret"}), path)


WRITE: dict[str, Callable[[Path], Any]] = {
    "x.npy": lambda path: np.save(path, ROWS),
    "x.npz": lambda path: np.savez(path, vectors=ROWS),
    "y.npz": lambda path: np.savez_compressed(path, vectors=ROWS),
    "x.safetensors": lambda path: save_file({"vectors": ROWS}, path, {"note": "a secret"}),
    "x.txt": write_text,
    "x.vec": lambda path: write_text(path, header=True),
    "x.parquet": write_parquet,
    "y.parquet": lambda path: write_parquet(path, pa.list_(pa.float32(), 4)),
    "z.parquet": lambda path: write_parquet(path, pa.large_list(pa.float64())),
}


def read(path: Path) -> Any:
    match path.suffix:
        case ".npy":
            return np.load(path)
        case ".npz":
            return np.load(path)["vectors"]
        case ".safetensors":
            return load_file(path)["vectors"]
        case ".parquet":
            return np.array(pq.read_table(path)["vector"].to_pylist())
    lines = path.read_text().splitlines()
    return np.array([list(map(float, line.split()[1:])) for line in lines if len(line.split()) > 2])
