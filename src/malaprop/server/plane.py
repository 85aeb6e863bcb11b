"""Draws on the small lexicons of the page: words with places in the plane, and in a disk.

What the view Vectors draws are real draws of the library's mechanisms, on lexicons of two
dimensions. Their words are public, and so is the word that is asked for: it is one of the list.
"""

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from scipy.special import betaincinv, gammaincinv

from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms import mechanism_named
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import Channel, LawChannel, VectorChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.noise import EllipticalLaplace, HyperbolicLaplaceNoise
from malaprop.privacy.randomness import secure_rng
from malaprop.server.models import PlaneRequest
from malaprop.server.problems import invalid

GAMMA: Final = 4.0
"""The distance beyond which TEM takes all words of the map as equally far."""
_COUNTED: Final = 5000  # draws from which chances are estimated where they are not known
_RINGS: Final = (0.5, 0.9)  # of the draws that lie within an outline
_CORNERS: Final = 72
_NEAREST: Final = 5
_MAPS: Final = {
    "laplace": "words",
    "mahalanobis": "words",
    "tem": "words",
    "hyperbolic-laplace": "tree",
}


def shortened(places: Floats) -> Floats:
    """Return places with four decimals, towards the middle: rounded, some would leave the disk.

    >>> shortened(np.array([[0.99996, -0.00001]])).tolist()
    [[0.9999, -0.0]]
    """
    return np.trunc(places * 1e4) / 1e4


def drawn(request: PlaneRequest) -> dict[str, Any]:
    """Draw a word of a map: noisy places, the words that they become, and chances."""
    try:
        channel = _channel(request.mechanism, request.epsilon)
    except ParameterError:
        raise invalid("epsilon", "is too small for this mechanism on this map") from None
    own = channel.lexicon.index.get(request.word)
    if own is None:
        raise invalid("word", "must be a word of the map of this mechanism")
    rng = secure_rng()
    ids = np.full(request.draws, own)
    places: Floats | None = None
    if isinstance(channel, VectorChannel):
        places = channel.release_words(ids, rng)
        words = channel.decoder.decode(places, rng)
    else:
        words = channel.substitute(ids, rng)
    return {
        "words": words.tolist(),
        "places": None if places is None else shortened(places).tolist(),
        "outlines": _outlines(channel, own),
        "guarantee": str(channel.guarantee),
        **_chances(channel, own),
        "near": _near(channel, own),
    }


@lru_cache
def lexicon_of(name: str) -> Lexicon:
    """Return one of the two lexicons, `words` or `tree`."""
    told = json.loads((files("malaprop.server") / "page" / "maps.json").read_text("utf-8"))[name]
    return Lexicon(told["words"], told["vectors"], metric=told["metric"])


@lru_cache(maxsize=256)
def _channel(name: str, epsilon: float) -> Any:
    given = {"gamma": GAMMA} if name == "tem" else {}
    return mechanism_named(name)(epsilon=epsilon, **given).on(lexicon_of(_MAPS[name]))


def _chances(channel: Channel, own: int) -> dict[str, Any]:
    """Return the chance of each word, and how many draws it was estimated from; 0 if exact."""
    if isinstance(channel, LawChannel):
        chances = np.exp(channel.log_probabilities([own])[0])
        return {"chances": np.round(chances, 4).tolist(), "counted": 0}
    drawn = channel.substitute(np.full(_COUNTED, own), secure_rng())
    shares = np.bincount(drawn, minlength=len(channel.lexicon)) / _COUNTED
    return {"chances": np.round(shares, 4).tolist(), "counted": _COUNTED}


def _near(channel: Channel, own: int) -> list[list[Any]]:
    """Return the nearest words, how far they are, and the most that an output tells them apart."""
    own_metrics = channel.noise.metrics if isinstance(channel, VectorChannel) else {}
    metric = own_metrics.get(channel.guarantee.metric, channel.lexicon.metric)
    between = metric.on(channel.lexicon.vectors)(np.array([own]))[0]
    order = np.argsort(between, kind="stable")[1 : _NEAREST + 1]
    return [
        [int(i), round(float(between[i]), 3), round(channel.guarantee.loss(float(between[i])), 3)]
        for i in order
    ]


def _outlines(channel: Channel, own: int) -> list[list[list[float]]]:
    """Return lines around a word: within the first lie half of the draws, in the second 90 %.

    TEM adds no noise: its line is the distance beyond which words count as equally far.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, _CORNERS, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    place = np.asarray(channel.lexicon.vectors[own], dtype=np.float64)
    if not isinstance(channel, VectorChannel):
        return [np.round(place + GAMMA * circle, 4).tolist()]
    lines = [_outline(channel.noise, place, circle, within) for within in _RINGS]
    return [np.round(line, 4).tolist() for line in lines]


def _outline(noise: Any, place: Floats, circle: Floats, within: float) -> Floats:
    """Return the line of equal density within which a share of the draws lies."""
    if isinstance(noise, HyperbolicLaplaceNoise):
        length = -0.5 * np.log(betaincinv(noise.shape, 2.0, 1.0 - within))
        starts = np.tile(place, (len(circle), 1))
        moved = metrics.travel(starts, circle, np.full(len(circle), length))
        return np.asarray(metrics.lower(moved))
    root = noise.ellipsoids[0].root if isinstance(noise, EllipticalLaplace) else np.eye(2)
    return np.asarray(place + gammaincinv(2.0, within) * noise.scale * circle @ root)
