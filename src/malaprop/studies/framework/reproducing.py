"""Run a study: measure its cells, or take those that were kept, and judge the paper's claims."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from malaprop.core.errors import MissingExtraError
from malaprop.core.randomness import seeded_rng
from malaprop.studies.framework.cells import Cells, cache_folder, digest
from malaprop.studies.framework.claims import judged
from malaprop.studies.framework.items import Figure, Item, Study
from malaprop.studies.framework.lines import Line, Setting
from malaprop.studies.framework.papers import paper_of
from malaprop.studies.framework.run import MissingDataError, Run

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
    bench = _Bench(study, run, cells or Cells(cache_folder()), fresh)
    plan = [(item, tuple(item.grid(run))) for item in study.chosen(items)]
    total, done, lines = sum(len(grid) for _, grid in plan), 0, []
    for item, grid in plan:
        own: list[Line] = []
        for setting in grid:
            if progress:
                progress(done, total, _note(study, item, setting))
            own += bench.lines(item, setting)
            done += 1
        lines += judged(own, item.claims)
    if progress:
        progress(done, total, study.name)
    return lines


def judged_again(study: Study, lines: Iterable[Line]) -> list[Line]:
    """Return lines of a study that were measured before, with the claims as they are judged today.

    Each figure is one line, though older files repeat it for each claim.
    """
    by_item: dict[str, dict[str, Line]] = {}
    for line in lines:
        by_item.setdefault(line.item, {}).setdefault(line.key, line)
    claims = {item.name: item.claims for item in study.items}
    return [
        line for item, own in by_item.items() for line in judged(own.values(), claims.get(item, ()))
    ]


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
            figures, command = [Figure(name, None) for name in names], missing.command
        remedies = [command or self._remedy(figure) for figure in figures]
        return [
            self._line(item, {**setting, **figure.setting}, figure, remedy)
            for figure, remedy in zip(figures, remedies, strict=True)
            if figure.measure in item.measures and (remedy or figure.value is not None)
        ]

    def _remedy(self, figure: Figure) -> str | None:
        """Return the command that gets what a figure lacks; None if it lacks nothing."""
        return self.run.lacking(figure.missing) if figure.missing else None

    def _figures(self, item: Item, setting: Setting) -> list[Figure]:
        drawn = {
            "study": self.study.name,
            "cell": item.key,
            "setting": dict(setting),
            "quick": self.run.quick,
            "seed": self.run.seed,
        }
        lexicon = self.run.fingerprint(setting)
        key = {
            **drawn,
            "revision": item.revision,
            "versions": self.run.versions,
            "lexicon": lexicon,
        }
        kept = None if self.fresh else self.cells.read(key)
        if kept is not None and all(self._is_up_to_date(figure) for figure in kept):
            return kept
        # A generator for each cell: what was kept before does not change what is drawn now.
        rng = seeded_rng(int(digest(drawn)[:16], 16))
        figures = [_finite(figure) for figure in item.cell(self.run, setting, rng)]
        self.cells.keep(key, figures)
        return figures

    def _is_up_to_date(self, figure: Figure) -> bool:
        """Whether a kept figure has its data, or they are still missing."""
        return not figure.missing or self._remedy(figure) is not None

    def _line(self, item: Item, setting: Setting, figure: Figure, command: str | None) -> Line:
        if item.spread is not None and "spread" not in figure.setting:
            setting = {**setting, "spread": item.spread(setting, figure.measure)}
        printed = paper_of(self.study.name).figure(item.name, figure.measure, setting)
        return Line(
            study=self.study.name,
            item=item.name,
            setting=setting,
            measure=figure.measure,
            ours=figure.value,
            error=figure.error,
            freedom=figure.freedom,
            paper=printed.value if printed else None,
            paper_error=printed.error if printed else None,
            command=command,
            vectors=None if figure.value is None else self.run.imported(setting),
            seed=self.run.seed,
            quick=self.run.quick,
            versions=self.run.versions,
        )


def _finite(figure: Figure) -> Figure:
    """Return the figure with plain numbers, and None for what is not a number."""
    value = figure.value if isinstance(figure.value, str) else _number(figure.value)
    return replace(figure, value=value, error=_number(figure.error), setting=dict(figure.setting))


def _number(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value)


def _note(study: Study, item: Item, setting: Setting) -> str:
    return " ".join([study.name, item.name, *map(str, _short(setting.values()))])


def _short(values: Iterable[object]) -> Iterable[object]:
    return (value for value in values if not isinstance(value, bool))
