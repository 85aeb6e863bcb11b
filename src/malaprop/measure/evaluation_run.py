"""Privacy beside utility on the owner's texts, setting by setting."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from numbers import Real
from time import monotonic
from typing import Any, Generic, TypeVar, Unpack

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.lexicon.bigrams import BigramModel
from malaprop.lexicon.graph import with_graph_if_needed
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.adversaries import Attack, Target, attack_named, attack_with
from malaprop.measure.adversaries import attacks as registered
from malaprop.measure.adversaries.labels import LabelAttack
from malaprop.measure.adversaries.public_model import check_corpus, model_for
from malaprop.measure.adversaries.words import Drawn, WordAttack
from malaprop.measure.classification import (
    RUNS,
    Classification,
    class_numbers,
    is_missing_label,
    private_copies,
)
from malaprop.measure.classification import models as text_models
from malaprop.measure.evaluation import (
    Accuracies,
    AttackFigure,
    Bounds,
    Cell,
    CellCache,
    Digest,
    Evaluation,
)
from malaprop.measure.word_statistics import Similarity
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import DataError, ParameterError, several_texts
from malaprop.privacy.estimate import LEVEL, Estimate
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.progress import Progress, report, stage
from malaprop.privacy.randomness import checked_rng, secure_rng
from malaprop.privatizer import Privatizer, WordDraws
from malaprop.recipe import mechanism_of_name
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy, TextOptions, policy_with

# What to measure, at which settings of which mechanisms.


SAMPLE = 2_000
"""How many texts to measure on, at most."""
ATTACKED = 50_000
"""How many words to attack, at most."""
MOST = 0.5
"""The share of words that an attack may recover, by default."""


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """What to measure besides the mechanisms."""

    sample: int = SAMPLE
    """How many texts to draw from those given."""
    attacked: int = ATTACKED
    """Attacks stop with the text that reaches this number of words."""
    runs: int = RUNS
    """How many noise draws, each with a split of its own."""
    attacks: tuple[str, ...] | None = None
    """Names of attacks; None for those on words that apply."""
    models: tuple[str, ...] = ("centroids", "ngrams")
    """Names of classifiers."""
    most: float = MOST
    """The share of words that no attack may recover more of."""
    model: Any = None
    """A bigram model for the attacks, or its folder; None for the one that ships."""
    adaptive: bool = False
    """Whether attackers learn from private text, too."""

    def __post_init__(self) -> None:
        for name in ("sample", "attacked", "runs"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ParameterError(f"`{name}` must be a whole number, 1 or more.")
        if not isinstance(self.adaptive, bool):
            raise ParameterError("`adaptive` must be True or False.")
        if not isinstance(self.most, Real) or not 0.0 < self.most <= 1.0:
            raise ParameterError("`most` must be a share of words: above 0, and up to 1.")
        for name in self.attacks or ():
            if getattr(attack_named(name), "on", "words") not in ("words", "labels"):
                raise ParameterError(f"The attack {name} is not on texts: leave it out.")
        if unknown := [name for name in self.models if name not in text_models]:
            raise ParameterError(
                f"Unknown model {unknown[0]!r}. There are: {', '.join(text_models)}."
            )

    def check(self, policy: Policy, *, labelled: bool) -> None:
        """Refuse attacks that do not fit the texts, before any work."""
        _check_reuse(self.attacks or (), policy)
        on_labels = [name for name in self.attacks or () if not recovers_words(name)]
        if on_labels and not labelled:
            raise ParameterError(f"The attack {on_labels[0]} is on labels: give `labels`.")

    def bound(self, lexicon: Lexicon, policy: Policy) -> "tuple[EvaluationSettings, list[str]]":
        """Return the settings with attacks and model chosen, and notes on what does not apply."""
        needed = any(getattr(registered[name], "needs_model", False) for name in self.attacks or ())
        model = model_for(self.model, lexicon, needed=needed)
        if self.attacks is not None:
            return replace(self, model=model), []
        chosen = tuple(name for name in registered if _applies(name, model, policy))
        notes = []
        if "context" not in chosen:
            notes.append(
                "The context attack was not run, as there is no bigram model of this lexicon: "
                "train one with  malaprop lm train. Context raises what an observer learns"
            )
        return replace(self, attacks=chosen, model=model), notes

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values for JSON."""
        model = self.model.fingerprint if isinstance(self.model, BigramModel) else ""
        return {
            **vars(self),
            "attacks": list(self.attacks or ()),
            "models": list(self.models),
            "model": model,
        }


def recovers_words(attack: str) -> bool:
    """Return whether the score of an attack is a share of words."""
    return getattr(registered[attack], "on", "words") == "words"


