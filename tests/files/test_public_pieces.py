"""What is declared public is shown, counted and named; nothing else of a text is."""

import json
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzz.public_pieces import KEEP, shows_nothing_else
from tests.text.markup_texts import MARKUP_TEXTS

from malaprop import TEM, Balanced, Lexicon, Privatizer, seeded_rng
from malaprop.privacy.errors import ParameterError
from malaprop.text.policy import Policy
from malaprop.text.public import PublicPieces, cut_spans

WORDS = ("cold", "cool", "warm", "hot", "doctor", "nurse", "the", "a", "an")
SMALL = Lexicon(WORDS, [[float(i), float(i * i % 7)] for i in range(len(WORDS))])
SHARP = TEM(epsilon=200.0)
ROUGH = TEM(epsilon=0.2)
ZED = Lexicon(["z", "zz", "zzz"], [[0.0], [1.0], [2.0]])
MARKUPS: list[Any] = [None, "html"]


def sharp(**options: Any) -> Privatizer:
    return Privatizer(SMALL, SHARP, **options)


def test_kept_words_and_placeholders_stay_as_they_are() -> None:
    release = sharp(keep=["placeholders", "aspirin", "new york"])(
        "[NAME_1] is Cold; ASPIRIN in New  York. hot([TIME])"
    )
    assert release.text.startswith("[NAME_1] ")
    assert "; ASPIRIN " in release.text
    assert " New  York. Hot([" in release.text
    assert "TIME" not in release.text  # not on the closed list
    assert release.counts["public_placeholders"] == 1
    assert release.counts["public_words"] == 2
    assert release.counts["protected"] == 5


def test_html_tags_stay_without_spaces_and_the_text_is_one() -> None:
    release = sharp(markup="html")(
        '<P id="ann">The <b>cold</b> doctor &amp; nurse<!-- ann --><br/>hot <script>x</script>a < b'
    )
    assert release.text.startswith("<p>The <b>cold</b> doctor &amp; nurse<br>Hot a &lt; ")
    assert release.counts["public_markup"] == 4
    assert release.to_dict()["counts"]["public_markup"] == 4  # type: ignore[index]


def test_values_among_public_pieces_are_drawn_as_values(english: Lexicon) -> None:
    privatizer = Privatizer(english, Balanced(epsilon=1.5), keep=["mg"], markup="html")
    text = privatizer("<td>2023-04-05</td><td>500 mg</td><td>10:30</td>").text
    parts = text.replace("</td>", "").split("<td>")[1:]
    assert [len(part) for part in parts][::2] == [10, 5]
    assert parts[1].endswith(" mg")
    assert parts[1].split()[0].replace(",", "").isdigit()


def test_spans_are_private_and_the_rest_is_copied() -> None:
    text = "Ann has FLU & <b>cold</b>."
    release = sharp().spans(text, [(17, 21), (0, 3)])
    assert release.text.endswith(" has FLU & <b>cold</b>.")
    assert release.counts["protected"] == 2
    assert release.counts["public_spans"] == 2
    assert "public_spans" not in release.to_dict()["counts"]  # type: ignore[operator]
    assert "the same spans and equal text outside them" in str(release.guarantee)
    assert "the spans, and the text outside them" in release.guarantee.public
    assert sharp().spans(text, []).text == text
    assert sharp().spans("cold hot", [(4, 8), (0, 4)]).text == "Cold hot"


def test_inside_spans_what_is_kept_stays() -> None:
    release = sharp(keep=["flu"], markup="html").spans("<x> <b>flu</b> cold", [(4, 19)])
    assert release.text == "<x> <b>flu</b> cold"
    assert release.counts["public_markup"] == 2


@pytest.mark.parametrize(
    "spans",
    [[(3, 3)], [(4, 2)], [(-1, 2)], [(0, 99)], [(1, 2, 3)], [1], 5, [("a", 2)]],
)
def test_bad_spans_are_refused_without_text(spans: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        sharp().spans("zyxcanary", spans)
    assert "zyxcanary" not in str(caught.value)
    assert "span" in str(caught.value).lower()


def test_spans_need_a_text() -> None:
    with pytest.raises(ParameterError, match="must be a string"):
        sharp().spans(None, [])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        *({"keep": "aspirin"}, {"keep": 5}, {"keep": None}, {"keep": [""]}, {"keep": ["a\n"]}),
        *({"keep": [["a"]]}, {"keep": b"ab"}, {"markup": "xml"}, {"markup": ["html"]}),
    ],
)
def test_bad_declarations_are_refused(options: Any) -> None:
    with pytest.raises(ParameterError, match=r"`(keep|markup)`"):
        Policy(**options)


def test_the_policy_is_hashable_and_equal_lists_are_equal() -> None:
    one, other = Policy(keep=["b", "a", "b"]), Policy(keep=("a", "b"))
    assert one == other
    assert hash(one) == hash(other)
    assert Policy(**one.options()) == one
    assert one.to_dict()["keep"] == ["a", "b"]
    assert "keep" not in Policy().to_dict()
    assert Policy(keep="placeholders").to_dict()["keep"] == ["placeholders"]


