"""An evaluation on the terminal, as Markdown and as a page."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from tests.measure.figures import attack_figure

from malaprop.measure import Evaluation
from malaprop.measure.evaluation import Bounds, Cell
from malaprop.privacy.errors import MissingExtraError
from malaprop.privacy.estimate import Estimate
from malaprop.report import plots
from malaprop.report.evaluation_page import evaluation_page
from malaprop.report.page import page_files, render


def estimate(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.02, high=value + 0.02)


def accuracies(value: float) -> dict[str, dict[str, Estimate]]:
    both = {"clean": estimate(value), "private": estimate(value - 0.05)}
    return {"centroids": both, "ngrams": both}


def by_texts(value: float) -> dict[str, dict[str, Estimate]]:
    sizes = {"188": estimate(value - 0.1), "1500": estimate(value)}
    return {"centroids": sizes, "ngrams": sizes}


def cell(name: str, epsilon: float, share: float) -> Cell:
    attack = attack_figure(share, interval=(share - 0.01, share + 0.01))
    return Cell(
        mechanism={"name": name, "epsilon": epsilon},
        name=name,
        kept=estimate(share / 2),
        similarity=estimate(share),
        text_similarity=estimate(share),
        accuracy=accuracies(0.6 + share / 4),
        accuracy_by_texts=by_texts(0.6 + share / 4),
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
            unprotected_by_texts=by_texts(0.8),
        ),
        lexicon={"name": "<english>", "fingerprint": "00"},
        policy={"repeat": "fresh"},
        settings={"most": 0.5, "runs": 5},
        texts={
            "given": 9000,
            "sampled": 2000,
            "words": 40_000,
            "attacked": 9,
            "attacked_words": 8,
            "trained": 1500,
        },
        classes=2,
        runs="5 noise draws, each with a random split of its own",
        notes=("something to know",),
    )


@pytest.mark.parametrize("width", [60, 96])
def test_the_tables_fit_the_terminal(evaluation: Evaluation, width: int) -> None:
    shown = render(evaluation_page(evaluation), width=width)
    assert max(map(len, shown.splitlines())) <= width
    assert "\nRecommended: balanced at ε = 1.5\n" in shown
    assert "0.440(.010)" in shown
    assert "on a terminal, half the width, in brackets" in " ".join(shown.split())
    assert "±" not in shown  # one standard error, on the pages of studies
    tables = 3 if width == 60 else 2  # what is too wide continues below
    assert len(re.findall(r"^balanced\* +1\.5 ", shown, re.MULTILINE)) == tables
    for name in ("unprotected", "random words", "majority class", "WARNING: Something to know."):
        assert name in shown
    assert "2,000 of 9,000 texts, drawn at random, with 40,000 words" in " ".join(shown.split())


def test_attacks_have_bounds_and_say_what_their_intervals_are_over(evaluation: Evaluation) -> None:
    label = attack_figure(0.8, interval=(0.7, 0.9), recovers_words=False)
    cells = tuple(
        replace(each, attacks={**each.attacks, "membership": label}) for each in evaluation.cells
    )
    page = evaluation_page(replace(evaluation, cells=cells))
    shown = " ".join(render(page).split())
    assert "membership accuracy reached by the attack membership" in shown
    over = "bootstrap over 9 texts, with 2 draws of the noise each"
    assert f"bayes, context, majority, membership: 95 % by {over}." in shown
    text = render(page, "markdown")
    for name, bounds in (
        ("unprotected", ("1.000",) * 4),
        ("random words", ("0.050",) * 4),
        ("majority class", ("–", "–", "–", "0.100")),
    ):
        rows = [line for line in text.splitlines() if line.startswith(f"| {name}")]
        assert any(row.endswith(f"| {' | '.join(bounds)} |") for row in rows)


def test_it_says_how_much_was_learnt_from_and_how_to_learn_from_more(
    evaluation: Evaluation,
) -> None:
    shown = " ".join(render(evaluation_page(evaluation)).split())
    assert "1,500 texts to train the classifier on" in shown
    assert "mechanism ε 188 1,500 balanced 1 0.550(.020) 0.650(.020)" in shown
    assert "2,000 of your 9,000 texts" in shown
    assert render(evaluation_page(evaluation), "markdown").count("2,000 of your 9,000 texts") == 1
    assert "malaprop evaluate --sample all uses all" in shown
    assert "malaprop evaluate --adaptive measures them" in shown
    every = replace(evaluation, texts={**evaluation.texts, "given": 2000})
    assert "--sample all" not in render(evaluation_page(every))
    adaptive = replace(evaluation, settings={**evaluation.settings, "adaptive": True})
    assert "--adaptive" not in render(evaluation_page(adaptive))


def test_it_ends_in_one_sentence(evaluation: Evaluation) -> None:
    for to in ("terminal", "markdown"):
        shown = " ".join(render(evaluation_page(evaluation), to).split())
        assert shown.endswith(evaluation.summary)


def test_the_page_holds_everything_and_escapes(evaluation: Evaluation) -> None:
    page = render(evaluation_page(evaluation), "html")
    assert "&lt;english&gt;" in page
    assert "<english>" not in page
    assert "<script" not in page
    assert "<code>malaprop evaluate --adaptive</code>" in page
    assert re.search(r'class=chosen><td>balanced</td><td class="number"[^>]*>1.5</td>', page)
    assert "The same with the model ngrams" in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    (svg,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert "words recovered by the strongest attack" in svg


def test_markdown_has_its_picture_beside_it(evaluation: Evaluation) -> None:
    pages = page_files(evaluation_page(evaluation), Path("some/report.md"))
    assert list(pages) == [Path("some/report.md"), Path("some/report.svg")]
    text = pages[Path("some/report.md")].decode()
    assert "](report.svg)" in text
    assert "| **balanced** | 1.5 | 0.220 (0.200 to 0.240) |" in text
    ET.fromstring(pages[Path("some/report.svg")].decode())  # noqa: S314  our own


def test_without_matplotlib_there_is_no_picture(
    evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> str:
        raise MissingExtraError("matplotlib", "plots", "A plot")

    monkeypatch.setattr(plots, "frontier", missing)
    assert "pip install matplotlib" in render(evaluation_page(evaluation), "html")
    pages = page_files(evaluation_page(evaluation), Path("report.md"))
    assert list(pages) == [Path("report.md")]
    assert "![" not in pages[Path("report.md")].decode()
