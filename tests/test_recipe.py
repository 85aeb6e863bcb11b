"""Lexicons and mechanisms by name, and privatizers that travel as their recipe."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from malaprop import NADP, TEM, Balanced, Laplace, Lexicon, Mechanism, Privatizer, seeded_rng
from malaprop.lexicon.tables import Tables
from malaprop.privacy.channel import Channel
from malaprop.privacy.errors import LexiconError, ParameterError
from malaprop.privacy.mechanism import _registry
from malaprop.privacy.metrics import MetricSpace
from malaprop.recipe import chosen_mechanism

TINY = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])


def revived(privatizer: Privatizer) -> Privatizer:
    made = pickle.loads(pickle.dumps(privatizer))  # noqa: S301
    assert isinstance(made, Privatizer)
    return made


def test_lexicon_and_mechanism_by_name(english: Lexicon) -> None:
    privatizer = Privatizer("english", "tem", epsilon=1.5)
    assert privatizer.mechanism == TEM(epsilon=1.5)
    assert privatizer.lexicon.fingerprint == english.fingerprint
    assert isinstance(Privatizer("english", epsilon=1.5).mechanism, Balanced)
    assert isinstance(Privatizer(TINY, "Laplace", epsilon=1.5).mechanism, Laplace)


def test_a_lexicon_by_path(tmp_path: Path) -> None:
    vectors = tmp_path / "tiny.vec"
    vectors.write_text("cold 0\ncool 1\nhot 9\n")
    for path in (vectors, str(vectors)):
        assert Privatizer(path, "tem", epsilon=1.0).lexicon.words == TINY.words


@dataclass(frozen=True, kw_only=True)
class Demanding(Mechanism):
    """A mechanism with a parameter that has no default."""

    scale: float

    def on(self, lexicon: MetricSpace) -> Channel:
        return TEM(epsilon=self.epsilon).on(lexicon)


@pytest.fixture
def demanding() -> Iterator[str]:
    _registry["demanding"] = Demanding
    yield "demanding"
    del _registry["demanding"]


def test_a_name_that_is_not_enough_says_what_is(demanding: str) -> None:
    with pytest.raises(ParameterError, match=r"name is not enough: pass malaprop.Demanding\(eps"):
        chosen_mechanism(demanding, 1.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mechanism": "tem"}, "tem needs an ε"),
        ({"mechanism": "temm", "epsilon": 1.0}, "Unknown mechanism"),
        ({"mechanism": TEM(epsilon=1.0), "epsilon": 1.0}, "has its own ε"),
        ({"mechanism": TEM, "epsilon": 1.0}, "or the name of one. Got"),
        ({"lexicon": 7, "epsilon": 1.0}, "or the name or path of one. Got int"),
        ({"lexicon": "englisch", "epsilon": 1.0}, "no lexicon and no file named englisch"),
        ({}, "needs either a mechanism"),
    ],
)
def test_wrong_choices_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Privatizer(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "privatizer",
    [
        pytest.param(lambda: Privatizer(epsilon=1.5), id="balanced"),
        pytest.param(lambda: Privatizer("english", "tem", epsilon=1.5), id="tem"),
        pytest.param(
            lambda: Privatizer(Lexicon.open("english"), Laplace(epsilon=9.0)), id="opened"
        ),
        pytest.param(
            lambda: Privatizer(Lexicon.open("english").with_graph(), Balanced(epsilon=1.5)),
            id="with-graph",
        ),
        pytest.param(
            lambda: Privatizer("english", Balanced(epsilon=1.5), unknown="mask", repeat="document"),
            id="policy",
        ),
    ],
)
def test_a_named_lexicon_is_opened_again(privatizer: object) -> None:
    before: Privatizer = privatizer()  # type: ignore[operator]
    before.texts(["zyxsecret and warfarin " * 100])
    pickled = pickle.dumps(before)
    assert len(pickled) < 4_000
    assert b"zyxsecret" not in pickled
    assert b"warfarin" not in pickled
    after = revived(before)
    assert after.guarantee == before.guarantee
    assert after.policy == before.policy
    assert after.mechanism == before.mechanism
    assert after.channel.drawn_by == before.channel.drawn_by
    assert after.randomness == "secure"


def test_a_lexicon_in_memory_travels_with_its_data() -> None:
    for lexicon in (TINY, TINY.with_graph(), TINY.with_metric("manhattan")):
        mechanism = Balanced(epsilon=1.0) if str(lexicon.metric) == "graph" else TEM(epsilon=1.0)
        before = Privatizer(lexicon, mechanism)
        after = revived(before)
        assert after.lexicon.fingerprint == before.lexicon.fingerprint
        assert after.guarantee == before.guarantee


def test_a_lexicon_with_other_tables_is_not_the_one_of_its_name(english: Lexicon) -> None:
    """By name, it would be opened with the package's tables, and draw by another law."""
    bare = Privatizer(english.with_tables(Tables()), TEM(epsilon=3.0))
    usual = Privatizer(english, TEM(epsilon=3.0))
    assert bare.channel.drawn_by != usual.channel.drawn_by
    assert len(pickle.dumps(usual)) < 4_000
    assert len(pickle.dumps(bare)) > 1_000_000
    assert revived(bare).channel.drawn_by == bare.channel.drawn_by