def _check_reuse(attacks: Sequence[str], policy: Policy) -> None:
    for name in attacks:
        if getattr(registered[name], "needs_reuse", False) and policy.repeat == "fresh":
            raise ParameterError(
                f"The attack {name} is on texts in which each distinct word has one draw: use "
                '`repeat="document"`.'
            )


def _applies(name: str, model: BigramModel | None, policy: Policy) -> bool:
    """Whether an attack is one on words that finds what it needs."""
    cls = registered[name]
    if not issubclass(cls, WordAttack) or (cls.needs_reuse and policy.repeat == "fresh"):
        return False
    return model is not None or not cls.needs_model


def mechanisms_at(
    chosen: Sequence[Mechanism | str], epsilons: Sequence[float]
) -> tuple[Mechanism, ...]:
    """Return a mechanism for each name and each ε; mechanisms that are given as values stay.

    A name may state its own ε: `tem:4`.

    >>> [each.epsilon for each in mechanisms_at(["tem", "tem:4"], [1.0, 2.0])]
    [1.0, 2.0, 4.0]
    """
    made: list[Mechanism] = []
    for each in chosen:
        if isinstance(each, Mechanism):
            made.append(each)
            continue
        name, colon, epsilon = str(each).partition(":")
        cls = mechanism_of_name(name)
        own = [number(epsilon)] if colon else list(epsilons)
        if not own:
            raise ParameterError(
                f"The mechanism {name} needs an ε: name some in `epsilons`, or write {name}:1.5."
            )
        made += [cls(epsilon=value) for value in own]
    if not made:
        raise ParameterError("There is no mechanism to evaluate: name one in `mechanisms`.")
    if len(set(map(repr, made))) < len(made):
        raise ParameterError("A mechanism is named twice with the same parameters.")
    return tuple(made)


