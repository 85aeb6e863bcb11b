"""Mechanisms of one's own: a class of a file, or of an installed package."""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, assert_private

from malaprop.cli import own_mechanism
from malaprop.privacy.mechanism import registry

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "write-a-mechanism.md"
TEXT = "The patient is cold.\nOne doctor, two nurses: warm.\n"


@pytest.fixture(autouse=True)
def _no_modules_left(tmp_path: Path) -> Iterator[None]:
    """Forget the modules that a test imports from its folder."""
    path = list(sys.path)
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def examples(folder: Path) -> Path:
    """The files that the page shows."""
    blocks = re.findall(r"`(\w+\.py)`(?:(?!```).)*?```python\n(.*?)```", PAGE.read_text(), re.S)
    assert [name for name, _ in blocks] == ["my.py", "tails.py"]
    for name, code in blocks:
        (folder / name).write_text(code)
    (folder / "in.txt").write_text(TEXT)
    return folder


@pytest.mark.parametrize("mechanism", ["my.py:SanText", "tails.py:Power"])
def test_every_command_takes_a_class_of_a_file(
    cli: Cli, examples: Path, lexicon_file: Path, mechanism: str
) -> None:
    on = ("-m", mechanism, "-l", str(lexicon_file))
    ended = cli("privatize", "in.txt", "-o", "out.txt", "-e", "2", *on, "--report", "report.json")
    assert ended.code == 0, ended.err
    assert_private((examples / "out.txt").read_text())
    name = mechanism.partition(":")[2]
    assert f'"name": "{name}"' in (examples / "report.json").read_text()
    for command in (
        ("explain", "cold", "-e", "2"),
        ("stats", "-e", "2"),
        ("calibrate", "--kept", "0.6"),
        ("audit", "-e", "2"),
        ("attack", "bayes", "in.txt", "-e", "2"),
        ("evaluate", "in.txt", "-e", "2", "--runs", "2"),
    ):
        ended = cli(*command, *on)
        assert ended.code == 0, (command, ended.err)


def test_the_law_of_the_page_is_certified_and_a_false_claim_is_not(
    cli: Cli, examples: Path, lexicon_file: Path
) -> None:
    audit = ("audit", "-e", "2", "-l", str(lexicon_file), "-m")
    assert "HOLDS" in cli(*audit, "my.py:SanText").text.upper()
    code = (examples / "my.py").read_text().replace("self.epsilon / 2", "self.epsilon * 2")
    (examples / "false.py").write_text(code)
    ended = cli(*audit, "false.py:SanText")
    assert ended.code == 1
    assert "FAILS" in ended.text


def test_the_noise_of_the_page_keeps_its_claim(examples: Path) -> None:
    """ln of the ratio of densities, by hand, and the lengths that are drawn."""
    import numpy as np
    from scipy.stats import kstest

    from malaprop import seeded_rng

    power = own_mechanism.mechanism_class(str(examples / "tails.py") + ":Power")
    channel = power(epsilon=2.0).for_vectors(3)  # type: ignore[attr-defined]
    noise = channel.noise
    far = np.linalg.norm(noise.noise((20_000, 3), seeded_rng(1)), axis=1)
    shares = far / (far + noise.scale)
    assert kstest(shares, "beta", (3, 300.0)).pvalue > 1e-6
    assert kstest(shares * 0.95, "beta", (3, 300.0)).pvalue < 1e-6
    lengths = np.linspace(0.0, 50.0 * noise.scale, 10_000)
    logs = -(3 + 300.0) * np.log1p(lengths / noise.scale)
    assert np.abs(np.diff(logs) / np.diff(lengths)).max() <= 2.0 * (1 + 1e-9)


def test_mechanisms_of_evaluate_state_their_own_parameters(
    cli: Cli, examples: Path, lexicon_file: Path
) -> None:
    listed = "tem:2,exponent=half,my.py:SanText:1,tails.py:Power:20,tail=100"
    both = ("-m", "tem:2", "-m", listed)
    ended = cli("evaluate", "in.txt", "--runs", "2", *both, "-l", str(lexicon_file))
    assert ended.code == 0, ended.err
    for name in ("tem, exponent=audited", "tem, exponent=half", "SanText", "Power, tail=100.0"):
        assert name in ended.text


