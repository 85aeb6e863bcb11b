"""Readable texts: what smoothing does to releases, and what it leaves alone."""

import pickle
import re
from pathlib import Path

import pytest

import malaprop
from malaprop import LexiconError, ParameterError, Privatizer, privatize_files, seeded_rng
from malaprop.files.smooth import smooth_file
from malaprop.measure import save_model, train_model
from malaprop.text.policy import Readable

NOTE = (
    "Patient is a 54-year-old woman from Leeds, seen on 12 March 2023 for chest pain. "
    "She takes metformin 500 mg twice a day; blood pressure 142/88. Mail ann@example.org."
)
FILM = "the plot is thin and the jokes are old , but the two leads are so charming"


def readable(seed: int = 1, **options: object) -> Privatizer:
    settings = {"epsilon": 1.5, "readable": True, "rng": seeded_rng(seed)} | options
    return Privatizer(**settings)  # type: ignore[arg-type]


def test_a_release_has_both_texts_and_names_the_model() -> None:
    release = readable()(NOTE)
    plain = readable(readable=False)(NOTE)
    assert release.drawn == plain.drawn == plain.text != release.text
    assert release.to_dict()["drawn"] == plain.text
    assert "drawn" not in plain.to_dict()
    assert release.policy["readable"] == "faithful"
    assert "readable" not in plain.policy
    told = set(release.guarantee.public) - set(plain.guarantee.public)
    assert len(told) == 1
    assert re.search("bigrams .* setting: faithful", told.pop())
    assert release.guarantee.epsilon == plain.guarantee.epsilon


def test_the_settings_differ_in_what_they_make_of_the_same_draws() -> None:
    texts = [NOTE, FILM] * 20
    plain, usual, faithful, fluent = (
        readable(4, readable=setting).many(texts) for setting in (False, True, "faithful", "fluent")
    )
    assert [each.text for each in usual] == [each.text for each in faithful]
    for one, other, raw in zip(faithful, fluent, plain, strict=True):
        assert one.drawn == other.drawn == raw.text
        assert one.guarantee.epsilon == other.guarantee.epsilon == raw.guarantee.epsilon
    changed = [
        sum(
            word != was
            for each in releases
            for word, was in zip(each.text.split(), each.drawn.split(), strict=True)
        )
        for releases in (faithful, fluent)
    ]
    assert changed[0] < changed[1]
    assert fluent[0].policy["readable"] == "fluent"
    assert any("setting: fluent" in told for told in fluent[0].guarantee.public)
    again = readable(4, readable="fluent")
    copied = pickle.loads(pickle.dumps(again))  # noqa: S301
    assert copied.texts(texts) == again.texts(texts) == [each.text for each in fluent]


def test_a_reader_chooses_the_setting(tmp_path: Path) -> None:
    drawn = [release.drawn for release in readable(5).many([NOTE, FILM] * 20)]
    faithful, fluent = (readable(readable=each).smoothed(drawn) for each in ("faithful", "fluent"))
    assert faithful != fluent
    assert fluent == readable(9, readable="fluent").smoothed(drawn)


def test_what_is_no_drawn_word_stays() -> None:
    release = readable(keep=["metformin"])(NOTE)
    for shown in ("metformin", "-", "; ", "/"):
        assert release.text.count(shown) == release.drawn.count(shown)
    digits = "".join(filter(str.isdigit, release.text))
    assert digits == "".join(filter(str.isdigit, release.drawn))


def test_all_ways_give_the_same_texts() -> None:
    many = [NOTE, FILM, "", "..."] * 20
    texts = readable(3).texts(many)
    assert [each.text for each in readable(3).many(many)] == texts
    assert readable(3).batch(many)[0] == texts
    copied = pickle.loads(pickle.dumps(readable(3)))  # noqa: S301
    assert copied.texts(many) == texts


def test_a_reader_gets_the_same_later() -> None:
    privatizer = readable(5)
    releases = privatizer.many([NOTE, FILM] * 50)
    later = privatizer.smoothed(each.drawn for each in releases)
    same = [release.text == text for release, text in zip(releases, later, strict=True)]
    # “a” and “an” are fitted to the next word when a text is written.
    assert sum(same) >= 85
    # What stands first is no word, and "I'm" is one.
    for text in ("@ann have you seen it", "54 mile run", "I'm very happy with it"):
        release = privatizer(text)
        assert privatizer.smoothed([release.drawn]) == [release.text]
    assert privatizer.smooth_batch(["I'm"])[1]["left"] == 0
    texts, counts = privatizer.smooth_batch(["Hers urine shocks: xyzzyq 12 (!)"])
    assert texts == ["Her blood pressure: xyzzyq 12 (!)"]
    assert counts == {"words": 3, "changed": 3, "left": 2}


