"""Words put together: the likeliest parts, and the one that counts."""

from collections.abc import Mapping

from malaprop.text.vocabulary import cheapest_head, part_bounds


def head(word: str, costs: Mapping[str, int]) -> tuple[int, str | None, bool]:
    """Split a word, given the costs of its listed parts."""
    starts, ends = part_bounds(len(word))
    parts = (word[start:end] for start, end in zip(starts, ends, strict=True))
    listed = [(number, costs[part] << 16) for number, part in enumerate(parts) if part in costs]
    short = {part: cost << 16 for part, cost in costs.items() if len(part) == 2}
    cost, part, whole = cheapest_head(word, listed, short)
    return cost, None if part is None else part[0], whole


def test_the_cheapest_parts_with_their_joints() -> None:
    assert head("worldnews", {"world": 80, "or": 30, "news": 90}) == (222, "news", True)
    assert head("worldnews", {"world": 80, "news": 90, "worldnews": 221}) == (
        221,
        "worldnews",
        True,
    )


def test_letters_left_over_need_a_long_part() -> None:
    assert head("qqqnews", {"news": 90})[1:] == ("news", False)
    assert head("qqqned", {"ned": 90})[1:] == (None, False)


def test_function_words_and_endings_name_nothing() -> None:
    assert head("newsof", {"news": 20, "of": 9})[1] == "news"
    assert head("newsless", {"news": 20, "less": 30})[1] == "news"
    assert head("ofthe", {"of": 9, "the": 3})[1] == "the"
    assert head("", {})[1] is None
