"""Pages are made from lines alone."""

import csv
from io import StringIO
from pathlib import Path

import pytest

from malaprop.cli.main import run
from malaprop.lab import studies
from malaprop.lab.studies.study import Line, Verdict, read_results, tidy, written
from malaprop.lab.studies.study_page import LONG, _bar, cell, plots, study_page
from malaprop.privacy.errors import DataError
from malaprop.report import page as pages
from malaprop.report import plots as report_plots
from malaprop.report.page import Bullets, Plot, Table
from malaprop.report.plots import drawn


def page_files(lines: list[Line], path: Path) -> dict[Path, str]:
    files = pages.page_files(study_page(lines, form="full"), path)
    return {name: content.decode() for name, content in files.items()}


def readable(lines: list[Line]) -> str:
    """Return what a terminal shows, in one line."""
    return " ".join(pages.render(study_page(lines, form="brief")).split())


def summaries(lines: list[Line]) -> list[list[tuple[object, ...]]]:
    """Return the rows of the tables of claims: the paper's, and ours."""
    pieces = study_page(lines, form="full").sections[0].pieces
    tables = (piece for piece in pieces if isinstance(piece, Table))
    return [[row[1:] for row in table.rows] for table in tables]


def told(claim: str, holds: bool | None, **values: object) -> Line:
    return line(claims=(Verdict(claim=claim, holds=holds),), **values)


def line(**values: object) -> Line:
    usual: dict[str, object] = {
        "study": "nadp",
        "item": "clear",
        "setting": {"published": True, "tau": 0.1},
        "measure": "share_in_clear",
        "ours": 0.25,
        "error": 0.01,
        "paper": 0.105,
        "versions": {"malaprop": "0"},
    }
    return Line(**{**usual, **values})  # type: ignore[arg-type]


LINES = [
    told("few <words> are in clear", False),
    line(setting={"published": True, "tau": 0.5}, ours=0.5, paper=None),
    line(setting={"published": False, "tau": 0.1}, ours=None, command="malaprop data get it"),
]


def test_a_cell_shows_ours_with_its_error_and_the_papers() -> None:
    assert cell(LINES[0]) == "0.250 ± 0.010 (0.105)"
    assert cell(LINES[1]) == "0.500 ± 0.010"
    assert cell(LINES[2]) == "no data (0.105)"


def test_markdown_has_verdicts_figures_and_plots_beside_it(tmp_path: Path) -> None:
    files = page_files(LINES, tmp_path / "p.md")
    page = files[tmp_path / "p.md"]
    assert r"| few \<words\> are in clear | 0 | 1 | 0 | 0 |" in page
    assert "| yes | share\\_in\\_clear | 0.250 ± 0.010 (0.105) | 0.500 ± 0.010 |" in page
    assert "malaprop data get it" in page
    pictures = [path.name for path in files if path.suffix == ".svg"]
    assert pictures
    assert all(f"({name})" in page for name in pictures)


def test_a_figure_has_the_digits_of_its_error() -> None:
    assert cell(line(ours=0.0004935, error=0.0053, paper=None)) == "0.0005 ± 0.0053"
    assert cell(line(ours=165.925, error=17.17, paper=None)) == "166 ± 17"
    assert cell(line(ours=0.1892, error=2e-17, paper=None)) == "0.1892 ± 0"


def test_a_summary_leads_to_each_item(tmp_path: Path) -> None:
    lines = [*LINES, told("it is so", True), line(item="fig2")]
    page = page_files(lines, tmp_path / "p.md")[tmp_path / "p.md"]
    assert "| [Clear](#clear) | it is so | 1 | 0 | 0 | 0 |" in page
    assert "| [Figure 2](#fig2) | no claim: figures alone |" in page
    assert '<a id="fig2"></a>' in page
    html = page_files(lines, tmp_path / "p.html")[tmp_path / "p.html"]
    assert '<a href="#fig2">Figure 2</a>' in html
    assert '<h2 id="fig2">' in html


def test_pages_of_several_studies_have_anchors_of_their_own(tmp_path: Path) -> None:
    html = page_files([line(), line(study="tem", item="fig1a")], tmp_path / "p.html")
    for anchor in ("nadp-clear", "tem-fig1a"):
        assert f'<a href="#{anchor}">' in html[tmp_path / "p.html"]
        assert f'id="{anchor}"' in html[tmp_path / "p.html"]


