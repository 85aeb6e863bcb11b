"""How large a run of a study is, and what of the user's own it takes: a lexicon, data sets."""

from collections.abc import Mapping
from os import cpu_count
from pathlib import Path
from typing import Final, Literal, get_args

from malaprop.lab.datasets.entries import AUTHORS, catalogue
from malaprop.lab.datasets.own import own_file, read_own
from malaprop.lab.datasets.readers import LabelledTexts
from malaprop.lab.studies.reproduction import DEFAULT_LEXICON, Run
from malaprop.lab.studies.study import paper_of
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import ParameterError, did_you_mean
from malaprop.private_files import file_digest

Size = Literal["quick", "default", "paper"]
_HIERARCHY: Final = "english-hierarchy"


def run_of(
    size: Size = "default",
    *,
    seed: int = 0,
    lexicon: str | None = None,
    data: Mapping[str, Path] | None = None,
    study: str = "",
) -> Run:
    """Return a run of some size, with a lexicon and data sets in the place of ours.

    A lexicon in the Poincaré ball takes the place of the hierarchy, another one that of `english`.
    Files of data have the columns `text` and `label`, or are PAN's XML. Sets of authors that were
    added are taken by the study that uses them. What takes the place of what is told by size
    and fingerprint beside the versions, and cells of other runs are not taken over.
    """
    if size not in get_args(Size):
        raise ParameterError(f"`size` must be one of {', '.join(get_args(Size))}. Got {size!r}.")
    lexicons, sets, given = {}, {}, {}
    kept = {name: own_file(name) for name in AUTHORS if study and name in paper_of(study).data}
    kept = {name: path for name, path in kept.items() if path.is_file()}
    for name, path in (kept | dict(data or {})).items():
        sets[name] = _own_set(name, path, study)
        given[f"data {name}"] = f"{len(sets[name]):,} rows, SHA-256 {file_digest(path)[:16]}"
    if lexicon is not None:
        opened = Lexicon.open(lexicon)
        rows, columns = opened.vectors.shape
        place = _HIERARCHY if str(opened.metric) == "poincare" else DEFAULT_LEXICON
        lexicons[place] = opened
        about = f"{rows:,} words in {columns} dimensions, fingerprint {opened.fingerprint[:16]}"
        given[f"lexicon {opened.name or Path(lexicon).name}"] = about
    if size == "paper":
        given["size"] = "paper"
    own = {"lexicons": lexicons, "sets": sets, "given": given}
    return Run(quick=size == "quick", paper=size == "paper", seed=seed, **own)  # type: ignore[arg-type]


def estimate_of(study: str, size: Size) -> str:
    """Say how long a run takes about, and how much memory it needs."""
    cost = paper_of(study).cost
    minutes, times = cost[size if size != "paper" else "default"], cost["times"]
    if size == "paper":
        how = f"about {times:g} times {minutes:g} core-minutes (extrapolated, never run in full)"
    else:
        how = f"about {minutes:g} core-minute{'s' * (minutes != 1)}"
    return (
        f"{study}, size {size}: {how}, on one of {cpu_count()} cores; {cost['memory']:g} GB. "
        "A run that was stopped resumes."
    )


def _own_set(name: str, path: Path, study: str) -> LabelledTexts:
    """Read a file in the place of a data set that a study uses."""
    used = paper_of(study).data if study else [*catalogue()]
    if name not in used:
        raise ParameterError(
            f"The study {study} takes no data set {name!r}.{did_you_mean(name, used)} It takes: "
            f"{', '.join(used)}."
        )
    return read_own(name, [path])
