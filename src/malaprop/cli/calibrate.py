"""`malaprop calibrate`: from a target that a person understands to ε."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.options import (
    DEFAULT,
    LexiconName,
    MechanismName,
    Parameters,
    make_mechanism,
    open_lexicon,
)
from malaprop.cli.results import (
    _STDOUT,
    Force,
    GivenWords,
    JsonFile,
    Prior,
    ReportFile,
    WordCount,
    Write,
    outputs,
    page_profile,
    prior_of,
)
from malaprop.cli.terminal import command_line, say, say_text
from malaprop.privacy.errors import ParameterError

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure import Calibration, LambdaChoice
    from malaprop.privacy.mechanism import Mechanism
    from malaprop.report.measurements import Setting
    from malaprop.report.page import Page
    from malaprop.report.run_report import Clock


# `malaprop calibrate --vectors` and `--lambda-grid`, and how a calibration is shown.


_BAR = 40
_ALL = "all"


@dataclass(frozen=True)
class Targets:
    """Where a result goes, and when the work began."""

    json_: str | None
    report: Path | None
    clock: "Clock"
    force: bool

    def open(self) -> "AbstractContextManager[Write]":
        """Open the files before any work."""
        return outputs(self.json_, self.report, force=self.force)

    def setting(
        self, mechanism: "Mechanism", lexicon: "Lexicon | None" = None, name: str = ""
    ) -> "Setting":
        """Return what a page says about the measurement."""
        from malaprop.report.measurements import Setting

        return Setting(
            occasion=self.clock.occasion(),
            mechanism=mechanism.to_dict(),
            lexicon=lexicon,
            name=name,
        )


def vector_epsilon(
    mechanism: str,
    param: list[str] | None,
    vectors: str | None,
    *,
    correlation: float | None,
    inversion: float | None,
    targets: "Targets",
) -> None:
    """Find an ε for vectors, and show the curve around it."""
    from malaprop.cli.terminal import bar
    from malaprop.files.vector_formats import checked_file, read_some
    from malaprop.measure import calibrate_vectors
    from malaprop.measure.vector_noise import check_vector_target
    from malaprop.report.measurements import calibration_page

    if vectors is None:
        raise ParameterError("--correlation and --inversion need vectors: name a file, --vectors")
    name = "priv-emb" if mechanism == DEFAULT else mechanism
    made = make_mechanism(name, "1", param)
    check_vector_target(made, correlation=correlation, inversion=inversion)
    checked_file(Path(vectors))
    with targets.open() as write:
        sample = read_some(Path(vectors))
        with bar(f"calibrating {name}") as progress:
            calibration = calibrate_vectors(
                made, sample, correlation=correlation, inversion=inversion, progress=progress.to
            )
        write(
            {"mechanism": name, "vectors": vectors, **calibration.to_dict()},
            lambda: calibration_page(
                calibration,
                targets.setting(replace(made, epsilon=calibration.epsilon)),
                vectors=True,
            ),
        )
    if targets.json_ != _STDOUT:
        print_curve(calibration)
        say("The figures are for public vectors: others may be nearer to each other.")


def regularization(
    mechanism: str,
    param: list[str] | None,
    lexicon: str,
    grid: str | None,
    epsilon: float | None,
    kept: float | None,
    similarity: float | None,
    words: str | None,
    targets: "Targets",
) -> None:
    """Choose λ of the Mahalanobis mechanism, and show the grid."""
    from malaprop.cli.terminal import bar, working
    from malaprop.measure import best_lambda
    from malaprop.measure.calibration import GRID, check_grid
    from malaprop.report.measurements import lambda_page

    if mechanism != "mahalanobis" or grid is None or epsilon is None or param:
        raise ParameterError(
            "--lambda-grid goes with  -m mahalanobis --epsilon NUMBER, and without other parameters"
        )
    made, given = make_mechanism(mechanism, str(epsilon), None), GivenWords.of(words)
    numbers = check_grid(GRID if grid == _ALL else _numbers(grid), kept, similarity)
    with targets.open() as write:
        with working(f"opening {lexicon}"):
            opened = open_lexicon(lexicon, made)
        chosen = given.on(opened)
        with bar("trying λ") as progress:
            choice = best_lambda(
                opened,
                epsilon,
                kept=kept,
                similarity=similarity,
                grid=numbers,
                words=chosen,
                progress=progress.to,
            )
        write(
            {"mechanism": mechanism, "lexicon": opened.to_dict(), **choice.to_dict()},
            lambda: lambda_page(
                choice,
                targets.setting(
                    make_mechanism(
                        mechanism, str(epsilon), [f"regularization={choice.regularization!r}"]
                    ),
                    opened,
                    lexicon,
                ),
            ),
        )
    if targets.json_ != _STDOUT:
        _print_grid(choice)


def _numbers(grid: str) -> list[float]:
    try:
        return [float(number) for number in grid.split(",")]
    except ValueError:
        raise ParameterError(
            "--lambda-grid is a list of numbers such as 0,0.25,0.5, or all"
        ) from None


def print_curve(calibration: "Calibration") -> None:
    """Show an ε, and the figures of all that were tried."""
    from malaprop.privacy.estimate import with_error

    say_text(
        f"ε = {calibration.epsilon:.4g}\n\n"
        f"Target: {calibration.target}. At this ε: {with_error(calibration.figure)}.\n\n"
    )
    top = max(abs(value) for _, value in calibration.curve) or 1.0
    for epsilon, value in calibration.curve:
        mark = "◄" if epsilon == calibration.epsilon else ""
        bar = "█" * round(_BAR * abs(value) / top)
        say(f"  ε = {epsilon:<8.4g} {value:>9.4g}  {bar} {mark}".rstrip())
    say("")
    for name, number in calibration.normalised.items():
        say(f"{name.replace('_', ' ')}: {number:.4g}")


def _print_grid(choice: "LambdaChoice") -> None:
    say_text(f"λ = {choice.regularization:g}\n\nTarget: {choice.target}.\n\n")
    say("  λ       ε       ε, Euclidean  kept    similarity")
    for row in choice.rows:
        mark = "◄" if row.regularization == choice.regularization else ""
        out = "" if row.within else "(beyond the bound)"
        line = (
            f"  {row.regularization:<7g} {row.epsilon:<7.4g} {row.euclidean:<13.4g} "
            f"{row.kept:<7.3f} {row.similarity:<10.3f} {out}{mark}"
        )
        say(line.rstrip())
    for value in choice.skipped:
        say(f"  {value:<7g} is not possible here: the covariance is singular")
    say_text(
        "\nThe rows differ in privacy: the guarantee of each in Euclidean distance is the ε in the "
        "third column."
    )


def calibrate(
    typed: typer.Context,
    mechanism: MechanismName = DEFAULT,
    param: Parameters = None,
    lexicon: LexiconName = "english",
    kept: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="At most this share of words stay as they are, on average. Like all shares, it "
            "lies between 0 and 1.",
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
    context: Annotated[
        bool,
        typer.Option(
            "--context",
            help="With --success: an observer who knows which words follow which recovers at most "
            "this share of the words of film reviews, or of --sample.",
        ),
    ] = False,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --context: public texts like yours, which are attacked at each ε.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", "-c", metavar="NAME", help="With --sample: the column of texts."),
    ] = None,
    occurrences: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="With --success: how often a word occurs.")
    ] = 1,
    prior: Prior = None,
    candidates: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="At least this many inputs, above 0, explain an output within a factor of 2.",
        ),
    ] = None,
    similarity: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Word and replacement have at most this expected similarity; with --lambda-grid, "
            "at least.",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="MECHANISM:EPSILON",
            help="As many words stay as with another mechanism, such as tem:1.5.",
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Not for words, but for vectors such as those of this file, which must be public; "
            "with --correlation or --inversion.",
        ),
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="With --vectors: the smallest ε at which distances keep this correlation with "
            "the true ones.",
        ),
    ] = None,
    inversion: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="With --vectors: at most this share of released vectors is found again in the "
            "file, by taking the nearest.",
        ),
    ] = None,
    lambda_grid: Annotated[
        str | None,
        typer.Option(
            "--lambda-grid",
            metavar="NUMBERS",
            help="With -m mahalanobis, --epsilon and --kept or --similarity: not ε but λ is "
            "chosen, from a list such as 0,0.25,0.5,0.75 (or all, for steps of 0.1).",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", "-e", metavar="NUMBER", help="With --lambda-grid: the nominal ε."
        ),
    ] = None,
    words: WordCount = None,
    json_: JsonFile = None,
    report: ReportFile = None,
    force: Force = False,
) -> None:
    """Find the largest ε that keeps to a target, and show the curve around it.

    Name one target. With --vectors, the target is about vectors: what is left of their distances,
    or how many are found again. With --lambda-grid, λ of mahalanobis is chosen. The figures for
    words are for an observer who sees one word at a time: context and repetition raise what is
    learned. With --success and --context, the target is what an observer with context recovers.
    """
    from malaprop.cli.terminal import bar, working
    from malaprop.measure import calibrate as search
    from malaprop.measure.targets import check_target
    from malaprop.report.run_report import Clock

    clock = Clock(command_line(typed))
    others = {
        "--worst": worst,
        "--success": success,
        "--context": context or None,
        "--sample": sample,
        "--prior": prior,
        "--candidates": candidates,
        "--like": like,
        "--column": column,
        "--occurrences": None if occurrences == 1 else occurrences,
    }
    if vectors is not None or correlation is not None or inversion is not None:
        unfit = {"--kept": kept, "--similarity": similarity, "-e": epsilon, "--words": words}
        _refuse("--vectors", others | unfit | {"--lambda-grid": lambda_grid})
        vector_epsilon(
            mechanism,
            param,
            vectors,
            correlation=correlation,
            inversion=inversion,
            targets=Targets(json_, report, clock, force),
        )
        return
    if lambda_grid is not None or epsilon is not None:
        _refuse("--lambda-grid", others)
        regularization(
            mechanism,
            param,
            lexicon,
            lambda_grid,
            epsilon,
            kept,
            similarity,
            words,
            Targets(json_, report, clock, force),
        )
        return
    made = make_mechanism(mechanism, "1", param)
    given, belief, other = GivenWords.of(words, least=2), prior_of(prior), _like(like)
    check_target(
        kept=kept,
        worst=worst,
        success=success,
        context=context,
        sample=sample,
        occurrences=occurrences,
        prior=belief,
        candidates=candidates,
        similarity=similarity,
        like=other,
        words=words,
    )
    read = _sample(sample, column)
    with outputs(json_, report, force=force) as write:
        with working(f"opening {lexicon}"):
            opened = open_lexicon(lexicon, made)
            model = None if other is None else other.on(open_lexicon(lexicon, other))
            texts = read()
        chosen = given.on(opened)
        with bar(f"calibrating {mechanism}") as progress:
            calibration = search(
                made,
                opened,
                kept=kept,
                worst=worst,
                success=success,
                context=context,
                sample=texts,
                occurrences=occurrences,
                prior=belief,
                candidates=candidates,
                similarity=similarity,
                like=model,
                words=chosen,
                progress=progress.to,
            )
        write(
            {
                "mechanism": mechanism,
                "lexicon": {**opened.to_dict(), "name": lexicon},
                **calibration.to_dict(),
            },
            lambda: _page(calibration, made, opened, lexicon, clock, report, context=context),
        )
    if json_ != _STDOUT:
        print_curve(calibration)
        often = "one word, once" if occurrences == 1 else f"a word {occurrences} times"
        say(_WITH_CONTEXT if context else _WITHOUT_CONTEXT.format(often))


_WITH_CONTEXT = (
    "The figures are for an observer with a bigram model, and hold for texts like these. A large "
    "language model, or words that occur often, raise what is learned."
)
_WITHOUT_CONTEXT = (
    "The figures are for an observer who sees {}, and no context. Context raises what "
    "is learned: see  malaprop attack context, and calibrate --success with --context"
)


def _sample(file: str | None, column: str | None) -> "Callable[[], list[str] | None]":
    """Check that a public sample is there, and return what reads its texts."""
    from malaprop.files.texts import read_texts

    if file is None:
        if column is not None:
            raise ParameterError("--column goes with --sample")
        return lambda: None
    unread = read_texts([file], columns=[column] if column else ())

    def read() -> list[str]:
        texts = list(filter(str.strip, unread))
        if not texts:
            raise ParameterError(f"{file} has no texts: --sample takes a file of public texts")
        return texts

    return read


def _page(
    result: "Calibration",
    mechanism: "Mechanism",
    opened: "Lexicon",
    name: str,
    clock: "Clock",
    report: Path | None,
    *,
    context: bool,
) -> "Page":
    """Return the page; as a web page, with what the mechanism does around the ε."""
    from dataclasses import replace

    from malaprop.report.measurements import Setting, calibration_page

    chosen = replace(mechanism, epsilon=result.epsilon)
    profile = page_profile(chosen, opened, report)
    setting = Setting(
        occasion=clock.occasion(), mechanism=chosen.to_dict(), lexicon=opened, name=name
    )
    return calibration_page(result, setting, profile, context=context)


def _refuse(flag: str, others: Mapping[str, object]) -> None:
    """Refuse options that have no meaning beside another one."""
    for name, value in others.items():
        if value is not None:
            raise ParameterError(f"{name} does not go with {flag}: leave it out")


def _like(like: str | None) -> "Mechanism | None":
    """Return the mechanism that --like names, with its ε."""
    if like is None:
        return None
    name, colon, epsilon = like.partition(":")
    if not colon:
        raise ParameterError("--like names a mechanism and its ε, such as tem:1.5")
    return make_mechanism(name, epsilon, None)
