"""The page of an evaluation."""

from collections.abc import Iterator, Sequence

from malaprop.measure.adversaries import attacks
from malaprop.measure.classification import models
from malaprop.measure.evaluation import Cell, Evaluation
from malaprop.privacy.estimate import Estimate
from malaprop.report.page import Bullets, Facts, Page, Piece, Section, Table, code, counted, opened
from malaprop.report.page import Cell as TableCell
from malaprop.report.plots import frontier_plot

_OWNER = "For the owner of the texts: these figures depend on them. Do not publish them."
_LOWER = (
    "What attacks recover is a lower bound: they are simple ones, and a better model of language "
    "recovers more. The guarantee holds whatever the attack."
)
_STATIC = (
    "Attackers learn from clean text alone. Those who learn from private text, too, may do better: "
    "`malaprop evaluate --adaptive` measures them."
)
_ADAPTIVE = (
    "Attackers adapt: on labels, they train on private text; on words, they learn from it how "
    "frequent words are."
)
_BOUNDS = (
    "Bounds of attacks: texts as they are; texts of random words, from which an attack on words "
    "can only guess the most frequent one; for attacks on labels, the most frequent label, and "
    "chance for membership."
)
_WORDS = {
    "kept": "share of words that come out unchanged",
    "words": "similarity of a word and what comes out for it",
    "texts": "similarity of a text and its private copy (centroids)",
}
_SPEC = "z.3f"  # what rounds to 0 has no sign
_NONE = "–"
_Row = tuple[TableCell, ...]


def evaluation_page(evaluation: Evaluation) -> Page:
    found, model = evaluation.recommendation, evaluation.utility.model
    advice = "No setting is recommended"
    if found.cell is not None:
        advice = f"Recommended: {found.cell.title}"
    others = [name for name in evaluation.bounds.unprotected if name != model]
    names = list(evaluation.cells[0].attacks)
    return Page(
        title="Privacy and utility on your own texts",
        audience=_OWNER,
        figures=_key_figures(evaluation),
        warnings=evaluation.notes,
        sections=(
            Section(advice, (found.reason, opened(f"The rule: {found.rule}"))),
            Section(
                "What stays useful",
                (
                    _table(evaluation, [*_WORDS, *(_TESTED if model else ())], model),
                    Facts(tuple(_about_columns(model))),
                ),
            ),
            Section(
                "What attackers recover",
                (
                    _table(evaluation, names, model),
                    Facts(tuple((name, _about_attack(name, evaluation)) for name in names)),
                ),
            ),
            Section("How accuracy grows with texts", tuple(_growth(evaluation, model))),
            *(
                Section(
                    f"The same with the model {name}",
                    (_table(evaluation, _TESTED, name), *_growth(evaluation, name)),
                    on_terminal=False,
                )
                for name in others
            ),
            Section("The frontier", frontier_plot(evaluation)),
            Section("What is undecided", (Bullets(evaluation.undecided),)),
            Section("How it was measured", (Bullets((*_about(evaluation), _LOWER)),)),
            Section("In one sentence", (evaluation.summary,)),
        ),
    )


