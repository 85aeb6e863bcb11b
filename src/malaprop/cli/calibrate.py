"""`malaprop calibrate`: from a target that a person understands to ε."""

import inspect
from collections.abc import Callable, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from malaprop.cli import options as cli
from malaprop.cli import results
from malaprop.cli.options import option
from malaprop.cli.terminal import command_line
from malaprop.measure.targets import TARGETS, check_target
from malaprop.privacy.errors import ParameterError

if TYPE_CHECKING:
    from malaprop.privacy.mechanism import Mechanism
    from malaprop.report.page import Page
    from malaprop.report.run_report import Clock

_ANYWHERE = {"mechanism", "param", "lexicon", "json_", "report", "force"}
_VECTORS = {"vectors", *(name for name, target in TARGETS.items() if target.of == "vectors")}
_LAMBDA = {"lambda_grid", "epsilon"}


def _with_targets(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each target of a calibration, in place of `**targets`."""
    *own, _ = inspect.signature(command).parameters.values()
    options = [
        inspect.Parameter(
            target.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                str | None if target.is_mechanism else float | None,
                option(target.metavar, "With --vectors: " * (target.of == "vectors") + target.help),
            ],
        )
        for target in TARGETS.values()
    ]
    first = [parameter.name for parameter in own].index("worst")
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    signature = inspect.Signature([*own[:first], *options, *own[first:]])
    command.__signature__ = signature  # type: ignore[attr-defined]
    return command


@_with_targets
def calibrate(
    typed: typer.Context,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    worst: Annotated[
        float | None,
        option(
            "SHARE",
            "With --kept: not on average, but for all words except this share; 0 is the worst "
            "word.",
        ),
    ] = None,
    context: Annotated[
        bool,
        option(
            "--context",
            "With --success: an observer who knows which words follow which recovers at most this "
            "share of the words of film reviews, or of --sample.",
        ),
    ] = False,
    sample: Annotated[
        str | None,
        option("FILE", "With --context: public texts like yours, which are attacked at each ε."),
    ] = None,
    column: Annotated[
        str | None, option("--column -c NAME", "With --sample: the column of texts.")
    ] = None,
    occurrences: Annotated[
        int, option("NUMBER", "With --success: how often a word occurs.", min=1)
    ] = 1,
    prior: results.Prior = None,
    vectors: Annotated[
        str | None,
        option(
            "FILE",
            "Not for words, but for vectors such as those of this file, which must be public; "
            "with --correlation or --inversion.",
        ),
    ] = None,
    lambda_grid: Annotated[
        str | None,
        option(
            "--lambda-grid NUMBERS",
            "With -m mahalanobis, --epsilon and --kept, or --similarity as the least: not ε but λ "
            "is chosen, from a list such as 0,0.25,0.5,0.75 (or all, for steps of 0.1).",
        ),
    ] = None,
    epsilon: Annotated[
        float | None, option("--epsilon -e NUMBER", "With --lambda-grid: the nominal ε.")
    ] = None,
    words: results.WordCount = None,
    json_: results.JsonFile = None,
    report: results.ReportFile = None,
    force: results.Force = False,
    **targets: Any,
) -> None:
    """Find the largest ε that keeps to a target, and show the curve around it.

    Name one target. With --vectors, the target is about vectors: what is left of their distances,
    or how many are found again. With --lambda-grid, λ of mahalanobis is chosen. The figures for
    words are for an observer who sees one word at a time: context and repetition raise what is
    learned. With --success and --context, the target is what an observer with context recovers.
    """
    from malaprop.report.run_report import Clock

    clock = Clock(command_line(typed))
    sources = {name: typed.get_parameter_source(name) for name in typed.params}
    given = {name for name, source in sources.items() if source and source.name != "DEFAULT"}
    with results.outputs(json_, report, force=force) as write:
        if given & _VECTORS:
            _refuse("--vectors", given - _VECTORS)
            write(*_for_vectors(clock, mechanism, param, vectors, targets))
        elif given & _LAMBDA:
            _refuse("--lambda-grid", given - _LAMBDA - {"kept", "similarity", "words"})
            if mechanism != "mahalanobis" or lambda_grid is None or epsilon is None or param:
                raise ParameterError(
                    "--lambda-grid goes with  -m mahalanobis --epsilon NUMBER, and without other "
                    "parameters"
                )
            bounds = {name: targets[name] for name in ("kept", "similarity")}
            write(*_lambda(clock, lexicon, lambda_grid, epsilon, bounds, words))
        else:
            options: dict[str, Any] = {name: targets[name] for name in TARGETS.keys() - _VECTORS}
            options |= {"worst": worst, "context": context, "occurrences": occurrences}
            options |= {"sample": sample, "prior": results.prior_of(prior), "words": words}
            write(*_for_words(clock, mechanism, param, lexicon, column, options, report))


def _refuse(flag: str, others: Set[str]) -> None:
    for name in sorted(others - _ANYWHERE):
        raise ParameterError(f"--{name} does not go with {flag}: leave it out".replace("_", "-"))


def _for_words(
    clock: "Clock",
    mechanism: str,
    param: list[str] | None,
    lexicon: str,
    column: str | None,
    options: dict[str, Any],
    report: Path | None,
) -> "tuple[dict[str, Any], Page]":
    from malaprop.cli.terminal import bar, working
    from malaprop.files.texts import read_texts
    from malaprop.measure import calibrate as search
    from malaprop.report.measurements import Setting, calibration_page

    made = cli.make_mechanism(mechanism, "1", param)
    given = results.given_words(options["words"], least=2)
    if options["like"] is not None:
        options["like"] = _with_epsilon(options["like"])
    check_target(**options)
    file, context = options["sample"], options["context"]
    if file is None and column is not None:
        raise ParameterError("--column goes with --sample")
    unread = None if file is None else read_texts([file], columns=[column] if column else ())
    with working(f"opening {lexicon}"):
        opened = cli.open_lexicon(lexicon, made)
        if options["like"] is not None:
            options["like"] = options["like"].on(cli.open_lexicon(lexicon, options["like"]))
        if unread is not None:
            options["sample"] = list(filter(str.strip, unread))
    if file is not None and not options["sample"]:
        raise ParameterError(f"{file} has no texts: --sample takes a file of public texts")
    options["words"] = given(opened)
    with bar(f"calibrating {mechanism}") as progress:
        calibration = search(made, opened, **options, progress=progress.to)
    about = {"mechanism": mechanism, "lexicon": {**opened.to_dict(), "name": lexicon}}
    chosen = replace(made, epsilon=calibration.epsilon)
    profile = results.page_profile(chosen, opened, report)
    setting = Setting(clock, chosen, opened, lexicon)
    page = calibration_page(calibration, setting, profile, context=context)
    return about | calibration.to_dict(), page


def _with_epsilon(like: str) -> "Mechanism":
    from malaprop.cli.own_mechanism import mechanism_class
    from malaprop.recipe import made, written

    cls, values = written(like, named=mechanism_class)
    if "epsilon" not in values:
        raise ParameterError("--like names a mechanism and its ε, such as tem:1.5")
    return made(cls, values)


def _for_vectors(
    clock: "Clock",
    mechanism: str,
    param: list[str] | None,
    vectors: str | None,
    targets: dict[str, Any],
) -> "tuple[dict[str, Any], Page]":
    from malaprop.cli.terminal import bar
    from malaprop.files.vector_formats import checked_file, read_some
    from malaprop.measure import calibrate_vectors
    from malaprop.measure.vector_noise import check_vector_target
    from malaprop.report.measurements import Setting, calibration_page

    if vectors is None:
        raise ParameterError("--correlation and --inversion need vectors: name a file, --vectors")
    name = "priv-emb" if mechanism == cli.DEFAULT else mechanism
    made = cli.make_mechanism(name, "1", param)
    bounds = {target: targets[target] for target in _VECTORS - {"vectors"}}
    check_vector_target(made, **bounds)
    checked_file(Path(vectors))
    sample = read_some(Path(vectors))
    with bar(f"calibrating {name}") as progress:
        calibration = calibrate_vectors(made, sample, **bounds, progress=progress.to)
    chosen = replace(made, epsilon=calibration.epsilon)
    page = calibration_page(calibration, Setting(clock, chosen), vectors=True)
    return {"mechanism": name, "vectors": vectors, **calibration.to_dict()}, page


def _lambda(
    clock: "Clock",
    lexicon: str,
    grid: str,
    epsilon: float,
    bounds: dict[str, Any],
    words: str | None,
) -> "tuple[dict[str, Any], Page]":
    from malaprop.cli.terminal import bar, working
    from malaprop.measure import best_lambda
    from malaprop.measure.calibration import GRID, check_grid
    from malaprop.report.measurements import Setting, lambda_page

    made: Any = cli.make_mechanism("mahalanobis", str(epsilon), None)
    given = results.given_words(words)
    try:
        numbers = GRID if grid == "all" else [float(number) for number in grid.split(",")]
    except ValueError:
        raise ParameterError(
            "--lambda-grid is a list of numbers such as 0,0.25,0.5, or all"
        ) from None
    check_grid(numbers, **bounds)
    with working(f"opening {lexicon}"):
        opened = cli.open_lexicon(lexicon, made)
    chosen = given(opened)
    with bar("trying λ") as progress:
        choice = best_lambda(
            opened, epsilon, **bounds, grid=numbers, words=chosen, progress=progress.to
        )
    best = replace(made, regularization=choice.regularization)
    page = lambda_page(choice, Setting(clock, best, opened, lexicon))
    return {"mechanism": "mahalanobis", "lexicon": opened.to_dict(), **choice.to_dict()}, page
