"""What an observer recovers with context: stored figures, and ε for a share."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import malaprop
from malaprop import TEM, Balanced, Laplace, Lexicon, ParameterError, seeded_rng
from malaprop.lexicon.bigrams import shipped_model
from malaprop.measure import calibrate, train_model
from malaprop.measure.profile import context_curve, context_figure

ROOT = Path(malaprop.__file__).parent
TINY = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])


@pytest.fixture(scope="module")
def english() -> Lexicon:
    return Lexicon.open("english")


@pytest.fixture(scope="module")
def graph(english: Lexicon) -> Lexicon:
    return english.with_graph()


def test_the_stored_figures_are_those_of_the_shipped_model(english: Lexicon) -> None:
    told = json.loads((ROOT / "data" / "context-figures.json").read_text("utf-8"))
    model = shipped_model(english)
    assert model is not None
    assert told["model"] == model.fingerprint
    assert set(told["mechanisms"]) == {"balanced", "laplace", "tem"}
    for entry in told["mechanisms"].values():
        epsilons = [row["epsilon"] for row in entry["figures"]]
        assert epsilons == sorted(set(epsilons))
        assert len(epsilons) >= 3
        for row in entry["figures"]:
            assert row["interval"][0] <= row["context"] <= row["interval"][1]


def test_the_stored_figures_are_the_measured_ones() -> None:
    """They are what the benchmark stored, and docs/explanation/attacks.md shows."""
    tool = ROOT.parent.parent / "tools" / "build_context_figures.py"
    if not (tool.parent.parent / "benchmarks").is_dir():
        pytest.skip("without the benchmarks' results")
    spec = spec_from_file_location("build_context_figures", tool)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.built() == json.loads(module.FILE.read_text("utf-8"))


def test_figures_are_interpolated_and_known_for_what_was_measured(
    english: Lexicon, graph: Lexicon
) -> None:
    figure = context_figure(Balanced(epsilon=1.5), graph)
    assert figure is not None
    assert figure.kept < figure.alone < figure.context
    between = context_figure(Balanced(epsilon=1.6), graph)
    above = context_figure(Balanced(epsilon=1.75), graph)
    assert between is not None
    assert above is not None
    share = (between.context - figure.context) / (above.context - figure.context)
    assert share == pytest.approx(0.4)
    assert "film reviews" in str(figure)
    assert list(figure.readable) == ["faithful", "fluent"]
    told = {"faithful": "the text is made readable", "fluent": "the text is made fluent"}
    for setting, share in figure.readable.items():
        assert figure.kept < share < figure.context + 0.03
        assert f"{share:.0%} are the original ones when {told[setting]}, and" in (
            figure.made_readable(setting)
        )
        assert f"{share:.0%}" in figure.made_readable()
        assert share < between.readable[setting] < above.readable[setting]
    assert figure.readable["faithful"] != figure.readable["fluent"]
    unknown = context_figure(Laplace(epsilon=14.0), english)
    assert unknown is not None
    assert unknown.made_readable() == unknown.made_readable("fluent") == ""
    assert context_figure(Balanced(epsilon=0.2), graph) is None
    assert context_figure(Balanced(epsilon=9.0), graph) is None
    assert context_figure(TEM(epsilon=1.5), TINY) is None
    assert context_figure(TEM(epsilon=1.5), english) is not None
    assert context_figure(TEM(epsilon=1.5, beta=0.5), english) is None


def test_nobody_recovers_less_than_is_kept(english: Lexicon) -> None:
    """Whoever takes the output for the word is right that often."""
    curve = context_curve(Laplace(epsilon=1.0), english)
    assert curve
    for figure in curve:
        assert figure.kept <= figure.alone <= figure.context <= figure.upper


def test_the_largest_epsilon_for_a_share_with_context(graph: Lexicon) -> None:
    curve = context_curve(Balanced(epsilon=1.0), graph)
    epsilons, upper = [each.epsilon for each in curve], [each.upper for each in curve]
    reached = [calibrate(Balanced, graph, success=share, context=True) for share in (0.2, 0.3, 0.5)]
    for one, other in pairwise(reached):
        assert one.epsilon < other.epsilon
    for share, found in zip((0.2, 0.3, 0.5), reached, strict=True):
        assert np.interp(found.epsilon, epsilons, upper) == pytest.approx(share)
        assert found.value <= share
        assert "with context" in found.target


WORDS = [f"{a}{b}" for a in "bdfgk" for b in "aeio"]


def test_a_sample_is_attacked_at_each_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Lexicon(WORDS, [[float(i)] for i in range(20)])
    rng = np.random.Generator(np.random.PCG64(1))
    texts = [" ".join(WORDS[i] for i in rng.integers(0, 20, 12)) for _ in range(300)]
    model = train_model(texts[150:], line)
    monkeypatch.setattr("malaprop.measure.adversaries.public_model.shipped_model", lambda _: model)
    found = calibrate("tem", line, success=0.5, context=True, sample=texts[:150], rng=seeded_rng(1))
    assert 0.35 < found.value < 0.5
    assert "150 public texts" in found.target
    curve = dict(found.curve)
    assert all(value <= 0.55 for epsilon, value in curve.items() if epsilon < found.epsilon)
    assert max(curve) > found.epsilon


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kept": 0.3, "context": True}, "target `success` alone"),
        ({"success": 0.3, "context": True, "occurrences": 2}, "target `success` alone"),
        ({"success": 0.3, "context": True, "kept": 0.1}, "target `success` alone"),
        ({"success": 0.3, "sample": ["cold"]}, "goes with `context=True`"),
        ({"success": 0.3, "context": True}, "give public texts"),
        ({"success": 2.0, "context": True}, "between 0 and 1"),
        ({"success": 0.3, "context": True, "sample": "cold"}, "several texts"),
        ({"success": 0.3, "context": True, "sample": []}, "one text or more"),
        ({"success": 0.3, "context": True, "sample": [3]}, "one text or more"),
    ],
)
def test_wrong_targets_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        calibrate("tem", TINY, **options)  # type: ignore[arg-type]


def test_a_share_beyond_the_figures_is_refused(graph: Lexicon) -> None:
    with pytest.raises(ParameterError, match=r"beyond what was measured.*ε = 0\.5\)"):
        calibrate("balanced", graph, success=0.01, context=True)


def test_the_figure_stands_in_an_explanation(graph: Lexicon) -> None:
    explained = malaprop.explain("doctor", mechanism=Balanced(epsilon=1.5), lexicon=graph)
    figure = context_figure(Balanced(epsilon=1.5), graph)
    assert explained.context == figure
    assert figure is not None
    shown = " ".join(str(explained).split())
    assert f"in text of the web recovers {figure.alone:.0%} by looking at each word" in shown
    assert f"also knows which words follow which {figure.context:.0%}" in shown
    assert "an observer without context, to whom all words are equally likely, guesses" in shown
    assert "film reviews" in explained._repr_html_()
    assert json.loads(json.dumps(explained.to_dict()))["context"] == figure.to_dict()
    tiny = malaprop.explain("cold", mechanism=TEM(epsilon=1.0), lexicon=TINY)
    assert tiny.context is None
    assert tiny.to_dict()["context"] is None