def test_another_lexicon_of_the_same_name_is_refused(tmp_path: Path) -> None:
    vectors = tmp_path / "tiny.vec"
    vectors.write_text("cold 0\ncool 1\nhot 9\n")
    pickled = pickle.dumps(Privatizer(vectors, "tem", epsilon=1.0))
    assert len(pickled) < 4_000
    assert isinstance(pickle.loads(pickled), Privatizer)  # noqa: S301
    vectors.write_text("cold 0\ncool 1\nhot 8\n")
    with pytest.raises(LexiconError, match="is not the one that the privatizer was pickled with"):
        pickle.loads(pickled)  # noqa: S301


def test_a_relative_path_is_pickled_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny.vec").write_text("cold 0\ncool 1\nhot 9\n")
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(Privatizer("tiny.vec", "tem", epsilon=1.0))
    monkeypatch.chdir("/")
    assert len(pickle.loads(pickled).lexicon) == 3  # noqa: S301


_PROCESS = """
import hashlib, pickle, sys
from malaprop import *
lexicon = {lexicon}
keep = {keep}
for options in ({{}}, {{"unknown": keep[0], "punctuation": keep[1]}}, {{"repeat": "document"}}):
    privatizer = Privatizer(lexicon, {mechanism}, **options)
    {work}
    print(hashlib.sha256(pickle.dumps(privatizer)).hexdigest())
"""
_LEXICON = "Lexicon(['cold', 'cool', 'hot'], [[0.0], [1.0], [9.0]])"
_WORK = "privatizer.texts(['cold hot zyxsecret ' * 200]); privatizer.keeping; privatizer('cold')"


@pytest.mark.parametrize(
    ("lexicon", "mechanism"),
    [
        ("'english'", "Balanced(epsilon=1.5)"),
        (_LEXICON, "TEM(epsilon=2.0)"),
        (f"{_LEXICON}.with_graph()", "Balanced(epsilon=1.0)"),
    ],
)
def test_pickles_are_the_same_in_all_processes(lexicon: str, mechanism: str) -> None:
    """So that whoever names results by them, as Hugging Face's map does, finds them again.

    Whatever was drawn before, and whether equal strings are one object or two.
    """

    def digests(work: str, keep: str, seed: str) -> list[str]:
        code = _PROCESS.format(lexicon=lexicon, mechanism=mechanism, work=work, keep=keep)
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        command = [sys.executable, "-c", code]
        return subprocess.check_output(command, text=True, env=environment).split()

    fresh = digests("", "('keep', 'keep')", seed="1")
    assert digests(_WORK, "[''.join(['ke', 'ep']), ''.join(['k', 'eep'])]", seed="2") == fresh
    assert len(set(fresh)) == 3


def test_equal_privatizers_have_equal_pickles_and_others_do_not() -> None:
    def pickled(epsilon: float, seed: int | None = None) -> bytes:
        rng = None if seed is None else seeded_rng(seed)
        return pickle.dumps(Privatizer(TINY, TEM(epsilon=epsilon), rng=rng))

    assert pickled(1.0) == pickled(1.0)
    assert len({pickled(1.0), pickled(2.0), pickled(1.0, seed=1), pickled(1.0, seed=2)}) == 4


_OTHER_PROCESS = """
import pickle, sys
privatizer = pickle.load(sys.stdin.buffer)
print(privatizer(sys.argv[1]).text, privatizer.guarantee, sep="\\n", end="")
"""


@pytest.mark.parametrize(
    ("lexicon", "mechanism"),
    [
        pytest.param("english", Balanced(epsilon=1.5), id="balanced"),
        pytest.param("english", Laplace(epsilon=5.0), id="laplace"),
        pytest.param(TINY, TEM(epsilon=2.0), id="in-memory"),
        pytest.param(TINY.with_graph(), Balanced(epsilon=1.0), id="graph"),
    ],
)
def test_a_process_that_imported_nothing_draws_the_same(
    lexicon: Lexicon | str, mechanism: Mechanism
) -> None:
    """The pickle alone says what to import."""
    privatizer = Privatizer(lexicon, mechanism, rng=seeded_rng(3))
    text = "Cold, very COLD: 12 hot days since 2 May 2021!"
    drawn = subprocess.check_output(
        [sys.executable, "-c", _OTHER_PROCESS, text],
        input=pickle.dumps(privatizer),
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert drawn.decode() == f"{privatizer(text).text}\n{privatizer.guarantee}"


def test_noise_does_not_travel() -> None:
    wide = Lexicon([f"w{i}" for i in range(50)], np.zeros((50, 1)))
    privatizer = Privatizer(wide, TEM(epsilon=1e-6))
    privatizer(text := "w7 " * 40)
    pickled = pickle.dumps(privatizer)
    made = {pickle.loads(pickled)(text).text for _ in range(5)}  # noqa: S301
    made |= {copy.copy(privatizer)(text).text, copy.deepcopy(privatizer)(text).text}
    assert len({*made, privatizer(text).text}) == 8


def test_a_copy_shares_the_tables_and_not_the_generator() -> None:
    privatizer = Privatizer(TINY, NADP(epsilon=1.0))
    twin = copy.copy(privatizer)
    assert twin.channel is privatizer.channel
    assert twin._rng is not privatizer._rng
    assert privatizer.drawing_from(seeded_rng(1)).channel is privatizer.channel
