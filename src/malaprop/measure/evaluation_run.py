"""Measures privacy beside utility on the owner's texts, setting by setting."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from numbers import Real
from time import monotonic
from typing import Any, TypeVar, Unpack

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop._version import __version__
from malaprop.lexicon.bigrams import BigramModel
from malaprop.lexicon.graph import with_graph_if_needed
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.adversaries import Target, attack_with
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
from malaprop.measure.evaluation import AttackFigure, Bounds, Cell, Evaluation, revived
from malaprop.measure.word_statistics import Similarity
from malaprop.owner import WordDraws
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import (
    DataError,
    OutputError,
    ParameterError,
    entry,
    require_choice,
    require_whole,
    several_texts,
)
from malaprop.privacy.estimate import LEVEL, Estimate
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.progress import Progress, report, stage
from malaprop.privacy.randomness import checked_rng, secure_rng
from malaprop.private_files import atomic_write, create, open_ours, state_folder, subkey
from malaprop.privatizer import Privatizer
from malaprop.recipe import made, mechanism_named, written
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy, TextOptions, policy_with


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """What to measure besides the mechanisms."""

    sample: int | None = 2_000
    """How many texts to draw from those given, at most; None for all."""
    attacked: int = 50_000
    """Attacks stop with the text that reaches this number of words."""
    runs: int = RUNS
    """How many noise draws, each with a split of its own."""
    attacks: tuple[str, ...] | None = None
    """Names of attacks; None for those on words that apply."""
    models: tuple[str, ...] = ("centroids", "ngrams")
    most: float = 0.5
    """The share of words that no attack may recover more of."""
    model: Any = None
    """A bigram model for the attacks, or its folder; None for the one that ships."""
    adaptive: bool = False
    """Whether attackers learn from private text, too."""

    def __post_init__(self) -> None:
        for name in ("attacked", "runs") if self.sample is None else ("sample", "attacked", "runs"):
            require_whole(self, name, 1)
        require_choice(self, "adaptive", (True, False))
        if not isinstance(self.most, Real) or not 0.0 < self.most <= 1.0:
            raise ParameterError("`most` must be a share of words: above 0, and up to 1.")
        for name in self.attacks or ():
            if entry("attack", name, registered).on not in ("words", "labels"):
                raise ParameterError(f"The attack {name} is not on texts: leave it out.")
            if getattr(registered[name], "alone", False):
                raise ParameterError(f"The attack {name} is run by itself: malaprop attack {name}.")
        for name in self.models:
            entry("model", name, text_models)

    def check(self, policy: Policy, *, labelled: bool) -> None:
        """Refuse attacks that do not fit the texts, before any work."""
        for name in self.attacks or ():
            cls = registered[name]
            if issubclass(cls, WordAttack):
                cls.check_reuse(policy.repeat)
            if cls.on == "labels" and not labelled:
                raise ParameterError(f"The attack {name} is on labels: give `labels`.")

    def bound(self, lexicon: Lexicon, policy: Policy) -> "tuple[EvaluationSettings, list[str]]":
        """Return the settings with attacks and model chosen, and notes on what does not apply."""
        on_words = {k: cls for k, cls in registered.items() if issubclass(cls, WordAttack)}
        needed = any(on_words[name].needs_model for name in self.attacks or () if name in on_words)
        model = model_for(self.model, lexicon, needed=needed)
        if self.attacks is not None:
            return replace(self, model=model), []
        chosen = tuple(
            name
            for name, cls in on_words.items()
            if not cls.alone
            and not (cls.needs_reuse and policy.repeat == "fresh")
            and not (cls.needs_model and model is None)
        )
        notes = []
        if "context" not in chosen:
            notes.append(
                "The context attack was not run, as there is no bigram model of this lexicon: "
                "train one with  malaprop lm train. Context raises what an observer learns"
            )
        return replace(self, attacks=chosen, model=model), notes

    def to_dict(self) -> dict[str, Any]:
        return {
            **vars(self),
            "attacks": list(self.attacks or ()),
            "models": list(self.models),
            "model": self.model.fingerprint if isinstance(self.model, BigramModel) else "",
        }


def mechanisms_at(
    chosen: Sequence[Mechanism | str],
    epsilons: Sequence[float],
    *,
    named: Callable[[str], type[Mechanism]] = mechanism_named,
) -> tuple[Mechanism, ...]:
    """Return a mechanism for each name and each ε; mechanisms that are given as values stay.

    A name may state its own ε and other parameters: `tem:4,exponent=half`. `named` knows names.

    >>> [each.epsilon for each in mechanisms_at(["tem", "tem:4,exponent=half"], [1.0, 2.0])]
    [1.0, 2.0, 4.0]
    """
    every: list[Mechanism] = []
    for each in chosen:
        if isinstance(each, Mechanism):
            every.append(each)
            continue
        cls, values = written(str(each), named=named)
        own = [values.pop("epsilon")] if "epsilon" in values else list(epsilons)
        if not own:
            raise ParameterError(
                f"The mechanism {each} needs an ε: name some in `epsilons`, or write {each}:1.5."
            )
        every += [made(cls, {"epsilon": value, **values}) for value in own]
    if not every:
        raise ParameterError("There is no mechanism to evaluate: name one in `mechanisms`.")
    if len(set(map(repr, every))) < len(every):
        raise ParameterError("A mechanism is named twice with the same parameters.")
    return tuple(every)


def epsilon_of(text: str) -> float:
    """Return an ε that was written as text."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"ε must be a number. Got {text!r}.") from None


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
    size: int | None,
    rng: Generator,
    digest: "Digest | None" = None,
) -> Sample:
    """Return a sample of the texts that have something in them, and a label if there are labels.

    Each has the same chance. All of them count for the digest.
    """
    several_texts(texts, "evaluate")
    left = 0

    def usable() -> Iterator[tuple[str, object]]:
        nonlocal left
        for text, label in zip_longest(texts, () if labels is None else labels, fillvalue=_ENDED):
            if labels is not None and _ENDED in (text, label):
                lists = isinstance(texts, list | tuple) and isinstance(labels, list | tuple)
                numbers = f" Got {len(labels):,} for {len(texts):,}." if lists else ""  # type: ignore[arg-type]
                raise DataError(f"There must be a label for each text.{numbers}")
            if not isinstance(text, str):
                raise ParameterError("`evaluate` takes texts: leave out values that are missing.")
            if not text.strip() or (labels is not None and is_missing_label(label)):
                left += 1
                continue
            if digest is not None:
                digest.add(text, None if labels is None else str(label))
            yield text, label

    chosen, given = draw_sample(usable(), size, rng)
    if left and not given and labels is not None:
        raise DataError("No text has a label: name another column of labels, or none.")
    if not given:
        raise DataError("There are no texts to evaluate.")
    mixed = [chosen[place] for place in rng.permutation(len(chosen))]
    return Sample(
        texts=[text for text, _ in mixed],
        labels=None if labels is None else [label for _, label in mixed],
        given=given,
        left_out=left,
    )


