"""An evaluation on the terminal, as Markdown and as a page."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from tests.measure.figures import attack_figure

from malaprop.measure import Evaluation
from malaprop.measure.evaluation import Bounds, Cell
from malaprop.privacy.errors import MissingExtraError, ParameterError
from malaprop.privacy.estimate import Estimate
from malaprop.report import evaluation_page
from malaprop.report.evaluation_page import as_html, readable


def estimate(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.02, high=value + 0.02)


def accuracies(value: float) -> dict[str, dict[str, Estimate]]:
    both = {"clean": estimate(value), "private": estimate(value - 0.05)}
    return {"centroids": both, "ngrams": both}


def cell(name: str, epsilon: float, share: float) -> Cell:
    attack = attack_figure(share, interval=(share - 0.01, share + 0.01))
    return Cell(
        mechanism={"name": name, "epsilon": epsilon},
        kept=estimate(share / 2),
        similarity=estimate(share),
        text_similarity=estimate(share),
        accuracy=accuracies(0.6 + share / 4),
        attacks={"bayes": attack, "context": attack, "majority": attack},
        seconds=1.0,
    )


@pytest.fixture
def evaluation() -> Evaluation:
    cells = (cell("balanced", 1, 0.2), cell("balanced", 1.5, 0.44), cell("tem", 1.5, 0.62))
    return Evaluation(
        cells=cells,
        bounds=Bounds(
            kept=0.0,
            similarity=0.01,
            text_similarity=0.02,
            majority=estimate(0.5),
            random_words=accuracies(0.52),
            unprotected={"centroids": estimate(0.8), "ngrams": estimate(0.78)},
        ),
        lexicon={"name": "<english>", "fingerprint": "00"},
        policy={"repeat": "fresh"},
        settings={"most": 0.5, "runs": 5},
        texts={"given": 9000, "sampled": 2000, "words": 40_000, "attacked": 9, "attacked_words": 8},
        classes=2,
        runs="5 noise draws, each with a random split of its own",
        notes=("something to know",),
    )


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_table_fits_the_terminal(evaluation: Evaluation, width: int) -> None:
    shown = readable(evaluation, width)
    assert max(map(len, shown.splitlines())) <= min(width, 96)
    assert "Recommended: balanced at ε = 1.5." in shown
    assert "0.44±.01" in shown
    assert len(re.findall(r"^balanced\* +1\.5 ", shown, re.MULTILINE)) == (4 if width == 40 else 1)
    for name in ("unprotected", "random words", "majority class", "context", "Something to know."):
        assert name in shown
    assert "2,000 of 9,000 texts, drawn at random, with 40,000 words" in " ".join(shown.split())


def test_attacks_have_bounds_and_say_what_their_intervals_are_over(evaluation: Evaluation) -> None:
    label = attack_figure(0.8, interval=(0.7, 0.9), recovers_words=False)
    cells = tuple(
        replace(each, attacks={**each.attacks, "membership": label}) for each in evaluation.cells
    )
    shown = " ".join(readable(replace(evaluation, cells=cells), 200).split())
    assert "membership accuracy reached by the attack membership" in shown
    over = "bootstrap over 9 texts, with 2 draws of the noise each"
    assert f"bayes, context, majority, membership: 95 % by {over}." in shown
    text = evaluation_page.rendered(replace(evaluation, cells=cells), Path("x.md"))[
        Path("x.md")
    ].decode()
    for name, bounds in (
        ("unprotected", ("1.000",) * 4),
        ("random words", ("0.050",) * 4),
        ("majority class", ("–", "–", "–", "0.100")),
    ):
        rows = [line for line in text.splitlines() if line.startswith(f"| {name}")]
        assert len(rows) == 2  # two classifiers
        assert all(row.endswith(f"| {' | '.join(bounds)} |") for row in rows)


def test_the_page_holds_everything_and_escapes(evaluation: Evaluation) -> None:
    page = as_html(evaluation)
    assert "&lt;english&gt;" in page
    assert "<english>" not in page
    assert "<script" not in page
    assert 'class="chosen"><td>balanced</td><td class="number">1.5</td>' in page
    assert "The same with the model ngrams" in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    (svg,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert "words recovered by the strongest attack" in svg


def test_markdown_has_its_picture_beside_it(evaluation: Evaluation) -> None:
    pages = evaluation_page.rendered(evaluation, Path("some/report.md"))
    assert list(pages) == [Path("some/report.md"), Path("some/report.svg")]
    text = pages[Path("some/report.md")].decode()
    assert "![The frontier](report.svg)" in text
    assert "| **balanced** | 1.5 | 0.220 (0.200–0.240) |" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    ET.fromstring(pages[Path("some/report.svg")].decode())  # noqa: S314  our own


def test_without_matplotlib_there_is_no_picture(
    evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> str:
        raise MissingExtraError("matplotlib", "plots", "A plot")

    monkeypatch.setattr(evaluation_page, "frontier", missing)
    assert "pip install matplotlib" in as_html(evaluation)
    pages = evaluation_page.rendered(evaluation, Path("report.md"))
    assert list(pages) == [Path("report.md")]
    assert "![" not in pages[Path("report.md")].decode()


def test_other_endings_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"\.md, \.html"):
        evaluation_page.files_of(Path("report.pdf"))
