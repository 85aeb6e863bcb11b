"""What ships with the package: lexicons, the vocabulary of unknown words, bigrams, figures."""

from pathlib import Path


def data_folder() -> Path:
    """Return the folder of the files that ship. Other modules may move; this one stays with them.

    >>> (data_folder() / "english" / "words.txt").is_file()
    True
    """
    return Path(__file__).parent
