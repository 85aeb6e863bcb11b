"""Whether a channel is this library's own, to the very class, with no part of it replaced.

What a channel draws cannot be read off its draws. It is known of the samplers in this library,
each of which has a proof; so the audit says "holds" of noise only where it is theirs.
"""

from functools import cached_property
from types import NoneType
from typing import Any

import numpy as np

from malaprop.core.additive import Grid
from malaprop.core.channel import Channel, LawChannel
from malaprop.core.ellipsoid import Ellipsoid
from malaprop.core.graph import Steps
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.metrics import NAMED
from malaprop.core.projection import NoisyProjection
from malaprop.core.scaled import ScaledChannel
from malaprop.lexicon.approximate import ApproximateSearch
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.neighbourhoods import NeighbourGraph
from malaprop.lexicon.poincare_search import PoincareSearch
from malaprop.lexicon.search import NearestSearch
from malaprop.mechanisms.balanced import BalancedChannel
from malaprop.mechanisms.coordinate_laplace import CoordinateLaplaceChannel
from malaprop.mechanisms.decoders import NearestDecoder, RankDecoder, VickreyDecoder
from malaprop.mechanisms.gaussian import GaussianChannel
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplaceChannel
from malaprop.mechanisms.jaccard import JaccardChannel
from malaprop.mechanisms.laplace import LaplaceChannel
from malaprop.mechanisms.mahalanobis import MahalanobisChannel
from malaprop.mechanisms.nadp import NADPChannel
from malaprop.mechanisms.permute_and_flip import PermuteAndFlipChannel
from malaprop.mechanisms.priv_emb import PrivEmbChannel
from malaprop.mechanisms.tangent_laplace import TangentLaplaceChannel
from malaprop.mechanisms.tem import TEMChannel

_CHANNELS = (
    *(LaplaceChannel, CoordinateLaplaceChannel, MahalanobisChannel, PrivEmbChannel),
    *(HyperbolicLaplaceChannel, TangentLaplaceChannel),
    *(GaussianChannel, ScaledChannel, JaccardChannel, NADPChannel),
)
_PARTS = (
    *(NearestDecoder, VickreyDecoder, RankDecoder),
    *(NearestSearch, PoincareSearch, ApproximateSearch),
    *(Grid, Ellipsoid, NoisyProjection, NeighbourGraph, Guarantee, Lexicon),
)
_LAWS = (TEMChannel, PermuteAndFlipChannel, BalancedChannel)
_METRICS: tuple[type, ...] = (*(type(metric) for metric in NAMED.values()), Steps)
_PLAIN = (NoneType, bool, int, float, str, Kind)
_ARRAYS = (np.ndarray, np.memmap, *set(np.sctypeDict.values()))

UNPROVED = "what it draws is not proved: it has no proof here, or is not as this library ships it"


def _behaviour(cls: type) -> dict[str, Any]:
    """The methods and properties that a class defines itself, and whatever else can be called."""
    own = vars(cls).items()
    return {name: part for name, part in own if callable(part) or hasattr(part, "__get__")}


_AS_SHIPPED = {
    cls: _behaviour(cls)
    for own in (*_CHANNELS, *_LAWS, *_METRICS, *_PARTS)
    for cls in own.__mro__[:-1]  # but `object`
}


def is_shipped(channel: Channel) -> bool:
    """Whether the channel draws as this library's class of that name does."""
    dimension = channel.lexicon.vectors.shape[1]
    whole = getattr(channel, "_dimension", dimension) == dimension
    return type(channel) in _CHANNELS and whole and _is_intact(channel)


def is_shipped_law(channel: LawChannel) -> bool:
    """Whether the log-weights are those of this library's class of that name, of a true metric."""
    lexicon, metric = channel.lexicon, channel.lexicon.metric
    known = type(channel) in _LAWS and type(lexicon) is Lexicon and type(metric) in _METRICS
    law: Any = channel.law if isinstance(channel, BalancedChannel) else channel
    if not known or not law.exponent > 0.0:  # whose weights would not fall with the distance
        return False
    return all(_is_unpatched(thing) for thing in (channel, lexicon, metric))


def _is_intact(thing: Any) -> bool:
    """Whether an object, and all that it holds, has no other behaviour than its class had."""
    own = type(thing)
    if own in _PLAIN:
        return True
    if own in _ARRAYS:
        return thing.dtype.kind in "fiub"
    if own in (list, tuple):
        return all(_is_intact(part) for part in thing)
    if own not in (*_CHANNELS, *_PARTS) or not _is_unpatched(thing):
        return False
    if own is Lexicon:  # public; distances are computed anew from its vectors
        return _is_intact(thing.vectors)
    cached = {name for name, part in _inherited(own).items() if isinstance(part, cached_property)}
    return all(_is_intact(part) for name, part in vars(thing).items() if name not in cached)


def _inherited(cls: type) -> dict[str, Any]:
    return {
        name: part for base in reversed(cls.__mro__[:-1]) for name, part in _behaviour(base).items()
    }


def _is_unpatched(thing: Any) -> bool:
    """Whether nobody replaced a method, on the object or on its classes."""
    if not all(_is_as_shipped(cls) for cls in type(thing).__mro__[:-1]):
        return False
    methods = _inherited(type(thing))
    return all(_is_own_value(thing, name, methods.get(name)) for name in vars(thing))


def _is_as_shipped(cls: type) -> bool:
    now, then = _behaviour(cls), _AS_SHIPPED[cls]
    # By identity: a function that was put in its place may call itself equal.
    return now.keys() == then.keys() and all(part is then[name] for name, part in now.items())


def _is_own_value(thing: Any, name: str, part: Any) -> bool:
    """Whether an attribute of the object hides no method: only what a property has computed."""
    if not isinstance(part, cached_property):
        return part is None
    if isinstance(thing, Lexicon | LawChannel):  # what these have computed shows in their rows
        return True
    return np.array_equal(vars(thing)[name], part.func(thing))