def _key_figures(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    cell, utility = evaluation.recommendation.cell, evaluation.utility
    if cell is None:
        return (("none", f"of {counted(len(evaluation.cells), 'setting')} is recommended"),)
    figures = [(f"{cell.name}, ε = {cell.epsilon:g}", "recommended setting")]
    if cell.strongest is not None:
        name, attack = cell.strongest
        figures.append((f"{attack.value:.0%}", f"of words recovered by {name}, the strongest"))
    figures.append((f"{cell.kept.value:.0%}", "of words come out unchanged"))
    figures.append((f"{utility.of(cell).value:.3f}", utility.name))
    figures.append((f"{utility.ceiling.value:.3f}", "the same with clean texts"))
    if utility.model:
        figures.append((f"{evaluation.texts['trained']:,}", "texts to train the classifier on"))
    return tuple(figures)


_TESTED = ("clean", "private")
_BOUND_ROWS = ("unprotected", "random words", "majority class")


def _table(evaluation: Evaluation, columns: Sequence[str], model: str) -> Table:
    cells, chosen = evaluation.cells, evaluation.recommendation.cell
    rows: list[_Row] = [
        (cell.name, f"{cell.epsilon:g}", *(_figure(cell, name, model) for name in columns))
        for cell in cells
    ]
    bounds = zip(*(_bounds(evaluation, name, model) for name in columns), strict=True)
    for title, row in zip(_BOUND_ROWS, bounds, strict=True):
        if any(cell != _NONE for cell in row):
            rows.append((title, "", *row))
    places = frozenset(place for place, cell in enumerate(cells) if cell is chosen)
    pale = frozenset(range(len(cells), len(rows)))
    return Table(("mechanism", "ε", *columns), tuple(rows), _SPEC, places, pale, names=2)


def _figure(cell: Cell, column: str, model: str) -> Estimate:
    of_words = {"kept": cell.kept, "words": cell.similarity, "texts": cell.text_similarity}
    return {**of_words, **cell.accuracy.get(model, {}), **cell.attacks}[column]


def _bounds(evaluation: Evaluation, column: str, model: str) -> _Row:
    """Return what clean texts, random words and the most frequent class reach in a column.

    Those of an attack are means of what each setting was measured with.
    """
    bounds = evaluation.bounds
    of_words = {"kept": bounds.kept, "words": bounds.similarity, "texts": bounds.text_similarity}
    if column in of_words:
        return Estimate.exact(1.0), Estimate.exact(of_words[column]), _NONE
    if column in _TESTED:
        random = bounds.random_words[model][column]
        return bounds.unprotected[model], random, bounds.majority or _NONE
    figures = [cell.attacks[column] for cell in evaluation.cells]
    clean, random, guessed = (
        Estimate.exact(sum(getattr(each, name) for each in figures) / len(figures))
        for name in ("unprotected", "floor", "baseline")
    )
    return clean, random, _NONE if figures[0].recovers_words else guessed


def _about_columns(model: str) -> Iterator[tuple[str, str]]:
    yield from _WORDS.items()
    for tested in _TESTED if model else ():
        about = f"accuracy of {models[model]}, trained on private texts and tested on"
        yield tested, f"{about} {tested} ones"


def _about_attack(name: str, evaluation: Evaluation) -> str:
    figure = evaluation.cells[0].attacks[name]
    what = "share of words recovered" if figure.recovers_words else f"{figure.measured} reached"
    how = attacks[name].summary().removesuffix(".")
    return f"{what} by the attack {name}: {how[:1].lower()}{how[1:]}"


def _growth(evaluation: Evaluation, model: str) -> Iterator[Piece]:
    clean = evaluation.bounds.unprotected_by_texts.get(model, {})
    if not clean:
        return
    texts, sizes = evaluation.texts, list(clean)
    yield (
        f"Accuracy on clean texts of the model {model}, by the number of texts that it was trained "
        f"on. All other figures here are for {texts['trained']:,}."
    )
    rows: list[_Row] = [
        (cell.name, f"{cell.epsilon:g}", *(cell.accuracy_by_texts[model][size] for size in sizes))
        for cell in evaluation.cells
    ]
    rows.append(("unprotected", "", *(clean[size] for size in sizes)))
    head = ("mechanism", "ε", *(f"{int(size):,}" for size in sizes))
    yield Table(head, tuple(rows), _SPEC, names=2)
    if model == evaluation.utility.model and texts["sampled"] < texts["given"]:
        yield (
            f"These are {texts['sampled']:,} of your {texts['given']:,} texts, and private texts "
            "need more of them than clean ones do: `malaprop evaluate --sample all` uses all."
        )


def _about(evaluation: Evaluation) -> Iterator[str]:
    texts, settings = evaluation.texts, evaluation.settings
    attacked = f"{texts['attacked_words']:,} words of {texts['attacked']:,} texts"
    drawn = texts["sampled"] < texts["given"]
    some = f"{texts['sampled']:,} of {texts['given']:,} texts, drawn at random,"
    yield f"{some if drawn else 'All texts'} with {texts['words']:,} words; attacks on {attacked}."
    draws = "one noise draw" if settings["runs"] == 1 else f"{settings['runs']} noise draws"
    mark = f"fingerprint {evaluation.lexicon['fingerprint'][:12]}…"
    name = evaluation.lexicon["name"]
    yield f"Lexicon {code(name) if name else 'of your own'}, {mark}; {draws}."
    if evaluation.runs:
        yield f"Classifiers: {evaluation.classes} classes; {evaluation.runs}."
    if evaluation.cells[0].attacks:
        model = str(settings.get("model", ""))
        yield (
            "Attacks on words, with context or without, know words and bigrams of the same public "
            f"text: the model with the fingerprint {model[:12]}…."
            if model
            else "To attacks on words, all words are equally likely beforehand."
        )
        yield _ADAPTIVE if settings.get("adaptive") else _STATIC
        yield _BOUNDS
    yield f"Intervals (on a terminal, half the width, in brackets): {evaluation.about_intervals}."
