"""Cells are measured once, in any order, from a seed; missing data leave a command."""

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np
import pytest
from numpy.random import Generator
from tests.lab.datasets.serving import Write, described, write_catalogue

from malaprop import Lexicon, MissingExtraError, ParameterError, seeded_rng
from malaprop.lab.datasets import add
from malaprop.lab.studies import judged_again, reproduction
from malaprop.lab.studies.figures import there_or_missing
from malaprop.lab.studies.reproduction import Cells, MissingDataError, Run, run_study
from malaprop.lab.studies.study import Claim, Item, Line, Measurement, Setting, Study, read, written

measured: list[Setting] = []


def noisy(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    measured.append(setting)
    value = setting["epsilon"] + 0.001 * float(rng.normal())
    yield Measurement("score", value, error=0.001, freedom=4)
    yield Measurement("hidden", 1.0)
    yield Measurement("worthless", float("nan"))


def absent(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    raise MissingDataError("A data set", "malaprop data get it")
    yield Measurement("score", 1.0)


GROWS = Claim(
    text="it grows",
    measure="score",
    about={"epsilon": "> 1"},
    holds="above",
    than={"epsilon": 1},
)
ITEM = Item(
    name="fig2",
    grid=[{"mechanism": "a", "epsilon": [1, 2, 3]}],
    cell=noisy,
    key="noisy",
    measures=("score", "worthless"),
    claims=(GROWS,),
)
STUDY = Study(name="nadp", items=(ITEM, replace(ITEM, name="fig9", cell=absent, key="absent")))


@pytest.fixture(autouse=True)
def forget() -> None:
    measured.clear()


def scores(lines: list[Line]) -> list[object]:
    return [line.ours for line in lines if line.measure == "score"]


def test_a_line_has_the_keys_of_the_contract(run: Run, cells: Cells) -> None:
    (line, *_) = run_study(STUDY, run, cells=cells)
    keys = ["study", "item", "setting", "measure", "ours", "error", "freedom", "paper", "claims"]
    assert set(keys) <= asdict(line).keys()
    assert line.versions["malaprop"]
    assert line.seed == 3


def test_what_was_measured_is_kept_and_not_measured_again(run: Run, cells: Cells) -> None:
    first = run_study(STUDY, run, cells=cells)
    assert len(measured) == 3
    again = run_study(STUDY, run, cells=cells)
    assert len(measured) == 3
    assert again == first
    fresh = run_study(STUDY, run, cells=cells, fresh=True)
    assert len(measured) == 6
    assert fresh == first


def test_a_stopped_run_resumes_and_draws_what_it_would_have_drawn(run: Run, cells: Cells) -> None:
    whole = run_study(STUDY, run, cells=cells)
    stopped = Cells(cells.folder.with_name("stopped"))

    def stop(done: int, total: int, note: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(STUDY, run, cells=stopped, progress=stop)
    measured.clear()
    assert run_study(STUDY, run, cells=stopped) == whole
    assert [setting["epsilon"] for setting in measured] == [3]


def test_another_seed_and_another_revision_are_measured(run: Run, cells: Cells) -> None:
    first = run_study(STUDY, run, cells=cells)
    other = run_study(STUDY, replace(run, seed=4), cells=cells)
    assert scores(other) != scores(first)
    revised = Study(name="nadp", items=(replace(ITEM, revision=2),))
    run_study(revised, run, cells=cells)
    assert len(measured) == 9


def test_another_way_of_reading_texts_is_measured_again(
    run: Run, cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_study(STUDY, run, cells=cells)
    monkeypatch.setattr(reproduction, "_READING", "another map")
    assert run_study(STUDY, run, cells=cells) == first  # with the same draws
    assert len(measured) == 6


def test_a_damaged_cell_is_measured_again(run: Run, cells: Cells) -> None:
    first = run_study(STUDY, run, cells=cells)
    for path in cells.folder.rglob("*.json"):
        path.write_text("{")
    assert run_study(STUDY, run, cells=cells) == first


def test_missing_data_leave_null_and_the_command_and_are_not_kept(run: Run, cells: Cells) -> None:
    lines = run_study(STUDY, run, items=["fig9"], cells=cells)
    assert {line.ours for line in lines} == {None}
    assert {line.command for line in lines} == {"malaprop data get it"}
    assert {each.holds for line in lines for each in line.claims} == {None}
    assert not list(cells.folder.rglob("*.json"))


def partial(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    measured.append(setting)
    yield Measurement("score", 1.0)

    def graded() -> Iterator[Measurement]:
        yield Measurement("grade", float(len(run.data("mr"))))

    yield from there_or_missing(["grade"], graded())


def test_a_cell_has_the_figures_that_it_can_have_and_the_others_when_data_come(
    run: Run, cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALAPROP_HOME", str(cells.folder / "nothing here"))
    item = replace(ITEM, cell=partial, measures=("score", "grade"), claims=())
    study = Study(name="nadp", items=(item,))
    first = run_study(study, run, cells=cells)
    figures = {(line.measure, line.ours, line.command) for line in first}
    assert figures == {("score", 1.0, None), ("grade", None, "malaprop data fetch mr")}
    assert run_study(study, run, cells=cells) == first
    assert len(measured) == 3  # a run without the data resumes as well
    there = run_study(study, replace(run, sets={"mr": [1, 2]}), cells=cells)
    assert {(line.measure, line.ours, line.command) for line in there} == {
        ("score", 1.0, None),
        ("grade", 2.0, None),
    }
    assert len(measured) == 6


def test_missing_data_without_a_name_leave_the_whole_cell_out(run: Run) -> None:
    with pytest.raises(MissingDataError):
        list(there_or_missing(["score"], absent(run, {}, seeded_rng(0))))


def test_an_item_says_what_its_errors_are_over(run: Run, cells: Cells) -> None:
    def cell(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
        yield Measurement("score", 1.0, error=0.1)
        yield Measurement("score", 1.0, {"spread": "splits"}, error=0.2)

    spread = [{"measure": "score", "over": "scores"}, {"over": "others"}]
    item = replace(ITEM, cell=cell, claims=(), spread=spread)
    lines = run_study(Study(name="nadp", items=(item,)), run, cells=cells)
    assert {(line.error, line.setting["spread"]) for line in lines} == {
        (0.1, "scores"),
        (0.2, "splits"),
    }


def test_a_missing_package_leaves_null_and_the_command(run: Run, cells: Cells) -> None:
    def needy(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
        raise MissingExtraError("scikit-learn", "evaluate", "Training")
        yield Measurement("score", 1.0)

    study = Study(name="nadp", items=(replace(ITEM, cell=needy),))
    lines = run_study(study, run, cells=cells)
    assert {line.command for line in lines} == {"pip install scikit-learn matplotlib"}


def test_claims_are_judged_where_they_are_about(run: Run, cells: Cells) -> None:
    full = replace(run, quick=False)
    lines = run_study(STUDY, full, items=["fig2"], cells=cells)
    verdicts = {line.setting["epsilon"]: line.claims[0].holds for line in lines if line.claims}
    assert verdicts == {2: True, 3: True}


def test_older_lines_are_read_as_one_for_each_figure_and_judged_again(
    run: Run, cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("malaprop.lab.studies.study_named", lambda name: STUDY)
    lines = run_study(STUDY, run, items=["fig2"], cells=cells)
    older = [{**asdict(line), "claim": "it grows", "holds": True} for line in lines]
    rows = [json.dumps({k: v for k, v in row.items() if k != "claims"}) for row in older]
    again = judged_again(read("\n".join([*rows, *rows])))
    assert again == lines


def test_cells_of_an_older_version_are_measured_again(run: Run, cells: Cells) -> None:
    first = run_study(STUDY, run, cells=cells)
    for path in cells.folder.rglob("*.json"):
        value = json.loads(path.read_text())
        value["figures"] = [
            {k: v for k, v in figure.items() if k != "freedom"} for figure in value["figures"]
        ]
        path.write_text(json.dumps(value))
    assert run_study(STUDY, run, cells=cells) == first
    assert len(measured) == 6


def test_a_figure_that_is_no_number_has_no_line_and_others_are_hidden(
    run: Run, cells: Cells
) -> None:
    lines = run_study(STUDY, run, items=["fig2"], cells=cells)
    assert {line.measure for line in lines} == {"score"}


def test_lines_survive_writing_and_reading(run: Run, cells: Cells) -> None:
    lines = run_study(STUDY, run, cells=cells)
    assert list(read(written(lines))) == lines


def test_an_unknown_item_is_refused(run: Run, cells: Cells) -> None:
    with pytest.raises(ParameterError, match="has no item 'fig7'"):
        run_study(STUDY, run, items=["fig7"], cells=cells)


def test_a_run_holds_one_of_each_kind_of_large_thing(run: Run) -> None:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    assert [run.latest("channel", key, make) for key in "aabba"] == [0, 0, 1, 1, 2]
    assert [run.once(key, make) for key in "xyx"] == [3, 4, 3]


__all__ = ["write_catalogue"]

pytestmark = pytest.mark.usefixtures("home")


def test_vectors_that_are_not_kept_name_the_command_that_fetches_them(run: Run) -> None:
    with pytest.raises(MissingDataError) as raised:
        run.lexicon("glove-6b-50d")
    assert raised.value.command == "malaprop data fetch glove-6b-50d"


def test_vectors_of_the_catalogue_are_those_of_the_lexicons_words(
    run: Run, tiny: Lexicon, write_catalogue: Write, tmp_path_factory: pytest.TempPathFactory
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    matrix, listed = io.BytesIO(), io.BytesIO()
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(matrix, vectors)
    pq.write_table(pa.table({"index": [tiny.words[1], "elsewhere", tiny.words[0]]}), listed)
    files = {"v.npy": matrix.getvalue(), "w.parquet": listed.getvalue()}
    described_files = [described(name, content) for name, content in files.items()]
    page = "https://owner.example"
    write_catalogue("some-vectors", described_files, "glove-6b-50d", page=page)
    folder = tmp_path_factory.mktemp("files")
    for name, content in files.items():
        (folder / name).write_bytes(content)
        add([folder / name])
    lexicon = run.lexicon("some-vectors")
    assert lexicon.words == tiny.words[:2]
    np.testing.assert_array_equal(lexicon.vectors, vectors[[2, 0]])
    fingerprint = run.fingerprint({"lexicon": "some-vectors"})
    assert all(file["sha256"] in fingerprint for file in described_files)
    assert tiny.fingerprint in fingerprint


def test_only_the_figures_that_lack_data_are_null(run: Run, cells: Cells) -> None:
    def cell(run: Run, setting: object, rng: object) -> list[Measurement]:
        raise MissingDataError("An encoder", "a run of it", ("accuracy",))

    item = Item(name="t", grid=[{}], cell=cell, key="cell", measures=("accuracy", "kept"))
    (line,) = run_study(Study(name="nadp", items=(item,)), run, cells=cells)
    assert (line.measure, line.ours, line.command) == ("accuracy", None, "a run of it")
