"""A run of studies: seeds, cells, the cache."""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from malaprop._version import __version__
from malaprop.lab.studies.study import Item, Line, Measurement, Setting, Study, judged, paper_of
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.store import SHIPPED
from malaprop.privacy.errors import DataError, MalapropError, MissingExtraError, ParameterError
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.randomness import seeded_rng
from malaprop.private_files import atomic_write
from malaprop.text.word_map import MAP_VERSION

if TYPE_CHECKING:
    from malaprop.lab.datasets.entries import Dataset


# Cells that were measured before, kept in the user's cache folder, a file each.


@dataclass(frozen=True)
class Cells:
    """Keeps what cells measured, so that a study that was stopped resumes where it was."""

    folder: Path

    @classmethod
    def in_cache(cls) -> Self:
        """Return the kept cells in $MALAPROP_HOME, else in the system's cache folder."""
        if chosen := os.environ.get("MALAPROP_HOME"):
            return cls(Path(chosen) / "cache" / "studies")
        import platformdirs

        return cls(Path(platformdirs.user_cache_dir("malaprop", appauthor=False)) / "studies")

    def read(self, key: Mapping[str, Any]) -> list[Measurement] | None:
        """Return the figures that were kept for a key; None if there are none, or damaged ones."""
        try:
            value = json.loads(self._path(key).read_text("utf-8"))
            if value["key"] != json.loads(_text(key)):
                return None
            # Those of an older version have no degrees of freedom, and are measured again.
            names = [one.name for one in fields(Measurement)]
            return [Measurement(*(figure[name] for name in names)) for figure in value["figures"]]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, key: Mapping[str, Any], figures: Iterable[Measurement]) -> None:
        value = {"key": json.loads(_text(key)), "figures": [asdict(figure) for figure in figures]}
        with atomic_write(self._path(key)) as part:
            part.write_text(json.dumps(value, ensure_ascii=False), "utf-8")

    def _path(self, key: Mapping[str, Any]) -> Path:
        return self.folder / str(key["study"]) / f"{_digest(key)[:32]}.json"


# How texts become words, which is another thing to measure when it changes.
_READING = (
    f"map {MAP_VERSION}; bigrams "
    + hashlib.sha256(json.dumps(SHIPPED["bigrams"], sort_keys=True).encode()).hexdigest()[:12]
)


def _digest(key: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(key).encode()).hexdigest()


def _text(key: Mapping[str, Any]) -> str:
    return json.dumps(key, sort_keys=True, ensure_ascii=False, allow_nan=False)


# What papers used that neither the package nor the catalogue has, and how to get it.

FASTTEXT: Final = "fasttext"
GLOVE_42B: Final = "glove-42b"
GLOVE_200: Final = "glove-6b-200d"
VECTORS: Final = {
    FASTTEXT: f"malaprop lexicon import crawl-300d-2M.vec.zip --name {FASTTEXT} --limit 30000  "
    "(get the file from https://fasttext.cc/docs/en/english-vectors.html first)",
    GLOVE_42B: f"malaprop lexicon import glove.42B.300d.zip --name {GLOVE_42B}  "
    "(get it from https://nlp.stanford.edu/data/glove.42B.300d.zip first)",
    GLOVE_200: f"malaprop lexicon import glove.6B.200d.txt --name {GLOVE_200}  "
    "(get it out of https://nlp.stanford.edu/data/glove.6B.zip first)",
}
"""The command for each lexicon."""
ENCODERS: Final = {
    "InferSent": "a run of InferSent (https://github.com/facebookresearch/InferSent), a sentence "
    "encoder on PyTorch, which Malaprop does not run",
    "SkipThought": "a run of SkipThought (https://github.com/ryankiros/skip-thoughts), a sentence "
    "encoder on Theano, which Malaprop does not run",
}
"""Sentence encoders whose figures papers print beside their own."""


# A run of studies: quick or full, its seed, and what its cells share.

Thing = TypeVar("Thing")
DEFAULT_LEXICON = "english"
_PACKAGES = ("numpy", "scipy", "scikit-learn")