def test_what_was_not_measured_is_not_called_undecided() -> None:
    (summary,) = summaries([told("it is so", None), told("it is so", None, ours=None)])
    assert summary[0] == ("it is so", "0", "0", "1", "1")


def test_our_readings_and_controls_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    verdicts = (
        Verdict(claim="it is so", holds=False),
        Verdict(claim="it is so: within 0.5", whose="reading", holds=True),
        Verdict(claim="an adaptive attacker: it is so", whose="control", holds=None),
    )
    lines = [line(claims=verdicts), line(item="fig2", claims=verdicts[1:])]
    paper, ours = summaries(lines)
    assert paper == [
        ("it is so", "0", "1", "0", "0"),
        ("no claim: only our readings and controls", "", "", "", ""),
    ]
    assert ours[:2] == [
        ("our reading: it is so: within 0.5", "1", "0", "0", "0"),
        ("our control: an adaptive attacker: it is so", "0", "0", "1", "0"),
    ]
    markdown = page_files(lines, tmp_path / "p.md")[tmp_path / "p.md"]
    assert "our control: an adaptive attacker: it is so | 0 | 0 | 1 | 0 |" in markdown
    assert "our control: an adaptive attacker" in readable(lines)


def test_a_quick_run_shows_no_verdicts_and_says_why(tmp_path: Path) -> None:
    lines = [told("it is so", None, quick=True)]
    assert summaries(lines)[0][0][0] == "no verdict: a quick run"
    markdown = page_files(lines, tmp_path / "p.md")[tmp_path / "p.md"]
    for shown in (markdown, readable(lines)):
        assert "another, smaller experiment" in shown
        assert "it is so" not in shown


def test_vectors_that_a_user_imported_are_named(tmp_path: Path) -> None:
    lines = [
        line(setting={"lexicon": "fasttext"}, vectors="9 words in 3 dimensions, fingerprint a")
    ]
    page = page_files(lines, tmp_path / "p.md")[tmp_path / "p.md"]
    assert "Imported as fasttext: 9 words in 3 dimensions, fingerprint a." in page


def test_a_long_table_is_folded_behind_the_papers_figures(tmp_path: Path) -> None:
    lines = [line(setting={"place": n}, paper=0.5 if n == 3 else None) for n in range(LONG + 1)]
    page = page_files(lines, tmp_path / "p.md")[tmp_path / "p.md"]
    before, folded = page.split("<details>")
    assert before.count("(0.5)") == folded.count("(0.5)") == 1
    assert f"All {LONG + 1} rows" in folded
    assert "<details>" in page_files(lines, tmp_path / "p.html")[tmp_path / "p.html"]
    assert "<details>" not in page_files(LINES, tmp_path / "p.md")[tmp_path / "p.md"]


def test_a_section_says_what_is_the_same_throughout(tmp_path: Path) -> None:
    settings = [{"lexicon": "english", "spread": "words", "lambda": n} for n in (0, 1)]
    page = page_files([line(setting=one) for one in settings], tmp_path / "p.md")
    assert "Throughout: lexicon english; errors over words." in page[tmp_path / "p.md"]


def test_data_that_no_command_gets_are_asked_for() -> None:
    asked = "ask for it at its authors'"
    shown = readable([line(ours=None, command=asked)])
    assert f"Data are missing: {asked}" in shown


def test_html_holds_everything_and_no_markup_of_others(tmp_path: Path) -> None:
    ((_, page),) = page_files(LINES, tmp_path / "p.html").items()
    assert "few &lt;words&gt; are in clear" in page
    assert "<svg" in page
    assert "<script" not in page


def test_the_same_lines_make_the_same_page(tmp_path: Path) -> None:
    assert page_files(LINES, tmp_path / "p.md") == page_files(LINES, tmp_path / "p.md")


def test_the_terminal_says_what_became_of_claims() -> None:
    shown = readable(LINES)
    assert "few <words> are in clear" in shown
    assert "not confirmed on 1" in shown
    assert "run malaprop data get it" in shown


def test_a_page_without_matplotlib_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text(written(LINES))
    monkeypatch.setattr(report_plots, "find_spec", lambda name: None)
    page = str(tmp_path / "p.html")
    assert run(["reproduce", "nadp", "--from", str(source), "--report", page]) != 0
    assert "pip install matplotlib" in capsys.readouterr().err


