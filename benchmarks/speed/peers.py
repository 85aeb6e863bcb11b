"""The peers' speed, each in an environment of its own, on the same words, vectors and text.

They are slow: what they do within a few seconds is enough.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from folders import HERE, VENVS, cached
from markdown import grid
from sizes import Size
from timing import say, spread
from zipf import of_tokens

import malaprop

TITLE = "Peers"
ABOUT = """\
Peers get the same words, vectors and text, in a process that has loaded them and replaced a first
word. Only the replacement of words is timed, which favours the peers. Some of their mechanisms are
not what their names say. Their speed is measured all the same.

"""
PEERS = {"pypantera": "1.0.2", "mldp-text": "0.1.2"}
NOISY_EPSILON = 10.0  # of Laplace and Mahalanobis, whose time does not depend on it
_BEGINNING = 10_000  # characters of the text; a peer that gets through starts again
_LIMIT = 1_800.0  # seconds, for all that a peer does


def rows(size: Size) -> list[dict[str, Any]]:
    """Words a second of each peer, for each mechanism and ε. A peer that fails is left out."""
    found = []
    for peer, version in PEERS.items():
        try:
            found += _measure(peer, version, size)
        except (subprocess.SubprocessError, RuntimeError) as error:
            print(f"  {peer} is left out: {error}", file=sys.stderr)
    if not found:
        raise RuntimeError("No peer could be measured: they are installed with pip, from PyPI.")
    return found


def _measure(peer: str, version: str, size: Size) -> list[dict[str, Any]]:
    script = HERE / f"peer_{peer.replace('-', '_')}.py"
    say(f"installing {peer} {version}, once")
    python = _environment(peer, version)
    cases = [("TEM", epsilon) for epsilon in size.epsilons]
    cases += [(name, NOISY_EPSILON) for name in ("Laplace", "Mahalanobis")]
    task = {
        "vectors": str(vectors()),
        "words": _sample(size),
        "cases": cases,
        "seconds": size.peer_time,
        "repeats": size.peer_repeats,
    }
    say(f"{peer}: {len(cases)} cases, {size.peer_repeats} times {size.peer_time:g} s each")
    command = [str(python), str(script)]
    done = subprocess.run(
        command, input=json.dumps(task), capture_output=True, text=True, timeout=_LIMIT
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    rates = json.loads(done.stdout.splitlines()[-1])
    return [
        {"peer": f"{peer} {version}", "mechanism": name, "epsilon": epsilon, "rates": measured}
        for (name, epsilon), measured in zip(cases, rates, strict=True)
    ]


def _environment(peer: str, version: str) -> Path:
    """The Python of an environment with that peer."""
    folder = VENVS / f"{peer}-{version}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", f"{peer}=={version}"]
        subprocess.run(install, check=True, capture_output=True, timeout=_LIMIT)
        ready.touch()
    return python


def vectors() -> Path:
    """The vectors of `english` as text, which both peers read; exact, as they are rounded."""
    path = cached("english.vectors.txt")
    if not path.exists():
        lexicon = malaprop.Lexicon.open("english")
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as file:
            for word, vector in zip(lexicon.words, lexicon.vectors.tolist(), strict=True):
                file.write(f"{word} {' '.join(map(repr, vector))}\n")
        part.rename(path)
    return path


def _sample(size: Size) -> list[str]:
    """The beginning of the text that Malaprop gets."""
    with of_tokens(size.tokens, size.every).open(encoding="utf-8") as file:
        return file.read(_BEGINNING).replace(".", "").split()[:-1]


def best(found: dict[str, Any], mechanism: str, epsilon: float) -> list[float] | None:
    """The rates of the fastest peer that has the mechanism, if one was measured."""
    fitting = [
        row["rates"]
        for row in found.get("peers", [])
        if (row["mechanism"], row["epsilon"]) == (mechanism, epsilon)
    ]
    return max(fitting, key=statistics.median, default=None)


def table(rows: list[dict[str, Any]], found: dict[str, Any]) -> str:
    """The peers' rates."""
    lines = [
        (row["peer"], row["mechanism"], f"{row['epsilon']:g}", spread(row["rates"], ".3g"))
        for row in rows
    ]
    return ABOUT + grid(("package", "mechanism", "ε", "words/s"), lines, left=2)
