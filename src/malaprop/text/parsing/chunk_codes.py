"""Encodes chunks, the strings between two spaces, as numbers.

Texts repeat themselves: most chunks have been seen before. A chunk is parsed once and remembered
as a number. From then on a text is a list of numbers, and all facts about it come from tables, for
all texts of a batch at once.

Why chunks may be parsed one by one: no token but whitespace and some values holds a space, none
a line feed, and no pattern looks back, or ahead beyond a space. So the tokens of a text are those
of its chunks, except for whitespace, which is shown as it is anyway, and for values such as
"3 May". Chunks that may be parts of one are found by how they begin and end, and `gluing` makes
one chunk of them.
"""

from collections.abc import Callable, Sequence
from itertools import islice, repeat

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.text.parsing.coded_texts import AWKWARD, CodedTexts
from malaprop.text.parsing.distinct_chunks import DistinctChunks, distinct_chunks
from malaprop.text.parsing.gluing import GLUE, glue_to_previous, glue_values
from malaprop.text.parsing.learning import OFFSET_BITS, ChunkLearner, ChunkTables
from malaprop.text.parsing.shapes import Records
from malaprop.text.policy import BoundPolicy

_ENTRIES = 2**18  # five million words of film reviews have as many different chunks
_LETTERS = 128
_TOO_LONG = "x" * (_LETTERS + 1)
_SHAPES = 2**14
_SEVERAL = 2**18  # ids of chunks with none or several words
_NEW = -1  # in place of the code of a chunk that was not seen before


class ChunkCodes(dict[str, int]):
    """Maps chunks to codes, and learns new ones. Not thread-safe."""

    def __init__(self, policy: BoundPolicy, words: int) -> None:
        super().__init__()
        self._policy, self._learner = policy, ChunkLearner(policy, words)

    @property
    def full(self) -> bool:
        """Whether the tables have grown so large that it is time to start afresh."""
        return len(self._learner.shape_table()) > _SHAPES or self._learner.several > _SEVERAL

    def tables(self) -> ChunkTables:
        """Return the tables for all chunks so far. Later chunks do not change them."""
        return self._learner.tables()

    def encode(self, texts: Sequence[str]) -> CodedTexts:
        """Encode texts as chunks."""
        before = len(self)
        texts = [_TOO_LONG if GLUE in text else text for text in texts]
        coded = self._encode(texts)
        coded = self._glue(texts, coded, CodedTexts.joined, self._glue_values)
        coded = self._glue(texts, coded, CodedTexts.vanishing, glue_to_previous)
        self._forget(before)
        return coded

    def _forget(self, before: int) -> None:
        """Forget the chunks of the texts before, if there are too many in all.

        Not earlier: texts that are glued are encoded again, and their chunks are known then.
        """
        if len(self) > _ENTRIES:
            kept = list(islice(self.items(), before, before + _ENTRIES))
            self.clear()
            self.update(kept)

    def _glue(
        self,
        texts: list[str],
        coded: CodedTexts,
        find: Callable[[CodedTexts, Records], Ids],
        glue: Callable[[str, list[int]], str],
    ) -> CodedTexts:
        """Glue chunks of texts, in the list itself, and return its new codes."""
        places = coded.by_text(find(coded, self._learner.shape_table()))
        if not places:
            return coded
        for text, chunks in places.items():
            texts[text] = glue(texts[text], chunks)
        return coded.with_others(np.array(list(places)), self._encode([texts[i] for i in places]))

    def _glue_values(self, text: str, joined: list[int]) -> str:
        return glue_values(text, joined, self._policy.cut)

    def _encode(self, texts: Sequence[str]) -> CodedTexts:
        chunks = distinct_chunks(texts)
        if long := _long_texts(chunks):
            # They go token by token: to learn their words here, too, would take twice the time.
            chunks = distinct_chunks(
                [_TOO_LONG if number in long else text for number, text in enumerate(texts)]
            )
        codes = self._codes_of(chunks.distinct)
        offsets = codes & ((1 << OFFSET_BITS) - 1)
        shapes = codes >> OFFSET_BITS
        return CodedTexts(shapes[chunks.numbers], offsets[chunks.numbers], chunks.lengths)

    def _codes_of(self, chunks: list[str]) -> Ids:
        codes = np.array(list(map(self.get, chunks, repeat(_NEW))), dtype=np.int64)
        places = np.flatnonzero(codes == _NEW)
        if places.size:
            codes[places] = self._learn([chunks[place] for place in places.tolist()])
        return codes

    def _learn(self, chunks: list[str]) -> Ids:
        """Return the codes of new chunks, and remember them, but for long ones."""
        long = [place for place, chunk in enumerate(chunks) if len(chunk) > _LETTERS]
        for place in long:
            chunks[place] = ""
        codes = self._learner.learn(chunks)
        self.update(zip(chunks, codes.tolist(), strict=True))
        codes[long] = AWKWARD
        return codes


def _long_texts(chunks: DistinctChunks) -> set[int]:
    """Return which texts have a chunk that is too long, and more than that."""
    long = [n for n, chunk in enumerate(chunks.distinct) if len(chunk) > _LETTERS]
    if not long:
        return set()
    places = np.flatnonzero(np.isin(chunks.numbers, long))
    texts = np.searchsorted(np.cumsum(chunks.lengths), places, side="right")
    return set(texts[chunks.lengths[texts] > 1].tolist())