def test_a_page_says_what_is_of_a_quick_run() -> None:
    quick = study_page([line(quick=True)], form="full").sections[0].pieces[0]
    assert "--quick" in str(quick)
    mixed = study_page([line(), line(item="fig2", quick=True)], form="full").sections[0].pieces[0]
    assert "--quick" not in str(mixed)
    assert "Of the quick run: Figure 2." in str(mixed)


def test_a_logarithmic_axis_names_the_values_that_were_measured() -> None:
    pytest.importorskip("matplotlib")
    spec = {"x": "epsilon", "y": "kept", "series": ["mechanism"], "scale": "log"}
    lines = [
        line(measure="kept", paper=None, setting={"mechanism": "tem", "epsilon": value})
        for value in (0.125, 0.5, 8)
    ]
    ((_, paint),) = plots(spec, lines)
    svg = drawn(paint)
    assert all(f">{value}<" in svg for value in ("0.125", "0.5", "8"))
    assert ">0.12<" not in svg


def test_a_row_for_each_figure_with_a_column_for_each_setting() -> None:
    lines = [*LINES, line(claims=(Verdict(claim="a", holds=True), Verdict(claim="b", holds=False)))]
    rows = list(csv.DictReader(StringIO(tidy(lines))))
    assert [row["tau"] for row in rows] == ["0.1", "0.5", "0.1", "0.1"]
    assert [row["ours"] for row in rows] == ["0.25", "0.5", "", "0.25"]
    assert rows[0].keys() >= {"study", "item", "measure", "paper", "holds"}
    assert [row["holds"] for row in rows] == ["False", "", "", "False"]


def test_pandas_pivots_figures_beside_texts() -> None:
    pandas = pytest.importorskip("pandas")
    lines = [
        *(line(setting={"tau": tau, "epsilon": e}, ours=tau * e) for tau in (1, 2) for e in (3, 4)),
        line(measure="neighbours", ours="dogs, cats", paper="hounds", setting={"tau": 1}),
    ]
    table = pandas.read_csv(StringIO(tidy(lines)))
    found = table[table.measure != "neighbours"].pivot(
        index="tau", columns="epsilon", values="ours"
    )
    assert found.to_numpy().tolist() == [[3, 4], [6, 8]]
    (texts,) = table[table.measure == "neighbours"][["ours_text", "paper_text"]].to_numpy().tolist()
    assert texts == ["dogs, cats", "hounds"]


def test_a_lexicon_of_ones_own_is_named_first_and_in_each_row() -> None:
    own = {"malaprop": "0", "lexicon mine": "9 words in 3 dimensions"}
    page = pages.render(study_page([line(versions=own)]), "markdown")
    assert "lexicon mine: 9 words in 3 dimensions" in page.split("## What")[0]
    (row,) = csv.DictReader(StringIO(tidy([line(versions=own)])))
    assert row["given"] == "lexicon mine: 9 words in 3 dimensions"
    assert "of the user's own" not in pages.render(study_page([line()]), "markdown")
    assert "given" not in tidy([line()])


def test_tables_are_written_for_latex() -> None:
    shown = pages.render(study_page([line(setting={"task": "50 % & more_"})]), "latex")
    assert r"0.250 $\pm$ 0.010 (0.105) \\" in shown
    assert shown.count(r"\toprule") == shown.count(r"\end{tabular}") == 2
    full = pages.render(
        study_page([line(setting={"task": name}) for name in ("50 % & more_", "b")]), "latex"
    )
    assert r"50 \% \& more\_" in full


def test_results_are_read_again_as_they_were_packed(tmp_path: Path) -> None:
    packed, table, tex = (tmp_path / name for name in ("r.jsonl.gz", "r.csv", "r.tex"))
    plain = tmp_path / "r.jsonl"
    plain.write_text(written([line(study="tem", item="theorem3", claims=())]))
    args = ["--json", str(packed), "--csv", str(table), "--latex", str(tex)]
    assert run(["reproduce", "tem", "--from", str(plain), *args]) == 0
    assert read_results(packed) == studies.judged_again(read_results(plain))
    assert table.read_text().startswith("study,item,measure,ours")
    assert r"\begin{tabular}" in tex.read_text()
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        read_results(packed)


