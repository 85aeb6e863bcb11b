"""A run of studies: quick or full, its seed, and what its cells share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar

from malaprop._version import __version__
from malaprop.core.errors import DataError, MalapropError, ParameterError
from malaprop.lexicon.lexicon import Lexicon
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.not_at_hand import VECTORS

if TYPE_CHECKING:
    from malaprop.datasets import Dataset, WordVectors

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
    seed: int = 0
    lexicons: Mapping[str, Lexicon] = field(default_factory=dict)
    """Lexicons to use in place of those of the same name."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """Data sets to use in place of those of the same name."""
    _made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def pick(self, *, quick: Thing, full: Thing) -> Thing:
        """Return the one for this kind of run."""
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

    def lexicon(self, name: str = DEFAULT_LEXICON, command: str = "") -> Lexicon:
        """Open a lexicon; if it is not there, `command` says how to get it.

        The name of vectors in the catalogue of data sets stands for the default lexicon's words
        with those vectors, of the words that have one.
        """
        if name in self.lexicons:
            return self.lexicons[name]
        if entry := _vectors_named(name):
            return self.once(("lexicon", name), lambda: self._with_vectors(entry))
        try:
            return self.once(("lexicon", name), lambda: Lexicon.open(name))
        except ParameterError:
            raise MissingDataError(f"The lexicon {name}", command) from None

    def _with_vectors(self, entry: "Dataset") -> Lexicon:
        from malaprop.datasets import is_kept, load

        if not is_kept(entry):
            raise MissingDataError(f"The data set {entry.name}", entry.get_it)
        vectors: WordVectors = load(entry.name)  # large, and not held
        return vectors.lexicon(self.lexicon().words)

    def data(self, name: str) -> Any:
        """Load a data set, once in a run; if it is not there, say which command gets it."""
        if name in self.sets:
            return self.sets[name]
        from malaprop.datasets import dataset_named, is_kept, load

        entry = dataset_named(name)
        if not is_kept(entry):
            raise MissingDataError(f"The data set {name}", entry.get_it, data=name)
        return self.once(("data", name), lambda: load(name))

    def lacking(self, name: str) -> str | None:
        """Return the command that gets a data set; None if it is there."""
        try:
            self.data(name)
        except MissingDataError as missing:
            return missing.command
        return None

    @cached_property
    def versions(self) -> dict[str, str]:
        """The versions that results depend on."""
        return {"malaprop": __version__, **{name: _version(name) for name in _PACKAGES}}

    def imported(self, setting: Setting) -> str | None:
        """Name the vectors that a user imported under a setting's name: size and fingerprint.

        What ships with the package, or is pinned in the catalogue, needs no more than its name.
        """
        name = setting.get("vectors", setting.get("lexicon"))
        if name not in VECTORS:
            return None
        lexicon = self.lexicon(name, VECTORS[name])
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


def _vectors_named(name: str) -> "Dataset | None":
    """Return the entry of word vectors in the catalogue of data sets; None if it is no such."""
    from malaprop.datasets import catalogue

    entry = catalogue().get(name)
    return entry if entry and entry.has_lexicon else None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