def draw_sample(items: Iterable[Item], size: int | None, rng: Generator) -> tuple[list[Item], int]:
    """Return some of the items, each with the same chance, or all; and how many there were.

    The others are not kept in memory.
    """
    chosen: list[Item] = []
    seen = 0
    for seen, item in enumerate(items, 1):
        if size is None or len(chosen) < size:
            chosen.append(item)
        elif (place := int(rng.integers(seen))) < size:
            chosen[place] = item
    return chosen, seen


class EvaluationSample:
    """The sample with its labels, and what is measured on it.

    `rng` draws splits and the words of floors. Noise comes from `noise`, fresh for every draw.
    """

    def __init__(
        self,
        sample: Sample,
        lexicon: Lexicon,
        settings: EvaluationSettings,
        options: TextOptions,
        rng: Generator,
        noise: Generator,
    ) -> None:
        self._texts, self._labels, self._lexicon = sample.texts, sample.labels, lexicon
        self._settings, self._options, self._noise, self._rng = settings, options, noise, rng
        self.tasks: dict[str, Classification] = {}
        """The classifiers, by name; none without labels."""
        if sample.labels is not None:
            seed = int(rng.integers(2**62))  # the same splits for all models
            for model in settings.models:
                self.tasks[model] = Classification(
                    self._texts,
                    sample.labels,
                    lexicon,
                    model=model,
                    runs=settings.runs,
                    policy=Policy(**options),
                    rng=np.random.Generator(np.random.PCG64(seed)),
                )
        parser = TextParser(lexicon.words, Policy(kinds="words"))
        templates, (self._secret, _) = parser.parse(self._texts)
        self._lengths = np.asarray(templates.slot_counts, dtype=np.int64)
        if not len(self._secret):
            raise DataError("The texts have no words to measure on.")
        check_corpus(settings.model, self._secret, self._lengths)
        self._attacks = []
        for name in settings.attacks or ():
            on_words = registered[name].on == "words"
            own = {"model": settings.model} if on_words else {"repeats": settings.runs}
            self._attacks.append(attack_with(name, {"adaptive": settings.adaptive, **own}))
            if isinstance(self._attacks[-1], LabelAttack):
                self._attacks[-1].checked(self._texts, self._labels)  # before any work
        enough = int(np.searchsorted(np.cumsum(self._lengths), settings.attacked))
        self._attacked = min(len(self._texts), enough + 1)

    def counts(self) -> dict[str, int]:
        return {
            "sampled": len(self._texts),
            "words": int(self._lengths.sum()),
            "attacked": self._attacked,
            "attacked_words": int(self._lengths[: self._attacked].sum()),
            "trained": next((task.trained for task in self.tasks.values()), 0),
        }

    def bounds(self) -> Bounds:
        """Measure what useless and what clean texts reach."""
        others = self._rng.integers(0, len(self._lexicon), size=len(self._secret))
        tasks, secret = self.tasks.items(), self._secret
        return Bounds(
            kept=float(np.mean(others == secret)),
            similarity=float(self._similarity.between(secret, others).mean()),
            text_similarity=float(self._similarity.of_texts(secret, others, self._lengths).mean()),
            majority=next((task.majority for _, task in tasks), None),
            random_words={model: task.random_words for model, task in tasks},
            unprotected={model: task.unprotected.accuracy["clean"] for model, task in tasks},
            unprotected_by_texts={model: task.unprotected.by_texts for model, task in tasks},
        )

    def cell(self, mechanism: Mechanism, progress: Progress | None = None) -> Cell:
        """Measure one setting: privatize the sample, train on it, attack it."""
        started = monotonic()
        lexicon = with_graph_if_needed(self._lexicon, mechanism)
        privatizer = Privatizer(lexicon, mechanism, rng=self._noise, **self._options)
        draws = []
        for done in range(self._settings.runs):
            draws.append(privatizer.word_draws(self._texts))
            report(stage(progress, 0, 3), done + 1, self._settings.runs)
        words, scores, steps = self._words(draws), {}, 1 + len(self.tasks)
        own = stage(progress, 1, 3)
        copies = private_copies(
            privatizer, self._texts, self._settings.runs if steps > 1 else 0, stage(own, 0, steps)
        )
        for number, (model, task) in enumerate(self.tasks.items(), 1):
            scores[model] = task.scores(copies, stage(own, number, steps))
        return Cell(
            mechanism={**mechanism.to_dict(), **privatizer.channel.chosen},
            name=mechanism.title(privatizer.channel.chosen),
            **words,
            accuracy={model: each.accuracy for model, each in scores.items()},
            accuracy_by_texts={model: each.by_texts for model, each in scores.items()},
            attacks=self._recovered(privatizer, draws, stage(progress, 2, 3)),
            seconds=monotonic() - started,
        )

    def _words(self, draws: Sequence[WordDraws]) -> dict[str, Estimate]:
        """Return the words kept, their similarity, and that of texts, over several draws."""
        kept, words, texts = [], [], []
        for each in draws:
            kept.append(_by_text(each.secret == each.drawn, each))
            words.append(_by_text(self._similarity.between(each.secret, each.drawn), each))
            texts.append(self._similarity.of_texts(each.secret, each.drawn, each.lengths))
        lengths = draws[0].lengths
        sizes = lengths[lengths > 0].astype(np.float64)
        return {
            "kept": _over_texts(kept, sizes),
            "similarity": _over_texts(words, sizes, (-1.0, 1.0)),
            "text_similarity": _over_texts(texts, np.ones_like(sizes), (-1.0, 1.0)),
        }

    def _recovered(
        self, privatizer: Privatizer, draws: Sequence[WordDraws], progress: Progress | None
    ) -> dict[str, AttackFigure]:
        """Run the attacks.

        Those on words share the noise draws. One on labels has draws and splits of its own, as
        many.
        """
        drawn: Drawn | None = None
        figures = {}
        for number, each in enumerate(self._attacks):
            own = stage(progress, number, len(self._attacks))
            if isinstance(each, WordAttack):
                first = [draw.first(self._attacked) for draw in draws]
                drawn = drawn or each.drawn(privatizer, first, self._rng)
                figures[each.name] = AttackFigure.of(each.recover(drawn, self._rng, own))
            if isinstance(each, LabelAttack):
                target = Target(
                    privatizer=privatizer,
                    texts=self._texts,
                    labels=self._labels,
                    rng=self._rng,
                    progress=own,
                )
                figures[each.name] = AttackFigure.of(each.run(target))
        return figures

    @cached_property
    def _similarity(self) -> Similarity:
        return Similarity(self._lexicon)


