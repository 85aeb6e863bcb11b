"""Fuzz each format of vectors: a damaged file is released, or refused by an error of ours."""

import io
import random
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save as save_safetensors
from tests.fuzz.mutations import mutated

from malaprop import Laplace, MalapropError, release_files

VECTORS = np.random.default_rng(7).normal(size=(9, 3)).astype(np.float32)


def samples() -> dict[str, bytes]:
    """Return a sound file of each format."""
    npy, npz, packed, parquet = (io.BytesIO() for _ in range(4))
    np.save(npy, VECTORS)
    np.savez(npz, vectors=VECTORS, other=np.arange(3))
    np.savez_compressed(packed, vectors=VECTORS)
    column = pa.array(VECTORS.tolist(), pa.list_(pa.float32()))
    pq.write_table(pa.table({"vectors": column, "id": range(9)}), parquet)
    lines = [f"w{i} {' '.join(map(str, row))}\n" for i, row in enumerate(VECTORS.tolist())]
    return {
        "x.npy": npy.getvalue(),
        "x.npz": npz.getvalue(),
        "packed.npz": packed.getvalue(),
        "x.safetensors": save_safetensors({"vectors": VECTORS}, {"note": "n"}),
        "x.txt": "".join(lines).encode(),
        "x.vec": b"9 3\n" + "".join(lines).encode(),
        "x.parquet": parquet.getvalue(),
    }


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Release as many damaged files of each format; count what was accepted and refused."""
    figures: Counter[str] = Counter()
    for name, sound in samples().items():
        for case in range(cases):
            choices = random.Random(f"{seed} {name} {case}")
            accepted = _release(name, mutated(sound, choices), f"seed {seed}, {name} {case}")
            figures[f"{name} {'accepted' if accepted else 'refused'}"] += 1
    return dict(figures)


def _release(name: str, content: bytes, case: str) -> bool:
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place) / name, Path(place) / f"out-{name}"
        source.write_bytes(content)
        column = "vectors" if name.endswith((".npz", ".parquet")) else None
        try:
            release_files(source, target, mechanism=Laplace(epsilon=1.0), scale=1.0, column=column)
        except MalapropError as error:
            refusal = str(error)
        except Exception as error:
            raise AssertionError(f"{case}: {type(error).__name__}") from error
        else:
            assert target.stat().st_size > 0, case
            return True
        assert "\n" not in refusal, case
        assert {path.name for path in Path(place).iterdir()} == {name}, case
        return False
