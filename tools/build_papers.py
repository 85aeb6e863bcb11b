"""Build docs/papers.md: everything that the five papers state, and where it is.

    python tools/build_papers.py

The rows are those of tools/papers.toml. What became of a table or a figure is counted from the
results that are committed beside the pages of the studies.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from malaprop.lab.studies import judged_again, names
from malaprop.lab.studies.study import Line, paper_of, read_results

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "tools" / "papers.toml"
PAGE = ROOT / "docs" / "papers.md"
_TESTS = {
    "M/": "tests/mechanisms/test_",
    "P/": "tests/privacy/test_",
    "S/": "tests/lab/studies/test_",
}
_OUTCOMES = {True: "confirmed", False: "not confirmed", None: "not decided"}
_HEAD = """\
# The five papers, line by line

Every algorithm, definition, theorem, table, figure and announced extension of the five papers:
what it is, where it is built, the command that runs it, the test that checks it, and what became
of it. For tables and figures, the paper's claims are counted on every figure that they are about;
[the pages of the studies](studies/README.md) show them, and
[what we could not confirm](studies/what-we-could-not-confirm.md) has the reasons. {counts}
"""


class Row(NamedTuple):
    """A line of a paper."""

    what: str
    says: str
    modules: str
    command: str
    test: str
    verdict: str

    @property
    def path(self) -> str:
        """The test in full."""
        prefix = self.test[:2]
        return _TESTS[prefix] + self.test[2:] if prefix in _TESTS else self.test


def rows() -> dict[str, list[Row]]:
    """Return the rows of each paper, as the file has them."""
    papers = tomllib.loads(ROWS.read_text("utf-8"))
    return {name: [Row(*row) for row in paper["rows"]] for name, paper in papers.items()}


def page() -> str:
    """Return the page."""
    papers = rows()
    every = [row for own in papers.values() for row in own]
    left = sum(not row.modules for row in every)
    counts = f"{len(every)} lines, of which {left} are left out, each with its reason."
    parts = [_HEAD.format(counts=counts)]
    for name, own in papers.items():
        lines = judged_again(read_results(ROOT / "docs" / "studies" / f"{name}.jsonl.gz"))
        parts.append(
            f"## {name}\n{paper_of(name).paper}. [The page of the study](studies/{name}.md).\n"
        )
        parts.append(
            "| what | it says | module | command | test | verdict |\n|---|---|---|---|---|---|"
        )
        parts += [_shown(row, lines) for row in own]
        parts[-1] += "\n"
    return "\n".join(parts).rstrip() + "\n"


def _shown(row: Row, lines: list[Line]) -> str:
    kind, _, item = row.verdict.partition(" ")
    verdict = _counted(lines, item) if kind == "item" else row.verdict
    modules = ", ".join(f"`{each.removeprefix('malaprop.')}`" for each in row.modules.split())
    command = f"`{row.command}`" if row.command else ""
    path, _, test = row.path.partition("::")
    tested = f"[{test.removeprefix('test_').replace('_', ' ')}](../{path})" if path else ""
    return f"| {row.what} | {row.says} | {modules} | {command} | {tested} | {verdict} |"


def _counted(lines: list[Line], item: str) -> str:
    """Say on how many figures the paper's claims are confirmed."""
    own = [line for line in lines if line.item == item]
    if all(line.ours is None for line in own):
        return "not measured: the paper's data are not at hand"
    told = {whose: _told(own, whose) for whose in ("paper", "reading")}
    if told["paper"]:
        return told["paper"]
    measured = sum(line.ours is not None for line in own)
    if any(each.whose == "paper" for line in own for each in line.claims):
        return f"not measured with the paper's data; {measured} figures with others"
    if told["reading"]:
        return f"as we read its claim, {told['reading']}"
    return f"{measured} figures measured; the paper makes no claim about them"


def _told(lines: list[Line], whose: str) -> str:
    claims = [
        each
        for line in lines
        for each in line.claims
        if each.whose == whose and line.ours is not None
    ]
    outcomes = Counter(_OUTCOMES[each.holds] for each in claims)
    told = [f"{outcomes[name]} {name}" for name in _OUTCOMES.values() if outcomes[name]]
    return f"of {len(claims)}: {', '.join(told)}" if claims else ""


if __name__ == "__main__":
    if set(rows()) != set(names()):
        raise SystemExit("tools/papers.toml must have a section for each study")
    PAGE.write_text(page(), "utf-8")