class MissingDataError(DataError):
    """Data that a cell needs are not on this machine; `command` gets them.

    `measures` are the figures that lack them: by default all of the item. `data` names the data
    set, if one is what is missing.
    """

    def __init__(
        self, what: str, command: str, measures: tuple[str, ...] = (), data: str = ""
    ) -> None:
        super().__init__(f"{what} is not on this machine: run  {command}")
        self.command, self.measures, self.data = command, measures, data


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the cells of a run share."""

    quick: bool = False
    paper: bool = False
    """Whether to measure as much as the papers did, where that is more."""
    seed: int = 0
    given: Mapping[str, str] = field(default_factory=dict)
    """What the user put in the place of ours, by size and fingerprint."""
    lexicons: Mapping[str, Lexicon] = field(default_factory=dict)
    """Lexicons to use in place of those of the same name."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """Data sets to use in place of those of the same name."""
    own: Mapping[str, Mechanism] = field(default_factory=dict)
    """Mechanisms of the user, by what settings call them; their ε does not count."""
    _made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def pick(self, *, quick: Thing, full: Thing, paper: Thing | None = None) -> Thing:
        """Return the one for this size of run; without one for the paper's size, the full one."""
        if self.paper and paper is not None:
            return paper
        return quick if self.quick else full

    def once(self, key: Any, make: Callable[[], Thing]) -> Thing:
        """Return what `make` makes, made once in a run: a bound channel, a trained classifier."""
        if key not in self._made:
            self._made[key] = make()
        made: Thing = self._made[key]
        return made

    def latest(self, name: str, key: Any, make: Callable[[], Thing]) -> Thing:
        """Return what `make` makes, unless the one made before by that name has the same key.

        For large things that the next cells need as well: only one by each name is held.
        """
        held, made = self._made.get(("latest", name), (None, None))
        if held != key:
            made = make()
            self._made["latest", name] = (key, made)
        thing: Thing = made
        return thing

    def lexicon(self, name: str = DEFAULT_LEXICON) -> Lexicon:
        """Open a lexicon; if it is not there, say how to get it.

        The name of vectors in the catalogue of data sets stands for the default lexicon's words
        with those vectors, of the words that have one.
        """
        if name in self.lexicons:
            return self.lexicons[name]
        if _vectors_named(name):  # which are large, and not held
            words = self.lexicon().words
            made: Lexicon = self.once(("lexicon", name), lambda: _loaded(name).lexicon(words))
            return made
        try:
            return self.once(("lexicon", name), lambda: Lexicon.open(name))
        except ParameterError:
            raise MissingDataError(f"The lexicon {name}", VECTORS.get(name, "")) from None

    def data(self, name: str) -> Any:
        """Load a data set, once in a run; if it is not there, say which command gets it."""
        if name in self.sets:
            return self.sets[name]
        return self.once(("data", name), lambda: _loaded(name))

    def lacking(self, name: str) -> str | None:
        """Return the command that gets a data set; None if it is there, or none is named."""
        try:
            if name:
                self.data(name)
        except MissingDataError as missing:
            return missing.command
        return None

    @cached_property
    def versions(self) -> dict[str, str]:
        """The versions that results depend on."""
        packages = {name: _version(name) for name in _PACKAGES}
        return {"malaprop": __version__, **packages, **self.given}

    def imported(self, setting: Setting) -> str | None:
        """Name the vectors that a user imported under a setting's name: size and fingerprint.

        What ships with the package, or is pinned in the catalogue, needs no more than its name.
        """
        name = setting.get("vectors", setting.get("lexicon"))
        if name not in VECTORS:
            return None
        lexicon = self.lexicon(name)
        rows, columns = lexicon.vectors.shape
        return f"{rows:,} words in {columns} dimensions, fingerprint {lexicon.fingerprint}"

    def fingerprint(self, setting: Setting) -> str:
        """Return the fingerprint of the lexicon that a setting names; empty if it is missing."""
        name = setting.get("lexicon", DEFAULT_LEXICON)
        entry = None if name in self.lexicons else _vectors_named(name)
        if entry:  # the files are pinned: no need to read them
            return " ".join([self.lexicon().fingerprint, *(file.sha256 for file in entry.files)])
        try:
            return self.lexicon(name).fingerprint
        except MalapropError:
            return ""


def _loaded(name: str) -> Any:
    from malaprop.lab.datasets import load
    from malaprop.lab.datasets.entries import dataset_named, is_kept

    entry = dataset_named(name)
    if not is_kept(entry):
        raise MissingDataError(f"The data set {name}", entry.get_it, data=name)
    return load(name)


