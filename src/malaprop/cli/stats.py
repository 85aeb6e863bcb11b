"""`malaprop stats`: what a mechanism does to the words of a lexicon."""

from typing import Annotated

import typer

from malaprop.cli import options as cli
from malaprop.cli import results
from malaprop.cli.options import option
from malaprop.cli.terminal import command_line
from malaprop.privacy.errors import ParameterError


def stats(
    context: typer.Context,
    epsilon: cli.Epsilon,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    words: results.Words = None,
    runs: Annotated[
        int,
        option(
            "NUMBER",
            "R, for different outputs in R runs, and the draws of each word where the "
            "probabilities are not known in closed form.",
            min=10,
        ),
    ] = 1000,
    prior: results.Prior = None,
    occurrences: Annotated[int, option("NUMBER", "How often the observer sees a word.", min=1)] = 1,
    reused: Annotated[
        bool,
        option(
            "--reused",
            "With --occurrences: all of them share one draw, as with  privatize --repeat document.",
        ),
    ] = False,
    seed: Annotated[int | None, option("NUMBER", "Repeat the same estimates.", min=0)] = None,
    json_: results.JsonFile = None,
    report: results.ReportFile = None,
    force: results.Force = False,
) -> None:
    """Show statistics of single words, and how often an observer guesses a word right.

    They describe what a mechanism does to words; the guarantee is another matter. The observer
    sees one word at a time: context and repetition raise the share of right guesses.
    """
    from malaprop.cli.terminal import bar, working
    from malaprop.measure import bayes_success, density, skewness, statistics
    from malaprop.measure.neighbourhoods import overlap_of
    from malaprop.privacy.estimate import word_ids
    from malaprop.privacy.randomness import secure_rng, seeded_rng
    from malaprop.report.measurements import Setting, statistics_page
    from malaprop.report.run_report import Clock

    if reused and occurrences == 1:
        raise ParameterError("--reused says what several occurrences share: give --occurrences")
    made = cli.make_mechanism(mechanism, epsilon, param)
    belief, given = results.prior_of(prior), results.given_words(words)
    rng = secure_rng() if seed is None else seeded_rng(seed)
    clock = Clock(command_line(context))
    with results.outputs(json_, report, force=force) as write:
        with working(f"preparing {mechanism} on {lexicon}"):
            opened = cli.open_lexicon(lexicon, made)
            channel = made.on(opened)
        chosen = given(opened)
        with bar("statistics of words") as progress:
            figures = statistics(channel, words=chosen, runs=runs, rng=rng, progress=progress.to)
        with bar("the observer's best guess") as progress:
            guess = bayes_success(
                channel,
                prior=belief,
                occurrences=occurrences,
                reused=reused,
                rng=rng,
                progress=progress.to,
            )
        with bar("neighbourhoods") as progress:
            ids = word_ids(opened, chosen)
            shared = overlap_of(channel, ids, rng, progress=progress.to)
            crowd = density(opened) if len(opened) > 1 else None
        page = statistics_page(
            figures,
            guess,
            Setting(clock, made, opened, lexicon, channel.guarantee),
            overlap=float(shared.mean()),
            skewness=results.finite(skewness(shared)),
            density=crowd,
            profile=results.page_profile(made, opened, report),
        )
        each_word = None
        if guess.per_word is not None:
            each_word = [results.finite(each) for each in guess.per_word[ids].tolist()]
        value = {
            "mechanism": made.to_dict(),
            "lexicon": {**opened.to_dict(), "name": lexicon},
            "guarantee": str(channel.guarantee),
            **figures.to_dict(),
            "bayes": guess.to_dict() | {"per_word": each_word},
            "overlap": {"mean": float(shared.mean()), "skewness": results.finite(skewness(shared))},
            "density": crowd.to_dict() if crowd else None,
        }
        write(value, page)
