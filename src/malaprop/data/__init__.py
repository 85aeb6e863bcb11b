"""What ships: lexicons, the vocabulary of unknown words, bigrams, capitals, antonyms, figures."""

from pathlib import Path

DATA = Path(__file__).parent
"""The folder of the files that ship. Other modules may move; this one stays with them."""
