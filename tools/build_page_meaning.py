"""Write what each ε means, for the page that `malaprop serve` shows.

    python tools/build_page_meaning.py

Writes src/malaprop/server/page/meaning.json, in about a minute. All figures are about public words
and a public sample of sentences. The page interpolates between them, so that its slider need not
wait for the service.
"""

import json
from pathlib import Path

import numpy as np

from malaprop import Lexicon
from malaprop.lexicon.graph import with_known_graph
from malaprop.measure.bayes import success_by_occurrences
from malaprop.measure.profile import context_curve
from malaprop.measure.word_statistics import statistics_of
from malaprop.mechanisms import mechanism_named
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.randomness import seeded_rng
from malaprop.privacy.word_graph import Steps
from malaprop.privatizer import Privatizer

TARGET = Path("src/malaprop/server/page/meaning.json")
UNMEASURED = {"priv-emb": (6.0, 8.0, 10.0, 12.0, 14.0, 17.0, 20.0)}
"""The ε of mechanisms for which nobody has measured what context tells."""
STEPS = {"balanced": 0.1, "tem": 0.02, "laplace": 0.5, "priv-emb": 0.5}
"""How fine the slider is; its ends are those of the figures."""
START = {"balanced": 1.5, "tem": 1.42, "laplace": 10.0, "priv-emb": 10.0}
WORDS = 256
OCCURRENCES = (1, 2, 3, 5, 10)
TRIALS = 400
_MADE = {"faithful": "readable", "fluent": "fluent"}


def main() -> None:
    """Compute the figures of all mechanisms of the page, and write them."""
    lexicon = Lexicon.open("english")
    told = {
        "lexicon": {"name": "english", "fingerprint": lexicon.fingerprint},
        "occurrences": OCCURRENCES,
        "mechanisms": {name: _mechanism(name, lexicon) for name in STEPS},
    }
    TARGET.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


def _mechanism(name: str, lexicon: Lexicon) -> dict[str, object]:
    mechanism = mechanism_named(name)
    space = with_known_graph(lexicon) if mechanism.needs == Steps.name else lexicon
    measured = {each.epsilon: each for each in context_curve(mechanism(epsilon=1.0), space)}
    points = []
    for epsilon in measured or UNMEASURED[name]:
        privatizer = Privatizer(space, mechanism(epsilon=epsilon))
        channel, rng = privatizer.channel, seeded_rng(0)
        point: dict[str, object] = {
            "epsilon": epsilon,
            "kept": round(privatizer.keeping.share, 4),
            "guessed": round(privatizer.guessed.share, 4),
        }
        if isinstance(channel, LawChannel):
            ids = word_ids(channel.lexicon, WORDS)
            plausible = statistics_of(channel, ids, "candidates", 100, rng)
            point["plausible"] = round(float(np.median(plausible)), 1)
            again = success_by_occurrences(channel, OCCURRENCES, trials=TRIALS, rng=rng)
            rising = np.maximum.accumulate([again[times].value for times in OCCURRENCES])
            point["repeats"] = [round(float(share), 3) for share in rising]
        if epsilon in measured:
            figure = measured[epsilon]
            shares = {"kept": figure.kept, "alone": figure.alone, "context": figure.context}
            shares |= {_MADE[name]: share for name, share in figure.readable.items()}
            point["sample"] = {key: round(value, 4) for key, value in shares.items()}
        points.append(point)
        print(name, point, flush=True)
    return {
        "step": STEPS[name],
        "start": START[name],
        "at_least": privatizer.guessed.at_least,
        "sample": next(iter(measured.values())).sample if measured else None,
        "prior": next(iter(measured.values())).prior if measured else None,
        "points": points,
    }


if __name__ == "__main__":
    main()
