"""Time pypantera, whose wheel imports as `src`, in its environment; see `peer_rates.run`."""

import functools
from importlib import import_module
from typing import Any

import peer_rates
from src.EmbeddingPerturbationMechanism.cmp import CMP
from src.EmbeddingPerturbationMechanism.mahalanobis import Mahalanobis
from src.SamplingPerturbationMechanism.tem import TEM

# Each mechanism would read the file of vectors again: that is not what is compared.
BASE: Any = import_module("src.AbstractTextObfuscationDPMechanism")
BASE.Vocab = functools.cache(BASE.Vocab)
FURTHER = {"TEM": {"beta": 0.001}, "Laplace": {}, "Mahalanobis": {"lam": 0.2}}
MADE = {"TEM": TEM, "Laplace": CMP, "Mahalanobis": Mahalanobis}


def prepare(task: dict[str, Any], name: str, epsilon: float) -> Any:
    """What replaces a word, as `obfuscateText` does for each text of a table."""
    mechanism = MADE[name]({"embPath": task["vectors"], "epsilon": epsilon, **FURTHER[name]})
    if name == "TEM":
        return lambda word: mechanism.processText([word])
    return lambda word: mechanism.processText(mechanism.noisyEmb([word]))


if __name__ == "__main__":
    peer_rates.run(prepare)