def test_a_short_page_has_what_the_paper_printed_in_its_own_words() -> None:
    pytest.importorskip("matplotlib")
    lines = [
        line(
            study="tem",
            item="fig1a",
            measure="accuracy",
            setting={"mechanism": name, "epsilon": at, "noise": "each place", **more},
            paper=None,
        )
        for name, more in (
            ("tem", {"exponent": "half"}),
            ("laplace", {}),
            ("tem", {"exponent": "audited"}),
        )
        for at in (1, 2)
    ]
    (item,) = (part for part in study_page(lines).sections if part.anchor == "fig1a")
    (table,) = (piece for piece in item.pieces if isinstance(piece, Table))
    assert [row[0] for row in table.rows] == ["TEM", "Madlib"]
    (plot,) = (piece for piece in item.pieces if isinstance(piece, Plot))
    assert ">Madlib<" in plot.draw()


def test_plots_are_written_as_svg_and_pdf_with_their_style(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    settings = [{"mechanism": "tem", "exponent": "half", "noise": "each place", "epsilon": 1}]
    settings += [{**settings[0], "epsilon": 2}]
    lines = [line(study="tem", item="fig1a", measure="accuracy", setting=one) for one in settings]
    source, folder = tmp_path / "r.jsonl", tmp_path / "plots"
    source.write_text(written(lines))
    args = ["reproduce", "tem", "--from", str(source), "--plots", str(folder)]
    assert run(args) == 0
    assert {path.name for path in folder.iterdir()} == {
        *("fig1a-1.svg", "fig1a-1.pdf", "malaprop.mplstyle")
    }
    assert (folder / "fig1a-1.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (folder / "fig1a-1.svg").read_text("utf-8")
    style = matplotlib.rc_params_from_file(folder / "malaprop.mplstyle", False, False)
    assert style["grid.color"] == "#dddddd"
    assert style["figure.figsize"] == [5.2, 3.2]
    assert run(args) == 2  # nothing in a folder is replaced


def test_bars_are_what_the_papers_are() -> None:
    three = line(ours=1.0, error=0.1, freedom=4.0)
    assert _bar(three, "error") == pytest.approx(0.1)
    assert _bar(three, "interval") == pytest.approx(0.2776, abs=1e-3)  # Student's law
    texts = {name: str(study_page([line(study=name)])) for name in ("nadp", "tem", "privemb")}
    assert "Bars in plots are one standard error, as in the paper." in texts["nadp"]
    assert "Bars in plots are 95 % intervals, as in the paper." in texts["tem"]
    assert "Bars in plots are 95 % intervals." in texts["privemb"]


def test_a_mean_stands_with_the_deviation_that_the_paper_prints() -> None:
    setting = {"lambda": 0.5, "epsilon": 5, "mechanism": "mahalanobis"}
    common = {"study": "mahalanobis", "item": "table3", "setting": setting, "error": 0.5}
    lines = [
        line(**common, measure="kept", ours=2.0, paper=10.2),
        line(**{**common, "error": None}, measure="kept_sd", ours=1.5, paper=5.57),
        line(**{**common, "setting": {**setting, "lambda": 1.0}}, measure="kept", ours=1.0),
        line(**{**common, "setting": {**setting, "lambda": 1.0}}, measure="kept_sd", ours=0.5),
    ]
    (item,) = (part for part in study_page(lines).sections if part.anchor == "table3")
    (table,) = (piece for piece in item.pieces if isinstance(piece, Table))
    assert table.head == ("λ", "ε = 5")
    assert table.rows[0] == ("0.5", "2.0 ± 1.5 (10.2 ± 5.6)")


def test_what_was_not_measured_is_one_line_for_all_items() -> None:
    lines = [
        line(study="mahalanobis", item=item, ours=None, command="malaprop get  (by hand)")
        for item in ("table1", "table2")
    ]
    lines.append(line(study="mahalanobis", item="table3", measure="kept"))
    page = study_page(lines)
    (missing,) = (part for part in page.sections if part.title == "Not measured")
    (bullets,) = missing.pieces
    assert bullets == Bullets(("Table 1, Table 2: run `malaprop get` (by hand).",))
    assert "table1" not in {part.anchor for part in page.sections if part.pieces}
