"""Unknown words by meaning: misspellings, compounds, and other lexicons."""

import pickle
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malaprop import Lexicon, ParameterError, Privatizer
from malaprop.text.policy import Policy
from malaprop.text.tokens import tokenize
from malaprop.text.vocabulary import Way
from malaprop.text.word_map import MAP_VERSION, WordMap

ENGLISH = Lexicon.open("english")
WORDS = WordMap(ENGLISH.words)
ACCENTED = WordMap(("mètformin", *ENGLISH.words))


def mapped(token: str) -> str:
    return ENGLISH.words[WORDS.map(token)]


@pytest.mark.parametrize(
    ("token", "word", "way"),
    [
        ("metformin", "warfarin", Way.MEANING), ("clopidogrel", "warfarin", Way.MEANING),
        ("COPD", "pulmonary", Way.MEANING), ("paracetamol", "ibuprofen", Way.MEANING),
        ("Oncologist's", "cardiologist", Way.MEANING), ("#oncologist", "cardiologist", Way.MEANING),
        ("earbuds", "headphones", Way.MEANING), ("mp3", "downloads", Way.MEANING),
        # Names
        ("Siobhan", "joanne", Way.MEANING), ("Katarzyna", "tatiana", Way.MEANING),
        ("Nguyen", "nguyen", Way.LISTED), ("Giuseppe", "giuseppe", Way.LISTED),
        # The base form, where it is near
        ("cliches", "cliche", Way.MEANING), ("clichés", "cliche", Way.MEANING),
        ("predictably", "predictable", Way.MEANING), ("definately", "definitely", Way.MEANING),
        # By hand
        ("lol", "laugh", Way.MEANING), ("covid19", "flu", Way.MEANING),
        ("dont", "don", Way.FORM), ("ain’t", "isn", Way.FORM),
        # Forms that no list has
        ("Germany's", "germany", Way.FORM), ("nowwwwww", "now", Way.FORM), ("20gb", "gb", Way.FORM),
        # One edit away: one letter more, one fewer, another one, two swapped
        ("metforminn", "warfarin", Way.CORRECTED), ("metfrmin", "warfarin", Way.CORRECTED),
        ("metforman", "warfarin", Way.CORRECTED), ("metofrmin", "warfarin", Way.CORRECTED),
        ("masterpeice", "masterpiece", Way.CORRECTED), ("alska", "alaska", Way.CORRECTED),
        # Compounds
        ("worldnews", "news", Way.COMPOUND), ("#WorldNews", "news", Way.COMPOUND),
        ("#prayforparis", "paris", Way.COMPOUND), ("customerservice", "service", Way.COMPOUND),
        ("bergmanesque", "bergman", Way.COMPOUND), ("copyof", "copy", Way.COMPOUND),
        ("lonepine", "pine", Way.COMPOUND), ("kqxhatchet", "hatchet", Way.COMPOUND),
        # Nothing else
        ("qzxkv", "quake", Way.SPELLING), ("fwt", "fit", Way.SPELLING),
    ],
)  # fmt: skip
def test_map(token: str, word: str, way: Way) -> None:
    route = WORDS.route(token)
    assert (ENGLISH.words[route.id], route.way) == (word, way)
    assert WORDS.map(token) == route.id


def test_a_route_says_how_without_the_token() -> None:
    assert str(WORDS.route("clopidogrel")).startswith("the nearest word by meaning")
    assert "clopidogrel" not in str(WORDS.route("clopidogrel"))
    assert "“metformin”" in str(WORDS.route("metforminn"))
    assert "“news”" in str(WORDS.route("worldnews"))


@given(st.text() | st.text("aeinrst'’#@1éüß", max_size=40) | st.from_regex("[a-z]{1,40}"))
def test_every_token_has_a_word_and_capitals_do_not_matter(text: str) -> None:
    for token in [text, *tokenize(text)]:
        word_id = WORDS.map(token)
        assert 0 <= word_id < len(ENGLISH)
        for other in (token.upper(), token.lower(), token.title(), token.swapcase()):
            if other.casefold() == token.casefold():
                assert WORDS.map(other) == word_id


@given(st.sampled_from("𐄇𐹠৴〇²"), st.text("\u0301\u0327\u20dd", max_size=9))
def test_numerals_under_marks_have_a_word(numeral: str, marks: str) -> None:
    """Without marks and numerals nothing is left to repair."""
    for token in tokenize(numeral + marks):
        assert WORDS.map(token) in range(len(ENGLISH))


def test_words_are_mapped_together_as_they_are_alone() -> None:
    words = ["metforminn", "rain", "worldnews", "soooo", "qqqq", "x", "worldnews", "definately"]
    words += ["naïveté", "𐄇", "3rd", "thisisasentence", "recieve", "beleive", "zzz's"]
    assert WORDS.map_all(words) == [WORDS.map(word) for word in words]
    assert WORDS.map_all([]) == []


