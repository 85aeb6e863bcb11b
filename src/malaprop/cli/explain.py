"""`malaprop explain`: what a word may become, and what an observer can infer."""

import math
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.options import (
    DEFAULT,
    Epsilon,
    LexiconName,
    MechanismName,
    Parameters,
    make_mechanism,
    open_lexicon,
)

if TYPE_CHECKING:
    from rich.console import Console

    from malaprop.core.channel import Channel
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.pipeline.keeping import Keeping
    from malaprop.report.word import Rival, WordLaw

_BAR = 30  # characters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"


def explain(
    word: Annotated[str, typer.Argument(metavar="WORD", help="The word to explain.")],
    epsilon: Epsilon,
    mechanism: MechanismName = DEFAULT,
    param: Parameters = None,
    lexicon: LexiconName = "english",
    top: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="How many replacements to list.")
    ] = 12,
) -> None:
    """Show what a word becomes, how likely that is, and what an observer can infer."""
    from rich.console import Console

    from malaprop.cli.progress import working
    from malaprop.core.randomness import secure_rng
    from malaprop.pipeline.keeping import keeping_of
    from malaprop.report.word import word_law

    made = make_mechanism(mechanism, epsilon, param)
    opened = open_lexicon(lexicon, made)
    # A lexicon's words may look like markup or emoji codes: they are shown as they are.
    console = Console(highlight=False, markup=False, emoji=False)
    own = _find(word, opened, console)
    with working(f"preparing {mechanism} on {lexicon}"):
        channel = made.on(opened)
        law = word_law(channel, own, secure_rng())
        keeping = keeping_of(made, channel)
    _print_law(law, opened, min(top, len(opened)), console)
    _print_inference(law, channel, opened, console)
    _print_keeping(keeping, console)


def _find(word: str, lexicon: "Lexicon", console: "Console") -> int:
    """Return the id of the word, or of the lexicon word that it is mapped to."""
    from malaprop.core.errors import ParameterError
    from malaprop.text import Action, BoundPolicy, Policy, tokenize

    policy = BoundPolicy(lexicon.words, Policy())
    treatments = policy.treat_all(tokenize(word.strip()))
    if len(treatments) != 1 or treatments[0].action is not Action.PROTECT:
        raise ParameterError("Give one word to explain, without spaces or punctuation.")
    own = treatments[0].id
    if treatments[0].tag != "in_lexicon":
        route = policy.words.route(word.strip())
        console.print(f"Not in the lexicon: it counts as {lexicon.words[own]}: {route}.\n")
    return own