def number(text: str) -> float:
    """Return an ε that was written as text."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"ε must be a number. Got {text!r}.") from None


# The attacks of an evaluation: each over several noise draws.


class Attackers:
    """All attacks that were chosen, on the same texts.

    Attacks on words share the noise draws with each other. An attack on labels has draws and splits
    of its own, as many.
    """

    def __init__(
        self, settings: EvaluationSettings, texts: Sequence[str], labels: Sequence[object] | None
    ) -> None:
        self._texts, self._labels = texts, labels
        self._attacks = [_made(name, settings) for name in settings.attacks or ()]
        for each in self._attacks:
            if isinstance(each, LabelAttack):
                each.checked(texts, labels)  # before any work

    def figures(
        self,
        privatizer: Privatizer,
        draws: Sequence[WordDraws],
        rng: Generator,
        progress: Progress | None = None,
    ) -> dict[str, AttackFigure]:
        """Run the attacks; `draws` are those of the texts whose words are attacked."""
        drawn: Drawn | None = None
        figures = {}
        for number, each in enumerate(self._attacks):
            own = stage(progress, number, len(self._attacks))
            if isinstance(each, WordAttack):
                drawn = drawn or each.drawn(privatizer, draws, rng)
                figures[each.name] = AttackFigure.of(each.recover(drawn, rng, own))
            if isinstance(each, LabelAttack):
                target = Target(
                    privatizer=privatizer,
                    texts=self._texts,
                    labels=self._labels,
                    rng=rng,
                    progress=own,
                )
                figures[each.name] = AttackFigure.of(each.run(target))
        return figures


def _made(name: str, settings: EvaluationSettings) -> Attack:
    own = {"model": settings.model} if recovers_words(name) else {"repeats": settings.runs}
    return attack_with(name, {"adaptive": settings.adaptive, **own})


# A sample of texts, prepared once, on which every setting is measured.


class EvaluationSample:
    """The sample with its labels, and what is measured on it.

    `rng` draws splits and the words of floors. Noise comes from `noise`, fresh for every draw.
    """

    def __init__(
        self,
        texts: Sequence[str],
        labels: Sequence[object] | None,
        lexicon: Lexicon,
        settings: EvaluationSettings,
        options: TextOptions,
        rng: Generator,
        noise: Generator,
    ) -> None:
        self._texts, self._labels, self._lexicon = list(texts), labels, lexicon
        self._settings, self._options, self._noise, self._rng = settings, options, noise, rng
        policy = Policy(**options)
        self._tasks = {} if labels is None else self._prepared(labels, policy, rng)
        self._secret, self.lengths = self._parsed()
        if not len(self._secret):
            raise DataError("The texts have no words to measure on.")
        check_corpus(settings.model, self._secret, self.lengths)
        self._attackers = Attackers(settings, self._texts, labels)

    def _prepared(
        self, labels: Sequence[object], policy: Policy, rng: Generator
    ) -> dict[str, Classification]:
        # The same splits for all models: their generators start alike.
        seed = int(rng.integers(2**62))
        return {
            model: Classification(
                self._texts,
                labels,
                self._lexicon,
                model=model,
                runs=self._settings.runs,
                policy=policy,
                rng=np.random.Generator(np.random.PCG64(seed)),
            )
            for model in self._settings.models
        }

    def _parsed(self) -> tuple[Ids, Ids]:
        parsed = TextParser(self._lexicon.words, Policy(kinds="words")).parse(self._texts)
        return parsed.ids, np.asarray(parsed.slot_counts, dtype=np.int64)

    @property
    def attacked(self) -> int:
        """How many texts are attacked: all, or as many as have the words that are wanted."""
        enough = np.searchsorted(np.cumsum(self.lengths), self._settings.attacked)
        return min(len(self._texts), int(enough) + 1)

    @property
    def about_runs(self) -> str:
        """What the runs differ in, for classifiers."""
        return next((task.about_runs for task in self._tasks.values()), "")

    @property
    def classes(self) -> int:
        """How many classes the labels have; 0 without labels."""
        return next((task.classes for task in self._tasks.values()), 0)

    def privatizer(self, mechanism: Mechanism) -> Privatizer:
        """Return the privatizer of a mechanism."""
        lexicon = with_graph_if_needed(self._lexicon, mechanism)
        return Privatizer(lexicon, mechanism, rng=self._noise, **self._options)

    def bounds(self) -> Bounds:
        """Measure what useless and what clean texts reach."""
        others = self._rng.integers(0, len(self._lexicon), size=len(self._secret))
        tasks = self._tasks
        return Bounds(
            kept=float(np.mean(others == self._secret)),
            similarity=float(self._similarity.between(self._secret, others).mean()),
            text_similarity=float(
                self._similarity.of_texts(self._secret, others, self.lengths).mean()
            ),
            majority=next((task.majority for task in tasks.values()), None),
            random_words={model: task.random_words for model, task in tasks.items()},
            unprotected={model: task.unprotected for model, task in tasks.items()},
        )

    def cell(self, mechanism: Mechanism, progress: Progress | None = None) -> Cell:
        """Measure one mechanism."""
        started = monotonic()
        privatizer = self.privatizer(mechanism)
        draws = []
        for done in range(self._settings.runs):
            draws.append(privatizer.word_draws(self._texts))
            report(stage(progress, 0, 3), done + 1, self._settings.runs)
        words = self._words(draws)
        accuracy = self._accuracy(privatizer, stage(progress, 1, 3))
        attacks = self._attackers.figures(
            privatizer,
            [each.first(self.attacked) for each in draws],
            self._rng,
            stage(progress, 2, 3),
        )
        return Cell(
            mechanism=mechanism.to_dict(),
            kept=words[0],
            similarity=words[1],
            text_similarity=words[2],
            accuracy=accuracy,
            attacks=attacks,
            seconds=monotonic() - started,
        )

    def _words(self, draws: Sequence[WordDraws]) -> tuple[Estimate, Estimate, Estimate]:
        """Return the words kept, their similarity, and that of texts, over several draws."""
        kept, words, texts = [], [], []
        for each in draws:
            kept.append(_by_text(each.secret == each.drawn, each))
            words.append(_by_text(self._similarity.between(each.secret, each.drawn), each))
            texts.append(self._similarity.of_texts(each.secret, each.drawn, each.lengths))
        lengths = draws[0].lengths
        sizes = lengths[lengths > 0].astype(np.float64)
        return (
            _over_texts(kept, sizes),
            _over_texts(words, sizes, (-1.0, 1.0)),
            _over_texts(texts, np.ones_like(sizes), (-1.0, 1.0)),
        )

    def _accuracy(self, privatizer: Privatizer, progress: Progress | None) -> Accuracies:
        if not self._tasks:
            return {}
        copies = private_copies(
            privatizer, self._texts, self._settings.runs, stage(progress, 0, 1 + len(self._tasks))
        )
        scores = {}
        for number, (model, task) in enumerate(self._tasks.items(), 1):
            results = task.of_copies(copies, stage(progress, number, 1 + len(self._tasks)))
            scores[model] = {result.tested: result.score for result in results}
        return scores

    @cached_property
    def _similarity(self) -> Similarity:
        return Similarity(self._lexicon)


def _by_text(values: NDArray[Any], draws: WordDraws) -> Floats:
    """Return the sum of values of words in each text that has any."""
    lengths = draws.lengths[draws.lengths > 0]
    starts = np.cumsum(lengths) - lengths
    return np.add.reduceat(values.astype(np.float64), starts)


def _over_texts(
    sums: Sequence[Floats], sizes: Floats, between: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    """Return a mean over all texts and draws, with a 95 % interval over texts and their noise.

    The mean is Σsᵢ/Σnᵢ with the sums and sizes of texts, and its error that of the residuals
    sᵢ − mean·nᵢ, by Student's law. One text says nothing of others: its interval is all there is.
    """
    from scipy.stats import t

    values = [float(each.sum() / sizes.sum()) for each in sums]
    average = np.mean(sums, axis=0)
    mean = float(np.mean(values))
    margin = np.inf
    if len(sizes) > 1:
        residuals = (average - mean * sizes) * len(sizes) / sizes.sum()
        sure = float(t.ppf(0.5 + LEVEL / 2.0, len(sizes) - 1))
        margin = sure * float(np.std(residuals, ddof=1)) / len(sizes) ** 0.5
    return Estimate(
        value=mean,
        low=max(between[0], mean - margin),
        high=min(between[1], mean + margin),
        values=tuple(values),
    )


# A random sample of texts, drawn while they are read: the others are not kept in memory.


_ENDED = object()
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Some of the texts that were given, in random order."""

    texts: list[str] = field(repr=False)
    labels: list[object] | None = field(repr=False)
    given: int
    """How many texts there were to draw from."""
    left_out: int
    """How many texts had no words, or no label."""