@given(st.lists(st.sampled_from(ENGLISH.words[::97]) | st.text("aeinrstAK\u212aé'1", max_size=40)))
@example(["Metformin", "METFORMIN", "metformin's", "\u212aetorolac", "ketorolac", "x" * 33, "cafe"])
def test_so_are_any_words(words: list[str]) -> None:
    for lexicon in (WORDS, ACCENTED):
        assert lexicon.map_all(words) == [lexicon.map(word) for word in words]
        assert lexicon._routes(words) == [lexicon._routes([word])[0] for word in words]


class TestOtherLexicons:
    def test_a_word_that_the_lexicon_has(self) -> None:
        words = ["cold", "warfarin", "hot"]
        assert words[WordMap(words).map("metformin")] == "warfarin"

    def test_few_words_are_no_reason_for_a_step(self) -> None:
        words = ["cold", "fever", "hot"]
        assert WordMap(words).route("metformin").way is Way.SPELLING

    def test_a_step_to_a_near_word(self) -> None:
        words = [word for word in ENGLISH.words if word not in ("warfarin", "anticoagulant")]
        route = WordMap(words).route("metformin")
        assert route.way is Way.MEANING
        near = [word for word, _ in ENGLISH.neighbours("warfarin", 32)]
        assert words[route.id] == next(word for word in near if word in words)

    def test_a_lexicon_of_another_language_uses_spelling_alone(self) -> None:
        words = ["кошка", "собака", "дом", "warfarin"]
        assert WordMap(words).route("metformin").way is Way.SPELLING
        assert words[WordMap(words).map("собаки")] == "собака"

    def test_embedded_nouns(self) -> None:
        hierarchy = Lexicon.open("english-hierarchy")
        words = WordMap(hierarchy.words)
        assert hierarchy.words[words.map("clopidogrel")] == "warfarin"
        assert hierarchy.words[words.map("#worldnews")] == "news"

    def test_without_meaning(self) -> None:
        words = WordMap(ENGLISH.words, meaning=False)
        assert words.route("metformin").way is Way.SPELLING

    def test_equal_spellings_go_to_the_first_word(self) -> None:
        words = [ENGLISH.words[0].upper(), *ENGLISH.words]
        route = WordMap(words).route("metformin")
        assert words[route.id] == "warfarin"


class TestPrivatizer:
    def test_mapped(self) -> None:
        privatizer = Privatizer(epsilon=1.5)
        assert privatizer.mapped("clopidogrel") == "warfarin"
        assert privatizer.mapped("Aspirin") == "aspirin"
        for wrong in ("two words", "", ",", " ", None):
            with pytest.raises(ParameterError, match="one word"):
                privatizer.mapped(wrong)  # type: ignore[arg-type]

    def test_the_map_is_named_as_public(self) -> None:
        privatizer = Privatizer(epsilon=1.5)
        public = f"the map of unknown words (version {MAP_VERSION})"
        assert public in privatizer.guarantee.public
        release = privatizer("Metformin helps.")
        assert public in release.guarantee.public
        assert release.policy["map"] == MAP_VERSION
        masked = Privatizer(epsilon=1.5, unknown="mask")
        assert public not in masked.guarantee.public
        assert "map" not in Policy(unknown="mask").to_dict()


def test_a_pickle_maps_alike_and_holds_no_table() -> None:
    words = WordMap(ENGLISH.words)
    tokens = ["metformin", "metforminn", "worldnews", "qzxkv"]
    expected = [words.route(token) for token in tokens]
    pickled = pickle.dumps(words)
    assert len(pickled) < 1_500_000
    again = pickle.loads(pickled)  # noqa: S301
    assert [again.route(token) for token in tokens] == expected


def test_all_processes_agree_whatever_they_saw_before() -> None:
    script = (
        "import sys; from malaprop import Lexicon; from malaprop.text.word_map import WordMap;"
        "words = WordMap(Lexicon.open('english').words);"
        "tokens = 'metformin metforminn worldnews qzxkv siobhan soooo'.split();"
        "order = tokens[::-1] if sys.argv[1] == '1' else tokens;"
        "routes = {token: words.map(token) for token in order};"
        "print([routes[token] for token in tokens])"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script, seed],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(seen) == 1


def test_the_table_is_not_opened_before_the_first_unknown_word() -> None:
    script = (
        "from malaprop import Privatizer; from malaprop.text import vocabulary;"
        "privatizer = Privatizer(epsilon=1.5); privatizer('The patient was given aspirin.');"
        "print(vocabulary.shipped.cache_info().currsize)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "0\n"