def _by_text(values: NDArray[Any], draws: WordDraws) -> Floats:
    """Return the sum of values of words in each text that has any."""
    lengths = draws.lengths[draws.lengths > 0]
    return np.add.reduceat(values.astype(np.float64), np.cumsum(lengths) - lengths)


def _over_texts(
    sums: Sequence[Floats], sizes: Floats, between: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    """Return a mean over all texts and draws, with a 95 % interval over texts and their noise.

    The mean is Σsᵢ/Σnᵢ with the sums and sizes of texts, and its error that of the residuals
    sᵢ − mean·nᵢ, by Student's law. One text says nothing of others: its interval is all there is.
    """
    from scipy.stats import t

    values = [float(each.sum() / sizes.sum()) for each in sums]
    mean, margin = float(np.mean(values)), np.inf
    if len(sizes) > 1:
        residuals = (np.mean(sums, axis=0) - mean * sizes) * len(sizes) / sizes.sum()
        sure = float(t.ppf(0.5 + LEVEL / 2.0, len(sizes) - 1))
        margin = sure * float(np.std(residuals, ddof=1)) / len(sizes) ** 0.5
    figure = Estimate(value=mean, low=mean - margin, high=mean + margin, values=tuple(values))
    return figure.within(*between)


_LARGEST = 1 << 26  # bytes


class Digest:
    """A keyed digest of the settings, and of texts and labels as they are read."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._digest = hashlib.blake2b(key=subkey("evaluate"), digest_size=16)
        self.add(__version__, settings)
        self.seed = int.from_bytes(self._digest.digest()[:7])
        """A number that the settings and the owner's key decide."""

    def add(self, *parts: Any) -> None:
        self._digest.update(json.dumps(parts, sort_keys=True).encode() + b"\n")

    def name(self) -> str:
        return self._digest.hexdigest()


class CellCache:
    """What was measured before on the same texts with the same settings, in the state folder.

    There is a file for each cell, and one for the bounds, in a folder whose name is a keyed digest
    of the texts and of all settings but the mechanisms: only its owner can tell what it belongs to.
    The files hold figures and numbers only, no text and no label. Runs with other mechanisms and
    other ε share the folder, also at the same time. With no `digest`, nothing is kept beyond the
    run; if it is `fresh`, nothing is taken over.
    """

    def __init__(self, digest: str | None, *, fresh: bool = False) -> None:
        self._folder = None if digest is None else state_folder() / "evaluations" / digest
        self._fresh = fresh
        self._known: dict[str, Any] = {}

    def get(self, mechanism: Mechanism | None) -> Any:
        """Return the cell of a mechanism, or the bounds, if this run or an earlier one kept it.

        A damaged file counts as none.
        """
        name, kind = _file_of(mechanism), Bounds if mechanism is None else Cell
        if name not in self._known and self._folder is not None and not self._fresh:
            try:
                with os.fdopen(open_ours(self._folder / name), "rb") as file:
                    self._known[name] = kind(**revived(json.loads(file.read(_LARGEST))))
            except (FileNotFoundError, OutputError, ValueError, KeyError, TypeError):
                return None
        return self._known.get(name)

    def keep(self, mechanism: Mechanism | None, measured: Cell | Bounds) -> None:
        """Keep what was measured, in one step: a stop leaves a whole file or none."""
        name = _file_of(mechanism)
        self._known[name] = measured
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            plain = json.dumps(asdict(measured), allow_nan=False).encode()
            with atomic_write(self._folder / name) as new, os.fdopen(create(new), "wb") as file:
                file.write(plain)


def _file_of(mechanism: Mechanism | None) -> str:
    if mechanism is None:
        return "bounds.json"
    key = json.dumps(mechanism.to_dict(), sort_keys=True, default=str).encode()
    return f"{hashlib.blake2b(key, digest_size=16).hexdigest()}.json"


@dataclass(frozen=True, kw_only=True)
class EvaluationProgress:
    """How far an evaluation is, in thousandths of cells, and what is being measured."""

    done: int
    total: int
    note: str


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
    chosen = mechanisms_at(mechanisms, epsilons)
    settings = settings or EvaluationSettings()
    settings.check(policy, labelled=labels is not None)
    opened = Lexicon.open(lexicon) if isinstance(lexicon, str) else lexicon
    bound, notes = settings.bound(opened, policy)
    known = {"lexicon": opened.fingerprint, "policy": policy.to_dict(), **bound.to_dict()}
    known.pop("most")
    if rng is not None:  # whoever names a generator wants its draws, not those of another run
        known["seed"] = int(checked_rng(rng).integers(2**62))
    digest = Digest(known | {"labelled": labels is not None}) if resume else None
    noise = secure_rng() if rng is None else rng
    seed = known.get("seed") or (digest.seed if digest else int(noise.integers(2**62)))
    drawing = np.random.Generator(np.random.PCG64(seed))
    sample = sampled(texts, labels, bound.sample, drawing, digest)
    if sample.labels is not None:
        class_numbers(sample.labels, len(sample.texts))
    cache = CellCache(digest.name() if digest else None, fresh=fresh)
    bench = EvaluationSample(sample, opened, bound, options, drawing, noise)
    earlier = sum(cache.get(each) is not None for each in chosen)
    _measure_missing(bench, cache, chosen, progress)
    if sample.left_out:
        notes.append(f"{sample.left_out:,} texts without words, or without a label, were left out")
    task = next(iter(bench.tasks.values()), None)
    return Evaluation(
        cells=tuple(map(cache.get, chosen)),
        bounds=cache.get(None),
        lexicon=opened.to_dict(),
        policy=policy.to_dict(),
        settings=bound.to_dict(),
        texts={"given": sample.given, **bench.counts()},
        classes=0 if task is None else task.classes,
        runs="" if task is None else task.about_runs,
        notes=tuple(notes),
        earlier=earlier,
    )


def _measure_missing(
    bench: EvaluationSample,
    cache: CellCache,
    mechanisms: Sequence[Mechanism],
    listener: Listener | None,
) -> None:
    jobs = [each for each in (None, *mechanisms) if cache.get(each) is None]
    for place, job in enumerate(jobs):
        note = "floors and ceilings" if job is None else f"{job.title({})}, ε = {job.epsilon:g}"

        def tell(done: int, total: int, start: int = 1000 * place, note: str = note) -> None:
            at = start + 1000 * done // max(1, total)
            if listener is not None:
                listener(EvaluationProgress(done=at, total=1000 * len(jobs), note=note))

        tell(0, 1)
        cache.keep(job, bench.bounds() if job is None else bench.cell(job, tell))
