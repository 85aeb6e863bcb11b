"""Texts that are hard to cut: any Unicode, signs that the patterns are made of, pieces of prose."""

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

WORDS = ["a", "an", "the", "i", "i'm", "apple", "user", "hour", "dog", "rain", "two", "cold"]

_SIGNS = (
    "aZß'’@#.:/_-w19٣\u0301\u200d\u00ad😀🇩🏽\ufe0f\u20e3 \n\x1c\x85\0\ud800½€≤北‼⁉〰©Ⓜ⠓ⅻ①𝐇"
    '*0#.!?…؟。"”»)]}([—,;$&\t\r\v\x1f\xa0\u2003\u2028\u3000\u200b\ufeff\ue000'
)
_FRAGMENTS = [
    *WORDS,
    *(" ", " ", " ", "\n", ". ", ", ", "-", "'", "Zyx", "B12", "3.5mg", "12:30", "1,000"),
    *("http://x.y/z?q=1", "www.x.org", "a@b.co", "@ann_1", "#flu", "http://", "w.", "://"),
    *("👩🏽‍⚕️", "🇩🇪", "❤️", "#️⃣", "‼️", "🏴\U000e0067\U000e007f", "[NAME]"),
    *("883120", "007", "45000mg", "hunter2", "10.0.0.1", "fe80::1:2", "00:1b:44:11:3a:b7", "="),
    *("/", "/home/ann", "~/a.b", "C:\\ann\\x", "d41d8cd98f00b204e9800998ecf8427e"),
    *("<br />", "&amp;", "... --- ...", "2023-04-01"),
]  # fmt: skip

TEXTS = (
    st.text()
    | st.text(st.sampled_from(_SIGNS) | st.characters(), max_size=60)
    | st.lists(st.sampled_from(_FRAGMENTS), max_size=30).map("".join)
)


def try_texts(
    check: Callable[[str], None],
    cases: int,
    first: int,
    texts: st.SearchStrategy[str] = TEXTS,
) -> None:
    """Call `check` with as many texts; a failure is shrunk to the shortest text that fails."""

    @seed(first)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(texts)
    def tried(text: str) -> None:
        check(text)

    tried()
