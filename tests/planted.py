"""How tests plant a fault: a channel like another one, of another noise, law or guarantee."""

from dataclasses import replace
from typing import Any, TypeVar

from malaprop import Guarantee, LawChannel
from malaprop.privacy.channel import Decoder, VectorChannel
from malaprop.privacy.law import Law
from malaprop.privacy.noise import Noise

LawT = TypeVar("LawT", bound=Law)
NoiseT = TypeVar("NoiseT", bound=Noise)


def with_noise(
    channel: VectorChannel[Noise], noise: NoiseT, decoder: Decoder | None = None
) -> VectorChannel[NoiseT]:
    """The same promise with other noise."""
    return VectorChannel(
        channel.lexicon,
        channel.guarantee,
        noise,
        decoder or channel.decoder,
        neighbourhoods=channel.neighbourhoods,
    )


def with_fields(channel: VectorChannel[NoiseT], **fields: Any) -> VectorChannel[NoiseT]:
    """The same promise with noise of other numbers."""
    return with_noise(channel, replace(channel.noise, **fields))  # type: ignore[type-var]


def with_law(channel: LawChannel[Law], law: LawT) -> LawChannel[LawT]:
    """The same promise with another law."""
    return LawChannel(law, channel.guarantee, neighbourhoods=channel.neighbourhoods)


def promising(channel: Any, guarantee: Guarantee | None = None, **fields: Any) -> Any:
    """The same law or noise with another promise, or with other fields of its own."""
    promise = replace(guarantee or channel.guarantee, **fields)
    if isinstance(channel, LawChannel):
        return LawChannel(channel.law, promise, neighbourhoods=channel.neighbourhoods)
    return VectorChannel(
        channel.lexicon,
        promise,
        channel.noise,
        channel.decoder,
        neighbourhoods=channel.neighbourhoods,
    )
