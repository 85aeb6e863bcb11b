"""What a channel does to words: audits from public data alone, and attacks on the owner's texts.

attack        privatize texts, attack the result: the share of words that an observer recovers
attacks       the attacks, by name
train_model   a bigram model of a public corpus, for attacks with context
audit         the worst loss of a channel, exactly
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malaprop.lexicon.bigrams import BigramModel, open_model, save_model
    from malaprop.measure.attacking.base import attacks
    from malaprop.measure.attacking.result import AttackResult
    from malaprop.measure.attacking.run import attack
    from malaprop.measure.attacking.training import train_model

__all__ = [
    "AttackResult",
    "BigramModel",
    "attack",
    "attacks",
    "open_model",
    "save_model",
    "train_model",
]

# Imported when they are asked for: the audit needs none of them.
_HOMES = {
    "lexicon.bigrams": "BigramModel open_model save_model",
    "measure.adversaries": "attacks",
    "measure.attacking.result": "AttackResult",
    "measure.attacking.run": "attack",
    "measure.attacking.training": "train_model",
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names.split():
            value = getattr(importlib.import_module(f"malaprop.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'malaprop.measure' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
