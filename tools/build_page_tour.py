"""Build server/page/tour.json: what the view Understand shows of one note, and of the frontier.

    python tools/build_page_tour.py

The note is made up, and public. At each ε it is drawn many times with `balanced`, and attacked by
the adversaries of `malaprop.measure`: `bayes`, `context` and `majority`, with the bigram model that
ships for english. The first draws are shown, all of them count. The curve is that of the study
`frontier`, whose lines are docs/studies/frontier.jsonl.gz.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from malaprop import Privatizer, seeded_rng
from malaprop.measure.adversaries.context import Context
from malaprop.measure.adversaries.repetition import Majority
from malaprop.measure.adversaries.words import Bayes, Seen
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.word_graph import WordGraph, graph_of
from malaprop.report.explanation import explained_by

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "src/malaprop/server/page/tour.json"
FRONTIER = ROOT / "docs/studies/frontier.jsonl.gz"
NOTE = (
    "The patient is a nurse from Leeds with diabetes and depression. She takes insulin every day "
    "and came in with chest pain after a fever."
)
SECRETS = ("nurse", "leeds", "diabetes", "depression", "insulin")
WORD = "diabetes"
EPSILONS = (0.5, 0.8, 1.0, 1.2, 1.5, 1.75, 2.0, 2.5, 3.0)
DRAWS = 200  # of the note at each ε
SHOWN = 6
TIMES = (1, 2, 4, 8, 16)  # releases of the same note
ROUNDS = 20  # times that so many releases are drawn and attacked
NEAR = (7, 14)  # words of the first and the second ring that are shown
MEASURES = ("similarity", "accuracy", "sts")


class Words:
    """The words that the file names, each once, by their place in its list."""

    def __init__(self, lexicon: Any) -> None:
        self.lexicon, self.listed = lexicon, dict[str, int]()

    def places(self, ids: Any) -> list[int]:
        """Return the places of words of the lexicon."""
        return [self.listed.setdefault(self.lexicon.words[i], len(self.listed)) for i in ids]


def built() -> dict[str, Any]:
    """Return the content of the file."""
    first = Privatizer(epsilon=EPSILONS[0])
    lexicon, words = first.lexicon, Words(first.lexicon)
    secret = [lexicon.index[word.lower()] for word in re.findall(r"\w+", NOTE)]
    graph = graph_of(lexicon.metric)
    if graph is None or first.word_draws([NOTE]).secret.tolist() != secret:
        raise RuntimeError("the words of the note must be words of a lexicon with a graph")
    own, telling = words.places(secret), [lexicon.words[each] in SECRETS for each in secret]
    near = neighbourhood(graph, lexicon.index[WORD], words)
    return {
        "note": re.findall(r"\w+|\W+", NOTE),
        "secret": own,
        "telling": np.flatnonzero(telling).tolist(),
        "lexicon": lexicon.fingerprint,
        "mechanism": first.mechanism.name,
        "word": words.places([lexicon.index[WORD]])[0],
        "near": near,
        "counted": {"draws": DRAWS, "rounds": ROUNDS, "times": TIMES},
        "levels": [level(epsilon, words, near) for epsilon in EPSILONS],
        "curve": curve(),
        "words": list(words.listed),
    }


def neighbourhood(graph: WordGraph, own: int, words: Words) -> dict[str, Any]:
    """Return the words within two steps of a word, as many as are shown, and lines between them."""
    steps = graph.distances(np.array([own]))[0]
    rings = [np.flatnonzero(steps == ring) for ring in (1, 2)]
    # The frequent ones are those that people know, and the lexicon is sorted by frequency.
    shown = [ring[:most].tolist() for ring, most in zip(rings, NEAR, strict=True)]
    ids = {own, *shown[0], *shown[1]}
    lines = [
        [*words.places(pair), weight]
        for pair, weight in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True)
        if set(pair) <= ids
    ]
    return {
        "rings": [words.places(ring) for ring in shown],
        "sizes": [len(ring) for ring in rings],
        "lines": lines,
    }


def level(epsilon: float, words: Words, near: dict[str, Any]) -> dict[str, Any]:
    """Return what is shown of one ε."""
    privatizer = Privatizer(epsilon=epsilon, rng=seeded_rng(round(1000 * epsilon) + 2))
    channel = privatizer.channel
    if not isinstance(channel, LawChannel):
        raise TypeError("the mechanism must know its law")
    law = np.exp(channel.log_probabilities([words.lexicon.index[WORD]])[0])
    names = list(words.listed)
    shown = [names.index(WORD), *near["rings"][0], *near["rings"][1]]
    told = explained_by(privatizer, WORD, top=8)
    drawn = Bayes().drawn(privatizer, [privatizer.word_draws([NOTE] * DRAWS)], seeded_rng(0))
    seen = drawn.seen[0]
    secret, outputs, alone, context = (
        each.reshape(DRAWS, -1)
        for each in (drawn.secret, seen.outputs, Bayes().guesses(seen), Context().guesses(seen))
    )
    return {
        "epsilon": epsilon,
        "becomes": [
            [words.places([words.lexicon.index[each.word]])[0], share(each.probability)]
            for each in told.becomes
        ],
        "chances": {place: share(law[words.lexicon.index[names[place]]]) for place in shown},
        "plausible": round(told.plausible, 1),
        "rings": [[ring.steps, ring.count, share(ring.probability)] for ring in told.rings],
        "kept": share((outputs == secret).mean()),
        "alone": share((alone == secret).mean()),
        "context": share((context == secret).mean()),
        "found_alone": [share(each) for each in (alone == secret).mean(axis=0)],
        "found": [share(each) for each in (context == secret).mean(axis=0)],
        "outputs": [words.places(row) for row in outputs[:SHOWN]],
        "alone_guesses": [words.places(row) for row in alone[:SHOWN]],
        "guesses": [words.places(row) for row in context[:SHOWN]],
        "sure": sureness(seen)[: SHOWN * secret.shape[1]].reshape(SHOWN, -1).tolist(),
        **repeated(privatizer, words),
    }


def sureness(seen: Seen) -> Any:
    """Return how likely the observer with context thinks each guess to be, in per cent."""
    attack = Context()
    candidates = seen.likelihoods.candidates(seen.outputs, np.log(seen.prior), attack.candidates)
    weighed = np.asarray(attack.weighed(seen, candidates)[2], dtype=np.float64)
    return (100.0 * weighed.max(axis=1) / weighed.sum(axis=1)).round().astype(int)


def repeated(privatizer: Privatizer, words: Words) -> dict[str, Any]:
    """Attack several releases of the same note, as one text in which each word occurs often."""
    length, shares, shown = len(re.findall(r"\w+", NOTE)), [], []
    for times in TIMES:
        texts = [" ".join([NOTE] * times)] * ROUNDS
        attack = Majority()
        drawn = attack.drawn(privatizer, [privatizer.word_draws(texts)], seeded_rng(0))
        guesses = attack.guesses(drawn.seen[0]).reshape(ROUNDS, -1)[:, :length]
        shares.append(share((guesses == drawn.secret[:length]).mean()))
        shown.append(words.places(guesses[0]))
    return {"together": shares, "together_guesses": shown}


def curve() -> dict[str, Any]:
    """Return the frontier: by mechanism, ε, the share recovered, and measures of utility."""
    points: dict[tuple[str, float], dict[str, float]] = {}
    bounds: dict[str, dict[str, float]] = {}
    with gzip.open(FRONTIER, "rt", encoding="utf-8") as file:
        for line in map(json.loads, file):
            setting = line["setting"]
            if setting["spread"] != "noise draws":
                continue
            if "control" in setting:
                own = bounds.setdefault(setting["mechanism"], {})
            else:
                own = points.setdefault((setting["mechanism"], setting["epsilon"]), {})
            own[line["measure"]] = line["ours"]
    mechanisms: dict[str, list[list[float]]] = {}
    for (name, epsilon), got in sorted(points.items()):
        recovered = max(got["success_alone"], got["success_context"])
        row = [epsilon, share(recovered), *(share(got[each]) for each in MEASURES)]
        mechanisms.setdefault(name, []).append(row)
    ends = {
        name: {each: share(own[each]) for each in MEASURES if each in own}
        for name, own in bounds.items()
        if name != "random table"
    }
    return {"measures": MEASURES, "mechanisms": mechanisms, "bounds": ends}


def share(value: float) -> float:
    """Round a share for the file."""
    return round(float(value), 4)


if __name__ == "__main__":
    FILE.write_text(json.dumps(built(), separators=(",", ":")) + "\n", "utf-8")
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
