"""A small lexicon, a rough mechanism, and texts for the tests of a privatizer."""

from hypothesis import strategies as st

from malaprop import TEM, Lexicon

WORDS = ("cold", "cool", "warm", "hot", "doctor", "nurse", "the", "is", "symbol", "twenty")
SMALL = Lexicon(WORDS, [[float(i), float(i * i % 7)] for i in range(len(WORDS))])
ROUGH = TEM(epsilon=0.5)

TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                *WORDS,
                *("Zyx", "don't", "COLD", "3.5", "1,000", "www.a.org/x1", "a@b.org", "@me", "#hot"),
                *(
                    " ",
                    "  ",
                    "\n",
                    ", ",
                    ". ",
                    "!",
                    "(",
                    "😀",
                    "\u200b",
                    "é",
                    "ﬁ",
                    "٣",
                    "\x00",
                    "_",
                ),
            ]
        ),
        max_size=15,
    ).map("".join),
)