def _vectors_named(name: str) -> "Dataset | None":
    """Return the entry of word vectors in the catalogue of data sets; None if it is no such."""
    from malaprop.lab.datasets.entries import catalogue

    entry = catalogue().get(name)
    return entry if entry and entry.reader.endswith("-vectors") else None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


# Run a study: measure its cells, or take those that were kept, and judge the paper's claims.

CellProgress = Callable[[int, int, str], None]
"""Called with the cells done, the cells in total, and what is being measured."""


def run_study(
    study: Study,
    run: Run,
    *,
    items: Sequence[str] | None = None,
    cells: Cells | None = None,
    fresh: bool = False,
    progress: CellProgress | None = None,
) -> list[Line]:
    """Return all lines of a study, or of some of its items.

    A cell that was kept by an earlier run with the same seed and versions is not measured again,
    unless `fresh`. So a run that was stopped resumes.
    """
    bench = _Bench(study, run, cells or Cells.in_cache(), fresh)
    plan = [(item, item.settings(quick=run.quick)) for item in study.chosen(items)]
    total, done, lines = sum(len(settings) for _, settings in plan), 0, []
    for item, settings in plan:
        own: list[Line] = []
        for setting in settings:
            if progress:
                shown = (str(value) for value in setting.values() if not isinstance(value, bool))
                progress(done, total, " ".join([study.name, item.name, *shown]))
            own += bench.lines(item, setting)
            done += 1
        lines += judged(own, item.claims)
    if progress:
        progress(done, total, study.name)
    return lines


@dataclass(frozen=True)
class _Bench:
    """Measures cells of one study."""

    study: Study
    run: Run
    cells: Cells
    fresh: bool

    def lines(self, item: Item, setting: Setting) -> list[Line]:
        """Return the lines of a cell, without claims.

        A figure that is not defined, such as the skewness of equal values, has no line: a line
        without a figure says that data are missing.
        """
        try:
            figures, command = self._figures(item, setting), None
        except (MissingDataError, MissingExtraError) as missing:
            names = getattr(missing, "measures", ()) or item.measures
            figures, command = [Measurement(name, None) for name in names], missing.command
        remedies = [command or self.run.lacking(figure.missing) for figure in figures]
        return [
            self._line(item, {**setting, **figure.setting}, figure, remedy)
            for figure, remedy in zip(figures, remedies, strict=True)
            if figure.measure in item.measures and (remedy or figure.value is not None)
        ]

    def _figures(self, item: Item, setting: Setting) -> list[Measurement]:
        run = self.run
        drawn = {
            "study": self.study.name,
            "cell": item.key,
            "setting": dict(setting),
            "quick": run.quick,
            "seed": run.seed,
        }
        lexicon = run.fingerprint(setting)
        measured = {"revision": item.revision, "versions": run.versions, "reading": _READING}
        key = {**drawn, **measured, "lexicon": lexicon}
        kept = None if self.fresh else self.cells.read(key)
        if kept is not None and not any(
            figure.missing and self.run.lacking(figure.missing) is None for figure in kept
        ):  # else data are there that were missing
            return kept
        # A generator for each cell: what was kept before does not change what is drawn now.
        rng = seeded_rng(int(_digest(drawn)[:16], 16))
        figures = [_finite(figure) for figure in item.cell(run, setting, rng)]
        self.cells.keep(key, figures)
        return figures

    def _line(self, item: Item, setting: Setting, figure: Measurement, command: str | None) -> Line:
        if item.spread and "spread" not in figure.setting:
            setting = {**setting, "spread": item.spread_of(setting, figure.measure)}
        paper, paper_error = paper_of(self.study.name).figure(item.name, figure.measure, setting)
        return Line(
            study=self.study.name,
            item=item.name,
            setting=setting,
            measure=figure.measure,
            ours=figure.value,
            error=figure.error,
            freedom=figure.freedom,
            paper=paper,
            paper_error=paper_error,
            command=command,
            vectors=None if figure.value is None else self.run.imported(setting),
            seed=self.run.seed,
            quick=self.run.quick,
            versions=self.run.versions,
        )


def _finite(figure: Measurement) -> Measurement:
    """Return the figure with plain numbers, and None for what is not a number."""
    value = figure.value if isinstance(figure.value, str) else _number(figure.value)
    error = None if value is None else _number(figure.error)
    freedom = None if value is None else figure.freedom
    return replace(figure, value=value, setting=dict(figure.setting), error=error, freedom=freedom)


def _number(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value)
