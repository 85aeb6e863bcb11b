"""Time mldp-text in its environment; see `peer_rates.run`."""

import functools
from typing import Any

import mldp_text
import peer_rates
from gensim.models import KeyedVectors

MADE = {
    "TEM": mldp_text.TEM,
    "Laplace": mldp_text.MultivariateCalibrated,
    "Mahalanobis": mldp_text.Mahalanobis,
}


@functools.cache
def vectors(path: str) -> KeyedVectors:
    """The vectors, read once."""
    return KeyedVectors.load_word2vec_format(path, no_header=True)


def prepare(task: dict[str, Any], name: str, epsilon: float) -> Any:
    """What replaces a word."""
    return MADE[name](epsilon=epsilon, embedding_matrix=vectors(task["vectors"])).replace_word


if __name__ == "__main__":
    peer_rates.run(prepare)
