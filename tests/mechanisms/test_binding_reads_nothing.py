"""`mechanism.on(lexicon)` reads no file, no folder and no environment variable."""

import subprocess
import sys

# Python's audit events tell of every file and folder that is opened. The first binding of each
# mechanism is not watched: it imports modules.
WATCH = """
import os, sys
import numpy as np
from malaprop import Lexicon, MetricError, registry

rng = np.random.Generator(np.random.PCG64(1))
words = [f"w{i}" for i in range(40)]
plane = Lexicon(words, rng.normal(size=(40, 2)))
ball = Lexicon(words, rng.normal(size=(40, 2)) / 8, "poincare")
small = [plane, ball, plane.with_graph()]
english = Lexicon.open("english")
some = Lexicon(english.words[:2500], english.vectors[:2500])  # all words take minutes
large = {
    "jaccard": [some],
    "nadp": [some],
    "": [english, english.with_graph(), Lexicon.open("english-hierarchy")],
}
watched, read = False, []


def bind(mechanism, lexicons):
    bound = []
    for lexicon in lexicons:
        try:
            bound.append(mechanism(epsilon=20.0).on(lexicon))
        except MetricError:  # of another geometry
            pass
    return bound


def hear(event, arguments):
    if watched and event in ("open", "os.scandir", "os.listdir"):
        read.append((event, str(arguments[0])))


def look_up(self, variable, get=type(os.environ).__getitem__):
    if watched:
        read.append(("environment", variable))
    return get(self, variable)


sys.addaudithook(hear)
type(os.environ).__getitem__ = look_up
for name, mechanism in registry.items():
    watched = False
    bind(mechanism, small)
    watched = True
    assert len(bind(mechanism, [*small, *large.get(name, large[""])])) > 1
watched = False
print(*read, sep="\\n", end="")
"""


def test_binding_reads_nothing() -> None:
    ended = subprocess.run([sys.executable, "-c", WATCH], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == ""
