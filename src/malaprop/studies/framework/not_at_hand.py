"""What papers used that neither the package nor the catalogue has, and how to get it."""

from typing import Final

FASTTEXT: Final = "fasttext"
GLOVE_42B: Final = "glove-42b"
GLOVE_200: Final = "glove-6b-200d"
VECTORS: Final = {
    FASTTEXT: f"malaprop lexicon import crawl-300d-2M.vec.zip --name {FASTTEXT} --limit 30000  "
    "(get the file from https://fasttext.cc/docs/en/english-vectors.html first)",
    GLOVE_42B: f"malaprop lexicon import glove.42B.300d.zip --name {GLOVE_42B}  "
    "(get it from https://nlp.stanford.edu/data/glove.42B.300d.zip first)",
    GLOVE_200: f"malaprop lexicon import glove.6B.200d.txt --name {GLOVE_200}  "
    "(get it out of https://nlp.stanford.edu/data/glove.6B.zip first)",
}
"""The command for each lexicon."""
ENCODERS: Final = {
    "InferSent": "a run of InferSent (https://github.com/facebookresearch/InferSent), a sentence "
    "encoder on PyTorch, which Malaprop does not run",
    "SkipThought": "a run of SkipThought (https://github.com/ryankiros/skip-thoughts), a sentence "
    "encoder on Theano, which Malaprop does not run",
}
"""Sentence encoders whose figures papers print beside their own."""
