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
from malaprop.core.metrics.graph import WordGraph
from malaprop.lexicon.formats import limits, notes, npy

FORMAT = 1
_ABOUT = "about.json"
_NUMBERS = ("epsilon", "exponent", "least_mass", "mass_unit")


def write_graph(path: Path, graph: WordGraph, base: str) -> None:
    """Write a graph of the lexicon with the fingerprint `base`; it appears when it is whole."""
    if len(graph.edges) > limits.edges(graph.size):
        raise LexiconError(
            f"A word graph of {graph.size:,} words can be kept if it has at most "
            f"{limits.edges(graph.size):,} edges. It has {len(graph.edges):,}: leave some out."
        )
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


def read_graph(path: Path, base: str, size: int) -> WordGraph | None:
    """The graph of the lexicon with the fingerprint `base` and so many words.

    Nothing if it is that of another lexicon.
    """
    try:
        note = npy.unpacked(path, ["about"], limits.NOTE)["about"]
        about = _understood(notes.parse(str(note.item())))
        if about["base"] != base:
            return None
        arrays = npy.unpacked(path, ["cutoff", "edges", "weights"], 16 * limits.edges(size))
        return _graph(about, arrays, size)
    except (ValueError, KeyError, TypeError, OSError):
        raise LexiconError(
            f"{path} is no word graph that this version reads: remove it, and run  "
            "malaprop lexicon graph NAME"
        ) from None


def _graph(about: dict[str, Any], arrays: dict[str, NDArray[Any]], size: int) -> WordGraph:
    edges, weights = arrays["edges"], arrays["weights"]
    made = about["made"]
    if type(about["size"]) is not int or about["size"] != size:
        raise ValueError("another number of words")
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError("no edges")
    if weights.shape != edges.shape[:1] or weights.dtype.kind != "f":
        raise ValueError("no weights")
    if type(made) is not dict or not all(isinstance(value, int | str) for value in made.values()):
        raise ValueError("no options")
    return WordGraph(size, edges, weights, cutoff=float(arrays["cutoff"].item()), made=made)


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
        about = _understood(notes.read(path / _ABOUT))
        arrays = {
            name: npy.mapped(path / f"{name}.npy") for name in ("weights", "masses", "counts")
        }
        about["laws"] = [_law(law) for law in about["laws"]]
        _check_arrays(arrays, len(about["laws"]))
        about["fingerprint"] = str(about["fingerprint"])
    except (ValueError, KeyError, TypeError, OSError):
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