def sampled(
    texts: Iterable[str],
    labels: Iterable[object] | None,
    size: int,
    rng: Generator,
    digest: Digest | None = None,
) -> Sample:
    """Return a sample of the texts that have something in them, and a label if there are labels.

    Each has the same chance. All of them count for the digest.
    """
    several_texts(texts, "evaluate")
    reservoir: Reservoir[tuple[str, object]] = Reservoir(size, rng)
    left = 0
    for text, label in _pairs(texts, labels):
        if not text.strip() or (labels is not None and is_missing_label(label)):
            left += 1
            continue
        if digest is not None:
            digest.add(text, label)
        reservoir.add((text, label))
    if left and not reservoir.seen and labels is not None:
        raise DataError("No text has a label: name another column of labels, or none.")
    if not reservoir.seen:
        raise DataError("There are no texts to evaluate.")
    mixed = reservoir.mixed()
    return Sample(
        texts=[text for text, _ in mixed],
        labels=None if labels is None else [label for _, label in mixed],
        given=reservoir.seen,
        left_out=left,
    )


class Reservoir(Generic[Item]):
    """Some of the items that were added, each with the same chance."""

    def __init__(self, size: int, rng: Generator) -> None:
        self._size, self._rng = size, rng
        self.seen = 0
        """How many items were added."""
        self.chosen: list[Item] = []
        """The items that were drawn so far."""

    def add(self, item: Item) -> None:
        """Add an item, which may take the place of another one."""
        self.seen += 1
        if len(self.chosen) < self._size:
            self.chosen.append(item)
        elif (place := int(self._rng.integers(self.seen))) < self._size:
            self.chosen[place] = item

    def mixed(self) -> list[Item]:
        """Return the items in random order."""
        return [self.chosen[place] for place in self._rng.permutation(len(self.chosen))]


def _pairs(texts: Iterable[str], labels: Iterable[object] | None) -> Iterator[tuple[str, object]]:
    for text, label in zip_longest(texts, () if labels is None else labels, fillvalue=_ENDED):
        if labels is not None and _ENDED in (text, label):
            raise DataError(f"There must be a label for each text.{_numbers(texts, labels)}")
        if not isinstance(text, str):
            raise ParameterError("`evaluate` takes texts: leave out values that are missing.")
        yield text, label


def _numbers(texts: Iterable[str], labels: Iterable[object]) -> str:
    if isinstance(texts, list | tuple) and isinstance(labels, list | tuple):
        return f" Got {len(labels):,} for {len(texts):,}."
    return ""


# Evaluates mechanisms on the owner's own texts.


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
    kept = CellCache(digest.name() if digest else None, fresh=fresh)
    bench = EvaluationSample(sample.texts, sample.labels, opened, bound, options, drawing, noise)
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
        bench: EvaluationSample,
        kept: CellCache,
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


def _counts(sample: Sample, bench: EvaluationSample) -> dict[str, int]:
    return {
        "given": sample.given,
        "sampled": len(sample.texts),
        "words": int(bench.lengths.sum()),
        "attacked": bench.attacked,
        "attacked_words": int(bench.lengths[: bench.attacked].sum()),
    }
