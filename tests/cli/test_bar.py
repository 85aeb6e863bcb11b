"""The progress bar: a percentage from the start, unless nobody knows how much there is."""

import io

import pytest
from rich.console import Console

from malaprop.cli import terminal


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ([], "0%"),
        ([(1, 4)], "25%"),
        ([(1, 1)], "100%"),
        ([(1, 2), (2, 2)], "100%"),
        ([(9, None)], ""),
    ],
)
def test_its_percentage(
    steps: list[tuple[int, int | None]], last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(terminal, "_terminal", lambda: shown)
    with terminal.bar("auditing") as progress:
        for step in steps:
            progress.to(*step)
    assert isinstance(shown.file, io.StringIO)
    final = shown.file.getvalue().split("auditing")
    assert "  0%" in final[1]
    assert last in final[-1]
    assert last or "%" not in final[-1]
