"""The documentation lists exactly what is shown."""

import re
from pathlib import Path

from malaprop.text.markup import TAGS
from malaprop.text.segments import placeholder_names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "public-pieces.md").read_text(encoding="utf-8")


def listed(start: str) -> list[str]:
    """Return the names in backticks between a phrase and the next full stop."""
    return re.findall(r"`([^`]+)`", PAGE.split(start)[1].split(".", 1)[0])


def test_the_page_lists_the_names_of_placeholders() -> None:
    assert listed("Presidio's names:") == list(placeholder_names()["presidio"])
    assert listed("Scrubadub's names:") == list(placeholder_names()["scrubadub"])
    assert listed("The names of the i2b2 challenge of 2014:") == list(placeholder_names()["i2b2"])


def test_the_page_lists_the_tags() -> None:
    assert listed("`<br>`):") == sorted(TAGS)
