"""The bar of the library: where it shows, what it says, and that it keeps silent elsewhere."""

import io
from collections.abc import Callable

import pyarrow as pa
import pytest

import malaprop
from malaprop import ProgressBar
from malaprop.files.run import RunProgress
from malaprop.privacy.progress import Meter
from malaprop.report import progress_bar


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what sets the clock."""
    now = [0.0]
    monkeypatch.setattr(progress_bar, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress_bar, "Meter", lambda unit: Meter(unit, lambda: now[0]))
    return lambda seconds: now.__setitem__(0, seconds)


def test_it_shows_rate_and_time_left(
    at: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    bar = ProgressBar("audit\x1bing", "texts")
    for second in range(2):
        at(second)
        bar(second * 10, 100)
    assert terminal.getvalue() == ""  # short work needs no bar
    at(5.0)
    bar(50, 100)
    assert r"audit\u001bing" in terminal.getvalue()
    assert " 50% 10 texts a second, 0:05 left" in terminal.getvalue()
    at(10.0)
    bar(100, 100)
    assert terminal.getvalue().endswith("100% done in 0:10\n")


def test_it_takes_the_events_of_a_run(
    at: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    bar = ProgressBar()
    bar(RunProgress(stage="drawing", done=0, total=1000))
    at(9.0)
    bar(RunProgress(stage="warning", note="some warning"))
    bar(RunProgress(stage="drawing", done=900, total=1000))
    assert "90% 10% a second, 0:01 left" in terminal.getvalue()
    at(10.0)
    for _ in range(2):  # the last batch, and the end of the file
        bar(RunProgress(stage="drawing", done=1000, total=1000))
    assert terminal.getvalue().endswith("100% done in 0:10\n")
    assert terminal.getvalue().count("\n") == 1


def test_elsewhere_it_is_silent(
    at: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    bar = ProgressBar()
    bar(0, 10)
    at(5.0)
    bar(5, 10)
    assert stream.getvalue() == ""
    monkeypatch.setattr("sys.stderr", None)
    at(8.0)
    bar(6, 10)


def test_a_table_reports_its_texts(hundred: malaprop.Lexicon) -> None:
    seen: list[tuple[int, int]] = []
    malaprop.privatize(
        pa.table({"t": ["waa"] * 40_000}),
        columns=["t"],
        mechanism=malaprop.TEM(epsilon=0.001),
        lexicon=hundred,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(32_768, 40_000), (40_000, 40_000)]


def test_a_meter_knows_nothing_at_first() -> None:
    now = iter([0.0, 0.1, 40.0, 41.0, 50.0, 52.0, 52.0])
    meter = Meter(clock=lambda: next(now))
    meter.update(1, 10)
    assert str(meter) == ""
    meter.update(5, 10)
    assert str(meter) == "1% a second, 0:49 left"
    meter.update(0, 20)  # another computation
    assert str(meter) == ""
    meter.update(10, 20)
    assert str(meter) == "25% a second, 0:02 left"