def test_a_long_list_is_named_by_a_digest() -> None:
    words = [f"w{i}" for i in range(1000)]
    long, other = Policy(keep=words).to_dict(), Policy(keep=[*words[1:], "x"]).to_dict()
    assert long["keep"]["entries"] == other["keep"]["entries"] == 1000
    assert long["keep"]["sha256"] != other["keep"]["sha256"]
    json.dumps(long)


def test_the_statement_names_what_is_public() -> None:
    plain = sharp().guarantee
    guarantee = sharp(keep=["placeholders", "flu"], markup="html").guarantee
    assert "the same public pieces and no others" in str(guarantee)
    assert "(the tags of HTML; placeholders; the kept word “flu”)" in str(guarantee)
    assert "that a word was not kept" in guarantee.public
    assert "public pieces" not in str(plain)
    assert guarantee.epsilon == plain.epsilon
    assert math.isfinite(guarantee.loss(1.0))


def test_a_pickled_privatizer_keeps_the_same() -> None:
    privatizer = pickle.loads(pickle.dumps(sharp(keep=["zyx"], markup="html")))  # noqa: S301
    assert privatizer("<b>zyx</b> cold").text == "<b>zyx</b> cold"


def test_one_draw_a_document_goes_across_pieces() -> None:
    text = " ".join(["<b>doctor</b> aspirin"] * 30)
    privatizer = Privatizer(SMALL, ROUGH, repeat="document", keep=["aspirin"], markup="html")
    release = privatizer(text)
    assert len({each.lower() for each in release.text.split(" ")[::2]}) == 1
    assert release.guarantee.words == 1
    assert release.counts["public_words"] == 30


def test_many_texts_are_the_same_whatever_way_they_are_parsed() -> None:
    texts = ["cold doctor. hot", "<p>aspirin", "a & b", "", "the nurse"] * 60
    privatizer = sharp(keep=["aspirin"], markup="html")
    assert privatizer.texts(texts) == [privatizer(text).text for text in texts]
    _, counts = privatizer.batch(texts)
    releases = privatizer.many(texts)
    assert counts["public_words"] == 60 == sum(r.counts.get("public_words", 0) for r in releases)


def test_nothing_outside_the_pieces_changes_the_law() -> None:
    """With the same seed, texts with the same template come out the same."""
    for options, one, other in [
        ({"keep": ["flu"]}, "Cold flu, COLD zq.", "cold flu, cold zq."),
        ({"markup": "html"}, '<a href="ann">cold</a><!-- ann -->', "<a>COLD</a>"),
    ]:
        shown = [
            Privatizer(SMALL, ROUGH, rng=seeded_rng(5), **options)(text).text  # type: ignore[arg-type]
            for text in (one, other)
        ]
        assert shown[0] == shown[1]


def test_private_words_are_drawn_by_the_same_law_beside_pieces() -> None:
    """The draws of the private words are those of the text without pieces."""
    words = ["cold", "hot", "doctor", "nurse"] * 50
    few = Lexicon(WORDS[:7], [[float(i)] for i in range(7)])  # no articles, which are fitted
    plain = Privatizer(few, ROUGH, rng=seeded_rng(7))(" ".join(words)).text.lower().split()
    kept = Privatizer(few, ROUGH, rng=seeded_rng(7), keep=["zyx"])(" zyx ".join(words)).text
    assert kept.lower().split(" zyx ") == plain


@settings(deadline=None)
@given(
    MARKUP_TEXTS,
    st.sampled_from(MARKUPS),
    st.sampled_from([(), KEEP]),
    st.sampled_from(["map", "mask", "drop"]),
    st.sampled_from(["fresh", "document"]),
)
def test_letters_and_digits_are_public_or_drawn(
    text: str, markup: Any, keep: tuple[str, ...], unknown: Any, repeat: Any
) -> None:
    privatizer = Privatizer(
        ZED, ROUGH, markup=markup, keep=keep, unknown=unknown, repeat=repeat, placeholder="zz"
    )
    segments = PublicPieces(keep, markup).cut(text)
    assert shows_nothing_else(privatizer(text).text, segments)


@settings(deadline=None)
@given(MARKUP_TEXTS, st.lists(st.integers(0, 30), unique=True, max_size=8), st.booleans())
def test_outside_spans_all_is_copied_and_inside_nothing(
    text: str, cuts: list[int], reverse: bool
) -> None:
    places = sorted(place for place in cuts if place <= len(text))
    spans = sorted(zip(places[::2], places[1::2], strict=False), reverse=reverse)
    release = Privatizer(ZED, ROUGH).spans(text, spans)
    assert shows_nothing_else(release.text, cut_spans(text, spans))


HIDDEN = [
    *("<p title='{}'>x</p>", "<!-- {} -->", "<script>{}</script>", "<style>{}</style>x"),
    *('<a href="{}">x</a>', "<?{}?>", "<x-{}>y</x-{}>", "<!DOCTYPE {}>"),
]  # fmt: skip


@given(st.sampled_from(HIDDEN), st.sampled_from(["qqq", "q q", "Q1q"]))
def test_attributes_comments_and_scripts_never_come_through(form: str, secret: str) -> None:
    if "<x-" in form:
        secret = secret.replace(" ", "")
    privatizer = Privatizer(ZED, ROUGH, markup="html", keep=["qqq", "q"])
    text = privatizer(f"z {form.replace('{}', secret)} z").text
    assert "q" not in text.lower()
