"""Evaluates mechanisms on the owner's own texts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.random import Generator

from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.evaluating.bench import Bench
from malaprop.measure.evaluating.cells import Bounds, Cell
from malaprop.measure.evaluating.evaluation import Evaluation
from malaprop.measure.evaluating.kept import Digest, KeptCells
from malaprop.measure.evaluating.sampling import Sample, sampled
from malaprop.measure.evaluating.settings import EvaluationSettings, mechanisms_at
from malaprop.measure.tasks.splits import class_numbers
from malaprop.text import TextOptions, policy_with


@dataclass(frozen=True, kw_only=True)
class EvaluationProgress:
    """How far an evaluation is."""

    done: int
    """Thousandths of cells that are measured."""
    total: int
    """Thousandths of cells in all."""
    note: str
    """What is being measured."""


Listener = Callable[[EvaluationProgress], None]


def evaluate(
    texts: Iterable[str],
    labels: Iterable[object] | None = None,
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

    Texts and labels may be iterators: the sample is drawn while they are read, and the others are
    not kept in memory. Texts without words, and texts without a label, are left out.

    With `resume`, the figures of each setting are kept in your state folder, and those of an
    earlier run on the same texts are taken over, unless `fresh` is set. No text is kept. The sample
    and the splits are then the same for all such runs. `rng` draws the sample, the splits and the
    noise, and takes over only what the same generator has drawn.
    """
    policy = policy_with(options, evaluate)
    made = mechanisms_at(mechanisms, epsilons)
    settings = settings or EvaluationSettings()
    settings.check(policy, labelled=labels is not None)
    opened = Lexicon.open(lexicon) if isinstance(lexicon, str) else lexicon
    bound, notes = settings.bound(opened, policy)
    known = {"lexicon": opened.fingerprint, "policy": policy.to_dict(), **bound.to_dict()}
    known.pop("most")
    if rng is not None:  # whoever names a generator wants its draws, not those of another run
        known["seed"] = int(checked_rng(rng).integers(2**62))
    digest = Digest(known, labelled=labels is not None) if resume else None
    noise = secure_rng() if rng is None else rng
    seed = known.get("seed") or (digest.seed if digest else int(noise.integers(2**62)))
    drawing = np.random.Generator(np.random.PCG64(seed))
    sample = sampled(texts, labels, bound.sample, drawing, digest)
    if sample.labels is not None:
        class_numbers(sample.labels, len(sample.texts))
    kept = KeptCells(digest.name() if digest else None, fresh=fresh)
    bench = Bench(sample.texts, sample.labels, opened, bound, options, drawing, noise)
    earlier = sum(kept.get(each) is not None for each in made)
    bounds, cells = _Run(bench, kept, made, progress).all()
    if sample.left_out:
        notes.append(f"{sample.left_out:,} texts without words, or without a label, were left out")
    return Evaluation(
        cells=cells,
        bounds=bounds,
        lexicon=opened.to_dict(),
        policy=policy.to_dict(),
        settings=bound.to_dict(),
        texts=_counts(sample, bench),
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
        for mechanism in self._todo:
            title = f"{mechanism.name}, ε = {mechanism.epsilon:g}"
            self._tell(title)
            cell = self._bench.cell(mechanism, self._within(title))
            self._kept.keep(cell)
            self._done += 1000
        cells = [self._kept.get(each) for each in self._mechanisms]
        return bounds, tuple(cell for cell in cells if cell is not None)

    def _within(self, title: str) -> Progress:
        def to(done: int, total: int) -> None:
            self._tell(title, at=self._done + 1000 * done // max(1, total))

        return to

    def _tell(self, note: str, at: int | None = None) -> None:
        if self._listener is not None:
            done = self._done if at is None else at
            self._listener(EvaluationProgress(done=done, total=self._total, note=note))


def _counts(sample: Sample, bench: Bench) -> dict[str, int]:
    return {
        "given": sample.given,
        "sampled": len(sample.texts),
        "words": int(bench.lengths.sum()),
        "attacked": bench.attacked,
        "attacked_words": int(bench.lengths[: bench.attacked].sum()),
    }
