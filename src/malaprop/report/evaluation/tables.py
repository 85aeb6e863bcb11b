"""The one table of an evaluation, and the sentences around it, for all renderings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from malaprop.measure.attacking.base import attack_named
from malaprop.measure.evaluating.cells import Cell
from malaprop.measure.evaluating.evaluation import Evaluation
from malaprop.measure.tasks.models import models
from malaprop.measure.tasks.result import Estimate

OWNER = "For the owner of the texts: these figures depend on them. Do not publish them."
LOWER = (
    "What attacks recover is a lower bound: they are simple ones, and a better model of language "
    "recovers more. The guarantee holds whatever the attack."
)

STATIC = (
    "Attackers learn from clean text alone. Those who learn from private text, too, may do better: "
    "an evaluation with the option `adaptive` measures them."
)
ADAPTIVE = (
    "Attackers adapt: on labels, they train on private text; on words, they learn from it how "
    "frequent words are."
)
BOUNDS = (
    "Bounds of attacks: texts as they are; texts of random words, from which an attack on words "
    "can only guess the most frequent one; for attacks on labels, the most frequent label, and "
    "chance for membership."
)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure in the table, with its interval if it has one."""

    value: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def margin(self) -> float | None:
        """Half of the interval."""
        return None if self.interval is None else (self.interval[1] - self.interval[0]) / 2.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """A setting, or a bound."""

    name: str
    epsilon: str
    figures: tuple[Figure, ...]
    recommended: bool = False
    bound: bool = False


@dataclass(frozen=True, kw_only=True)
class Column:
    """The short name of a column, and what is in it."""

    name: str
    about: str


def columns_of(evaluation: Evaluation, model: str) -> tuple[Column, ...]:
    """Return the columns after mechanism and ε."""
    fixed = [
        Column(name="kept", about="share of words that come out unchanged"),
        Column(name="words", about="similarity of a word and what comes out for it"),
        Column(name="texts", about="similarity of a text and its private copy (centroids)"),
    ]
    if model:
        about = f"accuracy of {models[model].summary}, trained on private texts and tested on "
        fixed += [
            Column(name="clean", about=f"{about}clean ones"),
            Column(name="private", about=f"{about}private ones"),
        ]
    return (*fixed, *(_attack_column(name, evaluation) for name in attacks_of(evaluation)))


def _attack_column(name: str, evaluation: Evaluation) -> Column:
    figure = evaluation.cells[0].attacks[name]
    what = "share of words recovered" if figure.recovers_words else f"{figure.measured} reached"
    how = attack_named(name).summary().removesuffix(".")
    return Column(name=name, about=f"{what} by the attack {name}: {how[:1].lower()}{how[1:]}")


def attacks_of(evaluation: Evaluation) -> list[str]:
    """Return the names of the attacks that were run."""
    return list(evaluation.cells[0].attacks)


def rows_of(evaluation: Evaluation, model: str) -> Iterator[Row]:
    """Yield a row for each setting, then the bounds."""
    chosen = evaluation.recommendation.cell
    for cell in evaluation.cells:
        yield Row(
            name=cell.name,
            epsilon=f"{cell.epsilon:g}",
            figures=tuple(_figures(cell, model)),
            recommended=cell is chosen,
        )
    yield from _bounds(evaluation, model)


def _figures(cell: Cell, model: str) -> Iterator[Figure]:
    for estimate in (cell.kept, cell.similarity, cell.text_similarity):
        yield _figure(estimate)
    if model:
        yield from map(_figure, _both(cell.accuracy[model]))
    for attack in cell.attacks.values():
        yield Figure(value=attack.score, interval=attack.interval)


