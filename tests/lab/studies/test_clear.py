"""Words in clear: those without a neighbour."""

from malaprop import Lexicon, seeded_rng
from malaprop.lab.studies.nadp import STUDY
from malaprop.lab.studies.reproduction import Cells, Run, run_study


def test_words_without_a_neighbour_are_counted(cells: Cells) -> None:
    """Two pairs share all of their nearest words; at τ = 0.5 the word between them does not."""
    lexicon = Lexicon(["a", "b", "c", "d", "e"], [[0.0], [1.0], [50.0], [100.0], [101.0]])
    run = Run(quick=True, lexicons={"english": lexicon})
    lines = run_study(STUDY, run, items=["clear"], cells=cells)
    counts = {
        (line.setting["published"], line.setting["tau"]): (line.ours, line.claims)
        for line in lines
        if line.measure == "in_clear"
    }
    assert counts[False, 0.5] == (0, ())  # the sound one attaches them
    assert counts[True, 0.1][0] == 0  # all five words are among each other's ten nearest


def test_at_a_high_tau_words_are_in_clear(cells: Cells) -> None:
    cloud = Lexicon([f"w{i}" for i in range(200)], seeded_rng(1).normal(size=(200, 9)))
    run = Run(quick=True, lexicons={"english": cloud})
    lines = run_study(STUDY, run, items=["clear"], cells=cells)
    published = [line for line in lines if line.measure == "in_clear" and line.setting["published"]]
    counts = [int(str(line.ours)) for line in published]
    assert len(counts) == 4
    assert counts == sorted(counts)
    assert 0 < counts[-1] < 200
    assert [each.whose for line in published for each in line.claims] == ["reading"] * 4