@pytest.mark.parametrize(
    ("code", "name", "says"),
    [
        ("", "Absent", "has no class 'Absent'"),
        (
            "import no_such_package",
            "X",
            "line 1: it cannot be imported: there is no module 'no_such_",
        ),
        ("raise SystemExit(3)", "X", "line 1: it cannot be imported: SystemExit."),
        ("\n\ndef f(x)\n", "X", "line 3: it cannot be imported: SyntaxError."),
        ("X = 3", "X", "is no mechanism: derive a class from malaprop.Mechanism"),
        ("class X: pass", "X", "is no mechanism"),
        ("from malaprop import Mechanism\nclass X(Mechanism): pass", "X", "it lacks on"),
        (
            "from malaprop import Mechanism\nclass X(Mechanism, name='tem'): pass",
            "X",
            "There is a mechanism 'tem' already",
        ),
    ],
)
def test_what_is_no_mechanism_is_refused_before_any_work(
    cli: Cli, folder: Path, code: str, name: str, says: str
) -> None:
    path = folder / f"own_{abs(hash((code, name)))}.py"
    path.write_text(code)
    ended = cli.privatize("absent.txt", "-o", "out.txt", "-m", f"{path}:{name}")
    assert ended.code == 2
    assert says in ended.flat
    assert len(ended.err.splitlines()) == 1
    assert registry.get("tem") is None or registry["tem"].__name__ == "TEM"


def test_what_a_file_says_when_it_fails_is_not_told(cli: Cli, folder: Path) -> None:
    """It may have read the text."""
    (folder / "notes.txt").write_text("whisper")
    (folder / "reads.py").write_text(
        "\nfrom pathlib import Path\nint(Path('notes.txt').read_text())\n"
    )
    ended = cli("explain", "a", "-e", "1", "-m", "reads.py:X")
    assert ended.code == 2
    assert "The file reads.py, line 3: it cannot be imported: ValueError." in ended.flat
    assert "whisper" not in ended.text + ended.err


def test_a_file_that_is_not_there_or_hides_a_module_is_refused(cli: Cli, folder: Path) -> None:
    assert "There is no file absent.py" in cli("explain", "a", "-e", "1", "-m", "absent.py:X").flat
    (folder / "random.py").write_text("")
    ended = cli("explain", "a", "-e", "1", "-m", "random.py:X")
    assert "has the name of another module" in ended.flat


def test_a_missing_parameter_is_named(cli: Cli, folder: Path) -> None:
    (folder / "needy.py").write_text(
        "from dataclasses import dataclass\nfrom malaprop import Mechanism\n"
        "@dataclass(frozen=True, kw_only=True)\nclass X(Mechanism):\n"
        "    shape: float\n    def on(self, lexicon): pass\n"
    )
    ended = cli("explain", "a", "-e", "1", "-m", "needy.py:X")
    assert "X needs more parameters: shape" in ended.flat


def test_a_package_offers_mechanisms_by_name(
    cli: Cli, examples: Path, lexicon_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(examples))
    points = [
        EntryPoint("santext", "my:SanText", own_mechanism.GROUP),
        EntryPoint("broken", "no_such_package:X", own_mechanism.GROUP),
    ]
    monkeypatch.setattr(own_mechanism, "entry_points", lambda group: points)
    ended = cli("explain", "cold", "-e", "2", "-m", "santext", "-l", str(lexicon_file))
    assert ended.code == 0, ended.err
    ended = cli("explain", "cold", "-e", "2", "-m", "broken", "-l", str(lexicon_file))
    assert "there is no module 'no_such_package'" in ended.flat
    monkeypatch.setattr(own_mechanism, "entry_points", lambda group: points[:1])
    assert "santext" in cli("mechanisms", "--all").text


def test_no_report_brings_a_file_in(cli: Cli, examples: Path, lexicon_file: Path) -> None:
    on = ("-m", "my.py:SanText", "-l", str(lexicon_file), "-e", "2")
    assert cli("privatize", "in.txt", "-o", "out.txt", *on, "--report", "r.json").code == 0
    told = (examples / "r.json").read_text().replace('"SanText"', '"my.py:SanText"')
    (examples / "r.json").write_text(told)
    ended = cli("smooth", "out.txt", "-o", "better.txt", "--from-report", "r.json")
    assert ended.code == 2
    assert "is no JSON report" in ended.flat
