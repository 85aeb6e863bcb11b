"""Build server/page/maps.json: the two small lexicons on which the page draws mechanisms.

    python tools/build_page_maps.py

`words` is a map: everyday words of `english`, placed in the plane by t-SNE of their 300-dimensional
vectors. One unit is the median distance between a word and its nearest word. `tree` is a disk:
the words of a small tree, written by hand below, on circles around its root in the Poincaré disk.
Each is a lexicon of two dimensions in its own right: the service adds a mechanism's noise to these
places, and decodes to the nearest of them.
"""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from malaprop import Laplace, Lexicon, seeded_rng
from malaprop.privacy.arrays import Floats

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "src/malaprop/server/page/maps.json"
FRONTIER = ROOT / "docs/studies/frontier.jsonl.gz"
EPSILON = 14.0  # of Laplace, whose figures the frontier has
DRAWS = 300  # of each word of the map
WORDS = {
    "illness": "diabetes asthma cancer depression fever cough flu stroke pain infection",
    "treatment": "insulin aspirin surgery vaccine therapy pills antibiotics",
    "care": "doctor nurse surgeon patient hospital pharmacy dentist",
    "body": "heart lung brain liver knee skin blood",
    "family": "mother father sister brother daughter son wife husband baby",
    "work": "teacher lawyer farmer engineer soldier actor cook",
    "place": "london paris berlin madrid boston chicago tokyo leeds",
    "food": "bread cheese apple rice soup coffee tea wine beer",
    "animal": "dog cat horse cow sheep wolf bird fish",
    "home": "house kitchen garden table chair sofa window",
    "travel": "car bus train bicycle plane ship road",
    "time": "monday friday summer winter morning evening",
    "feeling": "happy sad angry afraid lonely proud love hate",
    "sport": "football tennis swimming golf hockey",
    "money": "bank loan salary tax debt price",
}
# A word, and its parts: a tree.
Tree = dict[str, "Tree"]
TREE: Tree = {
    "thing": {
        "illness": {
            "infection": {"flu": {}, "measles": {}, "malaria": {}},
            "cancer": {"leukemia": {}, "melanoma": {}},
            "disorder": {"diabetes": {}, "asthma": {}, "depression": {}},
        },
        "drug": {
            "antibiotic": {"penicillin": {}, "amoxicillin": {}},
            "painkiller": {"aspirin": {}, "ibuprofen": {}, "morphine": {}},
            "hormone": {"insulin": {}, "estrogen": {}},
        },
        "person": {
            "doctor": {"surgeon": {}, "dentist": {}},
            "relative": {"mother": {}, "father": {}, "sister": {}},
            "worker": {"teacher": {}, "farmer": {}, "cook": {}},
        },
        "animal": {
            "bird": {"eagle": {}, "owl": {}, "robin": {}},
            "dog": {"poodle": {}, "terrier": {}},
            "insect": {"ant": {}, "bee": {}, "wasp": {}},
        },
        "place": {
            "city": {"london": {}, "paris": {}, "leeds": {}},
            "building": {"hospital": {}, "school": {}},
            "country": {"france": {}, "spain": {}},
        },
    }
}
RADII = (0.0, 1.2, 2.2, 3.3)  # of the tree's circles: hyperbolic distances from the root
WIDE = 1.6  # how much wider than high the map is
ROUNDS = 6  # of Lloyd's relaxation
DIGITS = 3


def built() -> dict[str, Any]:
    """Return the content of the file."""
    english = Lexicon.open("english")
    words = [word for group in WORDS.values() for word in group.split()]
    places = flattened(english.vectors[[english.index[word] for word in words]])
    names, parents, disk = planted(TREE)
    return {
        "words": {
            "source": f"t-SNE of the vectors of english, fingerprint {english.fingerprint[:16]}",
            "fingerprint": english.fingerprint,
            "metric": "euclidean",
            "words": words,
            "groups": [name for name, group in WORDS.items() for _ in group.split()],
            "vectors": places.round(DIGITS).tolist(),
        },
        "tree": {
            "source": "a tree written by hand, on circles around its root",
            "metric": "poincare",
            "words": names,
            "parents": parents,
            "vectors": disk.round(2 * DIGITS).tolist(),
        },
        "truth": truth(english, Lexicon(words, places)),
    }