def _print_law(law: "WordLaw", lexicon: "Lexicon", top: int, console: "Console") -> None:
    from rich.table import Table

    listed = law.most_likely(top)
    longest = float(law.probabilities[listed[0]])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("becomes")
    table.add_column(_unit(lexicon), justify="right", no_wrap=True)
    table.add_column("probability", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for i in listed:
        p = float(law.probabilities[i])
        bold = "bold" if i == law.word else None
        table.add_row(
            lexicon.words[i],
            _distance(law.distances[i], lexicon),
            _percent(p),
            _bar(p / longest),
            style=bold,
        )
    others = len(lexicon) - len(listed)
    if others:
        rest = max(0.0, 1.0 - float(law.probabilities[listed].sum()))
        table.add_row(f"{others:,} other words", "", _percent(rest), "")
    console.print(table)
    if _unit(lexicon) == "steps":
        _print_steps(law, lexicon, console)
    if law.draws:
        console.print(f"\nEstimated from {law.draws:,} draws; there is no closed form.")


def _print_steps(law: "WordLaw", lexicon: "Lexicon", console: "Console") -> None:
    """Print the neighbourhood by steps: how many words, how likely, and examples."""
    cutoff = _cutoff(lexicon)
    rows = [("steps", "words", "probability", ["such as"])]
    for level in law.by_distance():
        steps = _distance(level.distance, lexicon) + ("+" if level.distance == cutoff else "")
        words = [lexicon.words[i] for i in level.likeliest]
        rows.append((steps, f"{level.count:,}", _percent(level.probability), words))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    console.print()
    for *numbers, words in rows:
        line = "  ".join(f"{n:>{width}}" for n, width in zip(numbers, widths, strict=True))
        room = console.width - len(line) - 2
        console.print(f"{line}  {_fitting(words, room)}", soft_wrap=True)


def _fitting(words: list[str], room: int) -> str:
    """Join as many whole words as fit, but at least one."""
    shown = words[0]
    for word in words[1:]:
        if len(shown) + len(word) + 2 > room:
            break
        shown += f", {word}"
    return shown


def _cutoff(lexicon: "Lexicon") -> float:
    """Return the cut-off: no distance exceeds it."""
    from malaprop.core.metrics.graph import graph_of

    graph = graph_of(lexicon.metric)
    return math.inf if graph is None else graph.cutoff


def _unit(lexicon: "Lexicon") -> str:
    return "steps" if str(lexicon.metric) == "graph" else "distance"


def _apart(distance: float, lexicon: "Lexicon") -> str:
    shown = _distance(distance, lexicon)
    if _unit(lexicon) == "distance":
        return f"distance {shown}"
    return f"{shown} {'step' if distance == 1 else 'steps'} away"


def _distance(distance: float, lexicon: "Lexicon") -> str:
    """Format a distance; steps are mostly whole numbers."""
    return f"{distance:g}" if _unit(lexicon) == "steps" else f"{distance:.2f}"


def _bar(share: float) -> str:
    """Draw a bar with this share of the longest one, to an eighth of a character."""
    full, eighths = divmod(round(8 * _BAR * share), 8)
    return ("█" * full + _EIGHTHS[eighths]).rstrip()


def _print_inference(
    law: "WordLaw", channel: "Channel", lexicon: "Lexicon", console: "Console"
) -> None:
    from malaprop.report.word import rivals

    word = lexicon.words[law.word]
    console.print("\nWhat an observer can infer", style="bold")
    console.print(
        f"“{word}” stays as it is with probability {_percent(law.stays)}; what comes out is as "
        f"uncertain as a choice of {law.plausible:,.3g} equally likely words, on average "
        f"{law.expected_distance:.2f}{' steps' if _unit(lexicon) == 'steps' else ''} away."
    )
    for rival in rivals(channel, law.word, 3):
        console.print(_told_apart(word, rival, channel.guarantee.delta, lexicon))
    console.print(f"\n{channel.guarantee}")


def _print_keeping(keeping: "Keeping", console: "Console") -> None:
    """Print how many words stay on average, or a warning if that is too many or too few."""
    from malaprop.report.phrases import NO_CHANCE_OF_GUESSING

    if keeping.warning:
        console.print(f"\nWarning: {keeping.warning}.", style="bold")
    else:
        share = f"{_percent(keeping.share)} of words stay as they are"
        console.print(f"\nOn average over the lexicon, {share}; {NO_CHANCE_OF_GUESSING}.")


def _told_apart(word: str, rival: "Rival", delta: float, lexicon: "Lexicon") -> str:
    """Say what the guarantee promises for a word and a near one."""
    pair = f"“{word}” against “{rival.word}” ({_apart(rival.distance, lexicon)})"
    if rival.bound is None:
        return f"Nothing is promised for {pair}."
    exact = f" (in fact {_factor(rival.odds)})" if rival.odds is not None else ""
    if delta:
        return (
            f"The chances of any set of outputs, for {pair}, differ by a factor of at most "
            f"{_factor(rival.bound)}, and by a δ of {delta:.3g} beyond that."
        )
    return (
        f"Whatever comes out, the odds of {pair} change by a factor of at most "
        f"{_factor(rival.bound)}{exact}."
    )


def _percent(p: float) -> str:
    return f"{100 * p:.3g}%"


def _factor(odds: float) -> str:
    """Format a factor with a few digits, rounded up."""
    from malaprop.core.guarantee import rounded_up

    if 100 <= odds < 1e7:
        return f"{math.ceil(odds):,}"
    return rounded_up(odds) if math.isfinite(odds) else "inf"