def _bounds(evaluation: Evaluation, model: str) -> Iterator[Row]:
    bounds, attacks = evaluation.bounds, evaluation.cells[0].attacks
    in_clear = tuple(_over_cells(evaluation, name, "unprotected") for name in attacks)
    useless = tuple(_over_cells(evaluation, name, "floor") for name in attacks)
    all_kept = (Figure(value=1.0),) * 3
    words = tuple(
        Figure(value=value) for value in (bounds.kept, bounds.similarity, bounds.text_similarity)
    )
    unprotected: tuple[Figure, ...] = ()
    random: tuple[Figure, ...] = ()
    if model:
        unprotected = (_figure(bounds.unprotected[model]),) * 2
        random = tuple(map(_figure, _both(bounds.random_words[model])))
    yield Row(name="unprotected", epsilon="", figures=all_kept + unprotected + in_clear, bound=True)
    yield Row(name="random words", epsilon="", figures=words + random + useless, bound=True)
    if model and bounds.majority is not None:
        most = (_figure(bounds.majority),) * 2
        nothing = (Figure(),) * 3
        guessed = tuple(
            Figure() if attacks[name].recovers_words else _over_cells(evaluation, name, "baseline")
            for name in attacks
        )
        yield Row(name="majority class", epsilon="", figures=nothing + most + guessed, bound=True)


def _over_cells(evaluation: Evaluation, attack: str, bound: str) -> Figure:
    """Return a bound of an attack, the mean of what each setting was measured with."""
    values = [getattr(cell.attacks[attack], bound) for cell in evaluation.cells]
    return Figure(value=sum(values) / len(values))


def _both(tested: Mapping[str, Estimate]) -> tuple[Estimate, Estimate]:
    return tested["clean"], tested["private"]


def _figure(estimate: Estimate) -> Figure:
    low, high = estimate.interval
    return Figure(value=estimate.value, interval=None if low == high else (low, high))


def rounded(value: float, digits: int = 3) -> str:
    """Return a figure with some digits; what rounds to 0 has no sign.

    >>> rounded(-0.0001)
    '0.000'
    """
    return f"{round(value, digits) + 0.0:.{digits}f}"


def about_lines(evaluation: Evaluation) -> list[str]:
    """Return what was measured, on what, and how sure it is."""
    texts = evaluation.texts
    attacked = f"{texts['attacked_words']:,} words of {texts['attacked']:,} texts"
    drawn = ", drawn at random," if texts["sampled"] < texts["given"] else ""
    number = f"{texts['sampled']:,} of {texts['given']:,} texts" if drawn else "All texts"
    sampled = f"{number}{drawn} with {texts['words']:,} words"
    name, runs = evaluation.lexicon["name"] or "of your own", evaluation.settings["runs"]
    mark = f"fingerprint {evaluation.lexicon['fingerprint'][:12]}…"
    draws = "one noise draw" if runs == 1 else f"{runs} noise draws"
    lines = [f"{sampled}; attacks on {attacked}.", f"Lexicon {name}, {mark}; {draws}."]
    if evaluation.runs:
        lines.append(f"Classifiers: {evaluation.classes} classes; {evaluation.runs}.")
    if evaluation.cells[0].attacks:
        lines.append(_known(str(evaluation.settings.get("model", ""))))
        lines += [ADAPTIVE if evaluation.settings.get("adaptive") else STATIC, BOUNDS]
    return [*lines, f"Intervals: {evaluation.about_intervals}."]


def _known(model: str) -> str:
    """Say what all attacks on words know beforehand, with context or without."""
    if not model:
        return "To attacks on words, all words are equally likely beforehand."
    return (
        "Attacks on words, with context or without, know words and bigrams of the same public "
        f"text: the model with the fingerprint {model[:12]}…."
    )


def opened(sentence: str) -> str:
    """Return a sentence that begins with a capital and ends with a stop."""
    return sentence[:1].upper() + sentence[1:].removesuffix(".") + "."


def advice(evaluation: Evaluation) -> str:
    """Return the recommendation in a few words."""
    cell = evaluation.recommendation.cell
    return "No setting is recommended" if cell is None else f"Recommended: {cell.title}"