def truth(english: Lexicon, flat: Lexicon) -> dict[str, Any]:
    """Return how long Laplace noise is in the real lexicon, and on the map where as much stays."""
    lines = [json.loads(line) for line in gzip.decompress(FRONTIER.read_bytes()).splitlines()]
    setting = {"mechanism": "laplace", "epsilon": EPSILON, "spread": "noise draws"}
    found = {
        line["measure"]: line["ours"]
        for line in lines
        if setting.items() <= line["setting"].items()
    }
    dimensions = english.vectors.shape[1]
    low, high = 0.1, 20.0
    for _ in range(20):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if stays(flat, middle) > found["kept"] else (middle, high)
    return {
        "words": len(english),
        "dimensions": dimensions,
        "epsilon": EPSILON,
        "kept": round(found["kept"], DIGITS),
        "gap": round(found["loss_of_nearest"] / EPSILON, DIGITS),
        "length": round(dimensions / EPSILON, DIGITS),
        "flat_epsilon": round(low, DIGITS),
        "flat_length": round(2.0 / low, DIGITS),
    }


def stays(flat: Lexicon, epsilon: float) -> float:
    """Return the share of the draws of all words of the map that are the word itself."""
    ids = np.repeat(np.arange(len(flat)), DRAWS)
    return float(np.mean(Laplace(epsilon=epsilon).on(flat).substitute(ids, seeded_rng(0)) == ids))


def flattened(vectors: Any) -> Floats:
    """Return places in the plane, such that the median distance to the nearest place is 1.

    Lloyd's relaxation moves them apart, so that each has room for its name: t-SNE keeps who is near
    whom, and no distances that would be lost here.
    """
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]

    exact = np.asarray(vectors, dtype=np.float64)
    flat = TSNE(
        perplexity=12, init="pca", method="exact", random_state=0, max_iter=3000, metric="cosine"
    ).fit_transform(exact)
    centred = np.asarray(flat, dtype=np.float64) - flat.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1]  # the longer axis lies across
    ranks = np.argsort(np.argsort(turned, axis=0), axis=0)
    places = ((turned / np.abs(turned).max(axis=0) + 2.0 * ranks / len(ranks) - 1.0) / 2.0) * [
        WIDE,
        1.0,
    ]
    across, down = np.meshgrid(np.linspace(-WIDE, WIDE, 450), np.linspace(-1.0, 1.0, 300))
    ground = np.stack([across.ravel(), down.ravel()], axis=1)
    for _ in range(ROUNDS):
        owner = np.linalg.norm(ground[:, None] - places[None], axis=2).argmin(axis=1)
        sizes = np.bincount(owner, minlength=len(places))[:, None]
        sums = np.stack([np.bincount(owner, part, len(places)) for part in ground.T], axis=1)
        places = np.where(sizes > 0, sums / np.maximum(sizes, 1), places)
    return np.asarray(places / np.median(gaps(places)))


def gaps(places: Floats) -> Floats:
    """Return the distance of each place to the nearest other one."""
    between = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(between, np.inf)
    return np.asarray(between.min(axis=1))


def planted(tree: Tree) -> tuple[list[str], list[int], Floats]:
    """Return the words of a tree, the number of each one's parent (−1), and places in the disk.

    Each leaf has the same angle; a word stands in the middle of its leaves, on the circle of its
    depth.
    """
    names: list[str] = []
    parents: list[int] = []
    angles: list[float] = []
    depths: list[int] = []
    turn = 2.0 * math.pi / leaves(tree)

    def plant(branch: Tree, parent: int, depth: int, start: float) -> None:
        for word, below in branch.items():
            own, share = len(names), turn * leaves({word: below})
            names.append(word)
            parents.append(parent)
            angles.append(start + share / 2.0)
            depths.append(depth)
            plant(below, own, depth + 1, start)
            start += share

    plant(tree, -1, 0, 0.0)
    radii = np.tanh(np.array(RADII)[depths] / 2.0)  # in the Poincaré disk
    places = radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return names, parents, places


def leaves(tree: Tree) -> int:
    """Return how many words of a tree have none below them."""
    return sum(leaves(below) if below else 1 for below in tree.values())


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(built(), separators=(",", ":")) + "\n", "utf-8")
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