def test_equal_words_of_a_document_stay_equal() -> None:
    text = "Pain in the chest, chest pain, pain."
    for seed in range(20):
        release = readable(seed, repeat="document")(text)
        pain, _, _, chest, again, second, third = (
            release.text.lower().strip(".").replace(",", "").split()
        )
        assert (pain, chest) == (second, again)
        assert pain == third


def test_it_needs_a_model(tmp_path: Path) -> None:
    tiny = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    with pytest.raises(ParameterError, match="only english comes with one"):
        Privatizer(tiny, malaprop.TEM(epsilon=2.0), readable=True)
    with pytest.raises(LexiconError, match="holds no bigram model"):
        readable(model=tmp_path)
    for wrong in (0.5, "", "public-model", ["fluent"]):
        with pytest.raises(ParameterError, match="`readable` parameter must be"):
            readable(readable=wrong)
    for wrong in (0.5, "", True):
        with pytest.raises(ParameterError, match="`model` parameter must be"):
            readable(model=wrong)
    with pytest.raises(ParameterError, match="A `model` makes text readable"):
        readable(readable=False, model=tmp_path)
    save_model(train_model(["cold cold hot"], tiny), tmp_path / "model")
    with pytest.raises(ParameterError, match="another lexicon"):
        readable(model=tmp_path / "model")
    settings: dict[bool | Readable | None, str] = {
        None: "faithful",
        True: "faithful",
        "fluent": "fluent",
    }
    for setting, told in settings.items():
        own = Privatizer(
            tiny, malaprop.TEM(epsilon=2.0), readable=setting, model=tmp_path / "model"
        )
        assert own("Cold cool!").policy["readable"] == told
        copied = pickle.loads(pickle.dumps(own))  # noqa: S301
        assert copied.policy == own.policy
    with pytest.raises(ParameterError, match="made with `readable`"):
        Privatizer(epsilon=1.5).smoothed([NOTE])


def test_files_are_readable_at_once_or_later(tmp_path: Path) -> None:
    notes = tmp_path / "notes.csv"
    notes.write_text(f'id,text\n1,"{NOTE}"\n2,"{FILM}"\n3,\n', "utf-8")
    drawn, at_once, later = (tmp_path / f"{name}.csv" for name in ("drawn", "at-once", "later"))
    settings = {"epsilon": 1.5, "columns": ["text"], "seed": 2}
    privatize_files(notes, drawn, **settings)  # type: ignore[arg-type]
    report = privatize_files(notes, at_once, readable=True, **settings)  # type: ignore[arg-type]
    assert report.policy["readable"] == "faithful"
    counts = smooth_file(drawn, later, readable(), columns=["text"])
    assert later.read_text("utf-8") == at_once.read_text("utf-8") != drawn.read_text("utf-8")
    assert 0 < counts["changed"] < counts["words"]


def test_the_number_of_workers_does_not_matter(tmp_path: Path) -> None:
    words = malaprop.Lexicon.open("english").words
    chosen = seeded_rng(1).integers(0, 8_000, (6_000, 6))
    lines = (" ".join(words[word] for word in line) for line in chosen.tolist())
    (tmp_path / "in.txt").write_text("\n".join(lines), "utf-8")
    read = set()
    for workers in (1, 3):
        settings = {"epsilon": 1.5, "readable": True, "seed": 2, "workers": workers}
        out = tmp_path / f"{workers}.txt"
        privatize_files(tmp_path / "in.txt", out, **settings)  # type: ignore[arg-type]
        read.add(out.read_text("utf-8"))
    assert len(read) == 1


def test_texts_of_another_lexicon_leave_no_output(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("свежий снег\n", "utf-8")
    with pytest.raises(malaprop.DataError, match="no text has a word of the lexicon"):
        smooth_file(tmp_path / "in.txt", tmp_path / "out.txt", readable())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt"]


def test_names_that_were_redrawn_stay() -> None:
    privatizer = readable(7, redraw="people")
    text = "Dr. Anna Okafor saw Mrs. Smith in Leeds, and Anna told her that the pain is gone."
    for release in privatizer.many([text] * 20):
        (later,) = privatizer.smoothed([release.drawn])
        names = re.findall(r"(?:Dr|Mrs)\. \S+", release.drawn)
        assert len(names) == 2
        assert names == re.findall(r"(?:Dr|Mrs)\. \S+", release.text)
        assert names == re.findall(r"(?:Dr|Mrs)\. \S+", later)


def test_masks_stay_and_no_path_is_told(tmp_path: Path) -> None:
    privatizer = readable(unknown="mask")
    releases = privatizer.many(["Patient has qwrtzx pain and zzxxq in the chest."] * 20)
    later = privatizer.smoothed(release.drawn for release in releases)
    assert all(text.count("[masked]") == 2 for text in later)
    tiny = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    save_model(train_model(["cold cold hot"], tiny), tmp_path / "model")
    own = Privatizer(tiny, malaprop.TEM(epsilon=2.0), model=str(tmp_path / "model"))
    assert str(tmp_path) not in str(own("Cold!").to_dict())
