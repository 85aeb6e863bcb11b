"""The files of word graphs and of their balances.

    graph.npz              edges, weights, cut-off, how it was made, and of which lexicon
    balance/about.json     the fingerprint of the lexicon with its graph, and a list of laws
    balance/weights.npy    ν of each law, in units of 2⁻¹⁶
    balance/masses.npy     Z of each law, in units of its own
    balance/counts.npy     how many words are on each level, from each word

A file belongs to the lexicon whose fingerprint it has, and to no other.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError, OutputError
from malaprop.core.graph import WordGraph

FORMAT = 1
_ABOUT = "about.json"
_NUMBERS = ("epsilon", "exponent", "least_mass", "mass_unit")


def write_graph(path: Path, graph: WordGraph, base: str) -> None:
    """Write a graph of the lexicon with the fingerprint `base`; it appears when it is whole."""
    about = {"format": FORMAT, "base": base, "size": graph.size, "made": graph.made}
    narrow = np.uint16 if graph.size <= 1 << 16 else np.uint32
    with _whole(path) as part:
        np.savez_compressed(
            part,
            about=np.array(json.dumps(about)),
            cutoff=np.array(graph.cutoff),
            edges=graph.edges.astype(narrow),
            weights=graph.weights,
        )


def read_graph(path: Path) -> tuple[WordGraph, str]:
    """A graph and the fingerprint of the lexicon that it was made for."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = _understood(json.loads(str(file["about"])))
            graph = WordGraph(
                int(about["size"]),
                file["edges"],
                file["weights"],
                cutoff=float(file["cutoff"]),
                made=about["made"],
            )
            return graph, str(about["base"])
    except Exception:  # a damaged archive makes zipfile, zlib and numpy raise what they like
        raise LexiconError(
            f"{path} is no word graph that this version reads: remove it, and run  "
            "malaprop lexicon graph NAME"
        ) from None


def write_balances(
    path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a folder of balances; it appears when it is whole."""
    with _whole(path) as part:
        part.mkdir()
        for name, array in arrays.items():
            np.save(part / f"{name}.npy", array, allow_pickle=False)
        text = json.dumps({"format": FORMAT, **about}, indent=1)
        (part / _ABOUT).write_text(text + "\n", encoding="utf-8")


def read_balances(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What is known of a folder of balances, and its arrays, which are mapped, not read."""
    try:
        about = _understood(json.loads((path / _ABOUT).read_text(encoding="utf-8")))
        arrays = {
            name: np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in ("weights", "masses", "counts")
        }
        about["laws"] = [_law(law) for law in about["laws"]]
        _check_arrays(arrays, len(about["laws"]))
        about["fingerprint"] = str(about["fingerprint"])
    except Exception:  # as above
        raise LexiconError(
            f"{path} holds no balances that this version reads: run  malaprop lexicon graph NAME "
            "--force"
        ) from None
    return about, arrays


def _law(about: dict[str, Any]) -> dict[str, Any]:
    return {"spread": bool(about["spread"])} | {name: float(about[name]) for name in _NUMBERS}


def _check_arrays(arrays: dict[str, NDArray[Any]], laws: int) -> None:
    """Whether the arrays are of the kind and the shapes that were written."""
    shape = (laws, len(arrays["counts"]))
    if arrays["counts"].ndim != 2 or arrays["counts"].dtype.kind != "u":
        raise ValueError("no counts")
    for name in ("weights", "masses"):
        if arrays[name].shape != shape or arrays[name].dtype != np.uint16:
            raise ValueError(f"no {name}")


def _understood(about: dict[str, Any]) -> dict[str, Any]:
    if about["format"] != FORMAT:
        raise ValueError("another format")
    return about


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A path to write to, which gets its name when all is written."""
    part = path.with_name(f".{secrets.token_hex(4)}.{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(part, path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)
