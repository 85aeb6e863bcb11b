"""`malaprop explain`: what a word may become, and what an observer can infer."""

from typing import Annotated

from malaprop.cli import options as cli
from malaprop.cli.options import argument, option
from malaprop.cli.terminal import show


def explain(
    word: Annotated[str, argument("WORD", "The word, or the number, date or time, to explain.")],
    epsilon: cli.Epsilon,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    top: Annotated[int, option("NUMBER", "How many replacements to list.", min=1)] = 12,
    kinds: cli.KindsChoice = None,
    kind_epsilon: cli.KindEpsilon = None,
    step: cli.StepSizes = None,
    dates: cli.DatesChoice = "mdy",
    decimals: cli.DecimalsChoice = "point",
) -> None:
    """Show what a word becomes, how likely that is, and what an observer can infer.

    A number, a date or a time is explained as what it is, if it is drawn so: see --kinds.
    """
    from malaprop.cli.terminal import working
    from malaprop.report.explanation import explain as explained_by
    from malaprop.report.explanation import explanation_page

    made = cli.make_mechanism(mechanism, epsilon, param)
    with working(f"preparing {mechanism} on {lexicon}"):
        explained = explained_by(
            word,
            mechanism=made,
            lexicon=lexicon,
            top=top,
            kinds=kinds,
            kind_epsilon=kind_epsilon,
            steps=cli.step_sizes(step),
            dates=dates,
            decimals=decimals,
        )
    show(explanation_page(explained))
