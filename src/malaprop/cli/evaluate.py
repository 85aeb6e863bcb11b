"""`malaprop evaluate`: privacy beside utility on the owner's own texts."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from malaprop.cli import options as cli
from malaprop.cli import results
from malaprop.cli.options import option
from malaprop.cli.terminal import say

if TYPE_CHECKING:
    from malaprop.files.texts import Pair
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.privacy.mechanism import Mechanism
    from malaprop.text.policy import TextOptions


def evaluate(
    file: results.TextFile,
    column: Annotated[str | None, option("--column -c NAME", "The column of texts.")] = None,
    label: Annotated[
        str | None,
        option("NAME", "The column of labels: a classifier learns them from private texts."),
    ] = None,
    epsilon: Annotated[
        str, option("--epsilon -e NUMBERS", "Values of ε, such as 1,1.5,2.")
    ] = "1,1.5,2",
    mechanism: Annotated[
        list[str] | None,
        option(
            "--mechanism -m NAMES",
            f"Mechanisms, such as balanced,tem; by default, {cli.DEFAULT}. Each is measured at "
            "each ε, unless it has its own, as in balanced,tem:4,tem:6. Parameters follow: "
            "tem:2,exponent=half. FILE.py:CLASS is one of your own. May be repeated.",
        ),
    ] = None,
    lexicon: cli.LexiconName = "english",
    most: Annotated[
        float,
        option(
            "SHARE",
            "The recommended setting lets no attack recover more than this share of words, above "
            "0 and up to 1.",
        ),
    ] = 0.5,
    attack: Annotated[
        str | None,
        option(
            "--attacks NAMES",
            "Attacks, such as bayes,context; by default bayes, context and majority.",
        ),
    ] = None,
    classifier: Annotated[
        str, option("--classifiers NAMES", "Classifiers: centroids, ngrams.")
    ] = "centroids,ngrams",
    model: Annotated[
        Path | None,
        option(
            "MODEL",
            "A bigram model for the attacks, as malaprop lm train writes it; by default the one "
            "that ships for english.",
        ),
    ] = None,
    adaptive: Annotated[
        bool,
        option(
            "--adaptive",
            "Attackers train on private text, not on clean text; on words, they learn from it how "
            "frequent words are. Takes several times as long.",
        ),
    ] = False,
    sample: Annotated[
        str,
        option(
            "NUMBER|all",
            "How many texts to draw at random, at most. A classifier that learns from private "
            "texts needs many: all takes longer, and says more.",
        ),
    ] = "2000",
    runs: Annotated[
        int, option("NUMBER", "How many noise draws, each with a split of its own.", min=1)
    ] = 5,
    repeat: results.Repeat = "fresh",
    format_: cli.FormatName = None,
    encoding: cli.Encoding = "utf-8",
    show: Annotated[
        int,
        option(
            "NUMBER", "Show this many of your texts beside what each setting makes of them.", min=0
        ),
    ] = 0,
    json_: results.JsonFile = None,
    report: results.PlottedReport = None,
    force: results.Force = False,
    fresh: Annotated[
        bool, option("--fresh", "Measure again, with new noise, what is kept.")
    ] = False,
    seed: Annotated[
        int | None,
        option(
            "NUMBER",
            "Repeat a measurement exactly; what other seeds have measured is not taken over.",
            min=0,
        ),
    ] = None,
) -> None:
    """Measure privacy beside utility on your own texts, and recommend a mechanism and its ε.

    Each setting is measured on a sample: the words kept, the similarity of words and of texts, how
    often a classifier is right that was trained on private texts, and what attacks recover. What
    bounds them stands beside: clean texts, random words, the most frequent class. The figures of
    each setting are kept in your state folder, without any text: after a stop, or with another ε,
    the same command measures what is missing. The figures are for you: do not publish them.
    """
    from malaprop.cli.own_mechanism import mechanism_class
    from malaprop.cli.terminal import bar, warn, working
    from malaprop.lexicon.bigrams import open_model
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure import evaluate as measure
    from malaprop.measure.evaluation_run import EvaluationSettings, epsilon_of, mechanisms_at
    from malaprop.privacy.errors import ParameterError, SecretError
    from malaprop.privacy.randomness import seeded_rng
    from malaprop.private_files import subkey
    from malaprop.report.evaluation_page import evaluation_page
    from malaprop.text.policy import Policy

    epsilons = [epsilon_of(each) for each in _names(epsilon)]
    named = cli.listed(",".join(mechanism or [cli.DEFAULT]))
    made = mechanisms_at(named, epsilons, named=mechanism_class)
    if sample != "all" and (not sample.isdecimal() or int(sample) < 1):
        raise ParameterError(f"--sample must be a whole number, 1 or more, or all. Got {sample!r}")
    settings = EvaluationSettings(
        sample=None if sample == "all" else int(sample),
        runs=runs,
        most=most,
        attacks=None if attack is None else tuple(_names(attack)),
        models=tuple(_names(classifier)),
        model=None if model is None else open_model(model),
        adaptive=adaptive,
    )
    if label is not None:
        from malaprop.measure.classification import require_sklearn

        require_sklearn()
    if label is not None and column is None:
        raise ParameterError("--label needs the column of texts beside it: name it in --column")
    options: TextOptions = {"repeat": repeat}
    settings.check(Policy(**options), labelled=label is not None)
    columns = [] if column is None else [column]
    read = partial(results.read_pairs, file, columns, label, format_, encoding)
    read(lambda done, total: None)  # checks its arguments
    drawn = [report.with_suffix(".svg")] if report and report.suffix.lower() == ".md" else []
    with results.outputs(json_, report, *drawn, force=force, source=file, plots=True) as write:
        with working(f"opening {lexicon}"):
            opened = Lexicon.open(lexicon)
        resume = True
        try:
            subkey("evaluate")
        except SecretError as error:
            warn(f"figures are not kept for another run: {error}")
            resume = False
        first: list[str] = []
        with bar("evaluating") as shown:
            pairs = read(lambda done, total: shown.to(done, total, "reading the texts"))
            pairs = _remembering(pairs, first, show)
            texts, labels = (pairs, None) if label is None else tee(pairs)
            result = measure(
                (text for text, _ in texts),
                None if labels is None else (own for _, own in labels),
                mechanisms=made,
                lexicon=opened,
                settings=settings,
                resume=resume,
                fresh=fresh,
                rng=None if seed is None else seeded_rng(seed),
                progress=lambda at: shown.to(at.done, at.total, at.note),
                **options,
            )
        if result.earlier:
            say(
                f"{result.earlier} of {len(result.cells)} settings were measured by an earlier "
                "run: --fresh measures them again",
                err=True,
            )
        write(result.to_dict(), evaluation_page(result))
    if show:
        _show(first, made, opened, options)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _remembering(pairs: "Iterator[Pair]", first: list[str], number: int) -> "Iterator[Pair]":
    for text, label in pairs:
        if len(first) < number and text.strip():
            first.append(" ".join(text.split()))
        yield text, label


def _show(
    chosen: list[str], made: "Sequence[Mechanism]", lexicon: "Lexicon", options: "TextOptions"
) -> None:
    """Show some texts beside what each setting makes of them, on stderr: nothing else has text."""
    from malaprop.lexicon.graph import with_graph_if_needed
    from malaprop.privatizer import Privatizer

    private = [
        Privatizer(with_graph_if_needed(lexicon, each), each, **options).texts(chosen)
        for each in made
    ]
    say("", err=True)
    say("Your own texts, and what each setting makes of them:", err=True)
    for place, text in enumerate(chosen):
        say("", err=True)
        say(f"{'your text':<22}{text}", err=True)
        for mechanism, lines in zip(made, private, strict=True):
            title = f"{mechanism.title({})}, ε = {mechanism.epsilon:g}"
            say(f"{title:<22}{lines[place]}", err=True)
