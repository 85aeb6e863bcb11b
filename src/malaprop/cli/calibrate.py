"""`malaprop calibrate`: from a target that a person understands to ε."""

from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.measuring import PIPE, JsonFile, Prior, Words, json_output, prior_of, words_of
from malaprop.cli.options import (
    DEFAULT,
    LexiconName,
    MechanismName,
    Parameters,
    make_mechanism,
    open_lexicon,
)
from malaprop.core.errors import ParameterError

if TYPE_CHECKING:
    from malaprop.core.channel import Channel
    from malaprop.measure import Calibration

_BAR = 40


def calibrate(
    mechanism: MechanismName = DEFAULT,
    param: Parameters = None,
    lexicon: LexiconName = "english",
    kept: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="At most this share of words stay as they are, on average."
        ),
    ] = None,
    worst: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="With --kept: not on average, but for all words except this share; 0 is the "
            "worst word.",
        ),
    ] = None,
    success: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="An observer without context guesses at most this share right."
        ),
    ] = None,
    occurrences: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="With --success: the word occurs so often.")
    ] = 1,
    prior: Prior = None,
    candidates: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="At least so many inputs explain an output within a factor of 2."
        ),
    ] = None,
    similarity: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="The expected similarity of word and replacement."),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="MECHANISM:EPSILON",
            help="As many words stay as with another mechanism, such as tem:1.5.",
        ),
    ] = None,
    words: Words = None,
    json_: JsonFile = None,
) -> None:
    """Find the largest ε that keeps to a target, and show the curve around it.

    Name one target. The figures are for an observer who sees one word at a time: context and
    repetition raise what is learned.
    """
    from malaprop.cli.progress import bar, working
    from malaprop.measure import calibrate as search

    made = make_mechanism(mechanism, "1", param)
    with json_output(json_) as write:
        with working(f"opening {lexicon}"):
            opened = open_lexicon(lexicon, made)
            model = _model(like, lexicon)
        count = words_of(words, opened)
        if isinstance(count, list):
            raise ParameterError("calibrate takes a number of words, or all: --words NUMBER")
        with bar(f"calibrating {mechanism}") as progress:
            found = search(
                made,
                opened,
                kept=kept,
                worst=worst,
                success=success,
                occurrences=occurrences,
                prior=prior_of(prior),
                candidates=candidates,
                similarity=similarity,
                like=model,
                words=count,
                progress=progress.to,
            )
        write({"mechanism": mechanism, "lexicon": opened.name or lexicon, **found.to_dict()})
    if json_ != PIPE:
        _print(found)


def _model(like: str | None, lexicon: str) -> "Channel | None":
    if like is None:
        return None
    name, colon, epsilon = like.partition(":")
    if not colon:
        raise ParameterError("--like names a mechanism and its ε, such as tem:1.5")
    other = make_mechanism(name, epsilon, None)
    return other.on(open_lexicon(lexicon, other))


def _print(found: "Calibration") -> None:
    typer.echo(
        f"ε = {found.epsilon:.4g}\n\nTarget: {found.target}. At this ε: {found.value:.4g}.\n"
    )
    top = max(abs(value) for _, value in found.curve) or 1.0
    for epsilon, value in found.curve:
        mark = "◄" if epsilon == found.epsilon else ""
        bar = "█" * round(_BAR * abs(value) / top)
        typer.echo(f"  ε = {epsilon:<8.4g} {value:>9.4g}  {bar} {mark}".rstrip())
    typer.echo("")
    for name, number in found.normalised.items():
        typer.echo(f"{name.replace('_', ' ')}: {number:.4g}")
    typer.echo(
        "The figures are for an observer who sees one word, once, and no context. Context raises "
        "what is learned: see  malaprop attack context"
    )
