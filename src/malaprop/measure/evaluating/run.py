"""Evaluates mechanisms on the owner's own texts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.random import Generator

from malaprop.core.errors import DataError, ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.evaluating.bench import Bench
from malaprop.measure.evaluating.cells import Bounds, Cell
from malaprop.measure.evaluating.evaluation import Evaluation
from malaprop.measure.evaluating.kept import KeptCells, digest_of
from malaprop.measure.evaluating.settings import EvaluationSettings, mechanisms_at, recovers_words
from malaprop.measure.tasks.splits import class_numbers, is_missing_label
from malaprop.text import Policy, TextOptions


@dataclass(frozen=True, kw_only=True)
class EvaluationProgress:
    """How far an evaluation is."""

    done: int
    """Thousandths of cells that are measured."""
    total: int
    """Thousandths of cells in all."""
    note: str
    """What is being measured."""
    seconds: float | None = None
    """Set once, after the first cell: about how many seconds the other cells will take."""


Listener = Callable[[EvaluationProgress], None]


def evaluate(
    texts: Iterable[str],
    labels: Sequence[object] | None = None,
    *,
    epsilons: Sequence[float] = (1.0, 1.5, 2.0),
    mechanisms: Sequence[Mechanism | str] = ("balanced",),
    lexicon: Lexicon | str = "english",
    settings: EvaluationSettings | None = None,
    resume: bool = False,
    fresh: bool = False,
    rng: Generator | None = None,
    progress: Listener | None = None,
    **options: Unpack[TextOptions],
) -> Evaluation:
    """Measure privacy beside utility on your own texts, and recommend a setting.

    Each of `mechanisms` is measured at each of `epsilons`: how many words it keeps, how similar
    words and texts stay, how often a classifier is right that was trained on private texts (with
    `labels`), and how much the attacks recover. A mechanism may be a value, or a name such as `tem`
    or `tem:4`, which states its own ε. `settings` say how large the sample is, which attacks and
    models to use, and which share of words an attack may recover at most. `options` are a policy's.

    With `resume`, the figures of each setting are kept in your state folder, and those of an
    earlier run on the same texts are taken over, unless `fresh` is set. No text is kept. `rng`
    draws the sample, the splits and the noise. Texts without words, and texts without a label, are
    left out.
    """
    made = mechanisms_at(mechanisms, epsilons)
    settings = settings or EvaluationSettings()
    opened = Lexicon.open(lexicon) if isinstance(lexicon, str) else lexicon
    policy = Policy(**options)
    bound, notes = settings.bound(opened, policy)
    given, chosen, left = _with_content(texts, labels)
    _check(bound, given, chosen)
    rng = secure_rng() if rng is None else checked_rng(rng)
    seed = int(rng.integers(2**62))
    digest = None
    if resume:
        known = {"lexicon": opened.fingerprint, "policy": policy.to_dict(), **bound.to_dict()}
        known.pop("most")
        digest = digest_of(given, chosen, known)
    kept = KeptCells(digest, seed, fresh=fresh)
    sample = _sampled(given, chosen, bound.sample, kept.seed)
    bench = Bench(*sample[:2], opened, bound, options, sample[2], rng)
    earlier = sum(kept.get(each) is not None for each in made)
    bounds, cells = _Run(bench, kept, made, progress).all()
    if left:
        notes.append(f"{left:,} texts without words, or without a label, were left out")
    return Evaluation(
        cells=cells,
        bounds=bounds,
        lexicon={"name": opened.name, "fingerprint": opened.fingerprint},
        policy=policy.to_dict(),
        settings=bound.to_dict(),
        texts=_counts(given, bench, len(sample[0])),
        classes=bench.classes,
        runs=bench.about_runs,
        notes=tuple(notes),
        earlier=earlier,
    )


class _Run:
    """Measures what was not measured before, cell by cell."""

    def __init__(
        self,
        bench: Bench,
        kept: KeptCells,
        mechanisms: Sequence[Mechanism],
        listener: Listener | None,
    ) -> None:
        self._bench, self._kept, self._mechanisms = bench, kept, mechanisms
        self._listener = listener
        self._todo = [each for each in mechanisms if kept.get(each) is None]
        self._total = 1000 * (len(self._todo) + (kept.bounds is None))
        self._done = 0

    def all(self) -> tuple[Bounds, tuple[Cell, ...]]:
        bounds = self._kept.bounds
        if bounds is None:
            self._tell("floors and ceilings")
            bounds = self._bench.bounds()
            self._kept.keep_bounds(bounds)
            self._done += 1000
        for number, mechanism in enumerate(self._todo):
            title = f"{mechanism.name}, ε = {mechanism.epsilon:g}"
            self._tell(title)
            cell = self._bench.cell(mechanism, self._within(title))
            self._kept.keep(cell)
            self._done += 1000
            if number == 0 and len(self._todo) > 1:
                self._tell(title, cell.seconds * (len(self._todo) - 1))
        cells = [self._kept.get(each) for each in self._mechanisms]
        return bounds, tuple(cell for cell in cells if cell is not None)

    def _within(self, title: str) -> Progress:
        def to(done: int, total: int) -> None:
            self._tell(title, at=self._done + 1000 * done // max(1, total))

        return to

    def _tell(self, note: str, seconds: float | None = None, at: int | None = None) -> None:
        if self._listener is not None:
            done = self._done if at is None else at
            self._listener(
                EvaluationProgress(done=done, total=self._total, note=note, seconds=seconds)
            )


def _with_content(
    texts: Iterable[str], labels: Sequence[object] | None
) -> tuple[list[str], list[object] | None, int]:
    """Return the texts with something in them and with a label, and how many others there are."""
    if isinstance(texts, str):
        raise ParameterError("`evaluate` takes several texts, not one string.")
    listed = list(texts)
    if any(not isinstance(text, str) for text in listed):
        raise ParameterError("`evaluate` takes texts: leave out values that are missing.")
    if labels is not None and len(labels) != len(listed):
        raise DataError(
            f"There must be a label for each text. Got {len(labels):,} for {len(listed):,}."
        )
    if labels is None:
        there = [text for text in listed if text.strip()]
        return there, None, len(listed) - len(there)
    pairs = [
        (text, label)
        for text, label in zip(listed, labels, strict=True)
        if text.strip() and not is_missing_label(label)
    ]
    if listed and not pairs:
        raise DataError("No text has a label: name another column of labels, or none.")
    return [text for text, _ in pairs], [label for _, label in pairs], len(listed) - len(pairs)


def _check(settings: EvaluationSettings, texts: list[str], labels: list[object] | None) -> None:
    """Refuse, before any work, what could only fail later."""
    if not texts:
        raise DataError("There are no texts to evaluate.")
    on_labels = [name for name in settings.attacks or () if not recovers_words(name)]
    if labels is None and on_labels:
        raise ParameterError(f"The attack {on_labels[0]} is on labels: give `labels`.")
    if labels is not None:
        class_numbers(labels, len(texts))


def _sampled(
    texts: list[str], labels: list[object] | None, size: int, seed: int
) -> tuple[list[str], list[object] | None, Generator]:
    """Return a random sample, and the generator for all that is drawn on it but noise."""
    rng = np.random.Generator(np.random.PCG64(seed))
    places = rng.permutation(len(texts))[:size]
    chosen = None if labels is None else [labels[place] for place in places]
    if chosen is not None and len(places) < len(texts):
        class_numbers(chosen, len(chosen))  # the sample may lack a class
    return [texts[place] for place in places], chosen, rng


def _counts(given: Sequence[Any], bench: Bench, sampled: int) -> dict[str, int]:
    return {
        "given": len(given),
        "sampled": sampled,
        "words": int(bench.lengths.sum()),
        "attacked": bench.attacked,
        "attacked_words": int(bench.lengths[: bench.attacked].sum()),
    }
