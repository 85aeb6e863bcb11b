"""Sizes of a run, and what of the user's own it takes."""

from pathlib import Path

import pytest

from malaprop import DataError, Lexicon, ParameterError
from malaprop.cli.main import run
from malaprop.lab import studies
from malaprop.lab.studies.reproduction import Cells, run_study
from malaprop.lab.studies.scale import estimate_of, run_of
from malaprop.lab.studies.study import paper_of

ROWS = "".join(f"good film number {i},pos\nbad film number {i},neg\n" for i in range(20))


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.csv"
    path.write_text(f"text,label\n{ROWS}")
    return path


def test_sizes_measure_more(reviews: Path) -> None:
    picked = [run_of(size).pick(quick=1, full=2, paper=3) for size in ("quick", "default", "paper")]
    assert picked == [1, 2, 3]
    assert run_of("paper").pick(quick=1, full=2) == 2
    assert run_of("paper").versions["size"] == "paper"
    assert "size" not in run_of("default").versions
    with pytest.raises(ParameterError, match="quick, default, paper"):
        run_of("huge")  # type: ignore[arg-type]


def test_own_data_take_the_place_of_a_set_and_are_named(reviews: Path) -> None:
    own = run_of(data={"imdb": reviews}, study="tem")
    assert own.data("imdb").labels[:2] == ("pos", "neg")
    assert own.versions["data imdb"].startswith("40 rows, SHA-256 ")


def test_a_lexicon_takes_the_place_of_english_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.vec"
    path.write_text("".join(f"w{i} {i % 7} {i % 5}\n" for i in range(30)))
    own = run_of("quick", lexicon=str(path))
    assert len(own.lexicon()) == 30
    told = [value for name, value in own.versions.items() if name.startswith("lexicon ")]
    assert told == [f"30 words in 2 dimensions, fingerprint {own.lexicon().fingerprint[:16]}"]
    item = studies.study_named("nadp").chosen(["clear"])[0]
    study = studies.study_named("nadp")
    lines = run_study(study, own, items=[item.name], cells=Cells(tmp_path / "cells"))
    assert all(line.versions == own.versions for line in lines)
    assert any(line.ours is not None for line in lines)
    assert isinstance(own.lexicon(), Lexicon)


def test_what_does_not_fit_is_refused_before_any_work(tmp_path: Path, reviews: Path) -> None:
    with pytest.raises(ParameterError, match=r"takes no data set 'mr'. It takes: imdb"):
        run_of(data={"mr": reviews}, study="tem")
    with pytest.raises(ParameterError, match="There is no file"):
        run_of(data={"imdb": tmp_path / "absent.csv"}, study="tem")
    one = tmp_path / "one.csv"
    one.write_text("text,label\na,pos\nb,pos\n")
    with pytest.raises(DataError, match="two labels or more"):
        run_of(data={"imdb": one}, study="tem")
    other = tmp_path / "other.csv"
    other.write_text("words,class\na,pos\n")
    with pytest.raises((DataError, ParameterError), match="text"):
        run_of(data={"imdb": other}, study="tem")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("tem", "--data", "imdb"), "--data takes SET=FILE"),
        (("all", "--data", "imdb=x.csv"), "goes with one study"),
        (("tem", "--quick", "--size", "paper"), "--quick is --size quick"),
        (("tem", "--lexicon", "absent-lexicon"), "absent-lexicon"),
    ],
)
def test_the_command_refuses(
    options: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", *options]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("study", studies.names())
def test_a_run_says_first_how_long_it_takes(study: str) -> None:
    assert "extrapolated" in estimate_of(study, "paper")
    assert f"{paper_of(study).cost['default']:g} core-minutes" in estimate_of(study, "default")
