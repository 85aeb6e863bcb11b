"""Data sets of a few rows on a tiny lexicon, in place of the real ones."""

from typing import Any

from malaprop.lab.datasets import LabelledTexts, Puzzles, TextPairs, WordPairs
from malaprop.privacy.randomness import seeded_rng


def planted(words: tuple[str, ...]) -> dict[str, Any]:
    """Return a small set for each name that studies ask for."""
    rng = seeded_rng(2)

    def text(first: int, last: int) -> str:
        return " ".join(words[int(i)] for i in rng.integers(first, last, size=6))

    half = len(words) // 2
    labels = ("neg", "pos") * 40
    texts = tuple(text(0, half) if one == "neg" else text(half, len(words)) for one in labels)
    pairs = [tuple(map(int, rng.integers(len(words), size=2))) for _ in range(40)]
    first, second = (tuple(words[pair[side]] for pair in pairs) for side in (0, 1))
    scores = tuple(float(score) for score in rng.random(40))
    sentences = tuple(text(0, len(words)) for _ in range(80))
    members = tuple(tuple(words[6 * i : 6 * i + 6]) for i in range(5))
    odd = tuple(words[3 * i + 40] for i in range(5))
    sets: dict[str, Any] = {}
    for name in ("men", "simlex", "simverb", "wordsim353"):
        sets[name] = WordPairs(name=name, first=first, second=second, scores=scores)
    for name in ("mr", "cr", "mpqa", "disaster-tweets", "sms-spam"):
        sets[name] = LabelledTexts(name=name, texts=texts, labels=labels)
    for name in ("odd-8-8-8", "wikisem500"):
        sets[name] = Puzzles(name=name, members=members, odd=odd)
    sets["stsb"] = TextPairs(
        name="stsb",
        first=sentences[:40],
        second=sentences[40:],
        scores=scores,
        splits=("test",) * 40,
    )
    return sets
