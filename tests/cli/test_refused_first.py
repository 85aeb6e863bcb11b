"""What can be refused is refused before anything is opened, read, prepared or written."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

from malaprop import Lexicon
from malaprop.files.run import Job
from malaprop.lexicon import store
from malaprop.privacy.errors import DataError
from malaprop.privatizer import Privatizer

WORK = "work was begun"
FILES = {
    "texts.txt": "the doctor is cold\n",
    "texts.csv": "id,text,who\n1,the doctor is cold,a\n",
    "vectors.vec": "cold 0 0\nhot 1 1\n",
    "words.txt": "cold\nhot\n",
    "many.txt": "".join(f"word{number}\n" for number in range(501)),
    "prior.txt": "cold much\n",
    "taken.json": "{}",
    "taken.md": "taken",
    "taken.txt": "taken",
    "taken.npy": "taken",
    "taken.vec": "taken",
    "pairs.tsv": "dog\tanimal\n",
    "lines.jsonl": "",
}
STRANGE = {
    "-m teem": "Did you mean 'tem'",
    "-e x": "epsilon",
    "-e 0": "epsilon",
    "-p zeta=1": "has no parameter 'zeta'",
    "-p zeta": "NAME=VALUE",
}
OUTPUTS = {
    "--json taken.json": "exist",
    "--report taken.md": "exist",
    "--json none/x.json": "none",
    "--report none/x.md": "none",
    "--json .": "folder",
    "--report x.pdf": "pdf",
    "--json x.md --report x.md": "the same file",
}
WORDS = {
    "--words 0": "1 word or more",
    "--words nowhere.txt": "not there",
}
PRIOR = {"--prior nowhere.txt": "not there", "--prior prior.txt": "WORD NUMBER"}
TABLE = {
    "audit -e 1": STRANGE
    | OUTPUTS
    | WORDS
    | {
        "--words 2000": "up to 500",
        "--words 501": "up to 500",
        "--words many.txt": "up to 500",
        "--words 0 --sampled": "1 word or more",
        "--sampled --draws 10": "1000",
        "--pairs 3": "--sampled",
        "--draws 5000": "--sampled",
    },
    "stats -e 1": STRANGE
    | OUTPUTS
    | WORDS
    | PRIOR
    | {
        "--runs 1": "equal to 10",
        "--reused": "--occurrences",
        "--occurrences 0": "greater than or equal",
    },
    "calibrate --kept 0.3": OUTPUTS,
    "calibrate": {
        "": "one target",
        "--kept 0.3 --success 0.3": "one target",
        "--kept 1.5": "kept",
        "--kept 0.3 --worst 1": "worst",
        "--success 0.3 --worst 0.1": "worst",
        "--success 0": "success",
        "--similarity 3": "similarity",
        "--candidates 0": "candidates",
        "--kept 0.3 -m teem": "Did you mean 'tem'",
        "--kept 0.3 -p beta=1": "has no parameter 'beta'",
        "--kept 0.3 --words 1": "2 words or more",
        "--kept 0.3 --words 0": "2 words or more",
        "--kept 0.3 --words nowhere.txt": "not there",
        "--kept 0.3 --prior frequency": "--prior goes with --success",
        "--kept 0.3 --occurrences 2": "--occurrences goes with --success",
        "--success 0.3 --prior nowhere.txt": "not there",
        "--like tem": "tem:1.5",
        "--like teem:1": "Did you mean 'tem'",
        "--like tem:x": "ε must be a number",
        "--success 0.3 --sample texts.txt": "--context",
        "--success 0.3 --context --column x": "--sample",
        "--success 0.3 --context --sample nowhere.txt": "no file",
        "--success 0.3 --context --words 3": "alone",
        "--kept 0.3 --context": "alone",
        "--correlation 0.9": "--vectors",
        "--vectors vectors.vec": "one target",
        "--vectors vectors.vec --correlation 2": "correlation",
        "--vectors vectors.vec --correlation 0.9 --inversion 0.1": "one target",
        "--vectors vectors.vec --correlation 0.9 -m tem": "no vectors",
        "--vectors vectors.vec --correlation 0.9 --words 3": "--words",
        "--vectors nowhere.vec --correlation 0.9": "no file",
        "--vectors vectors.vec --kept 0.3": "--kept",
        "--lambda-grid 0,0.5": "--lambda-grid goes with",
        "-m mahalanobis -e 1 --lambda-grid 0,x --kept 0.3": "list of numbers",
        "-m mahalanobis -e 1 --lambda-grid 0,2 --kept 0.3": "from 0 to 1",
        "-m mahalanobis -e 1 --lambda-grid 0,0.5": "one bound",
        "-m mahalanobis -e 1 --lambda-grid 0,0.5 --kept 3": "kept",
        "-m mahalanobis -e 0 --lambda-grid 0,0.5 --kept 0.3": "epsilon",
        "-m mahalanobis -e 1 --lambda-grid 0,0.5 --kept 0.3 --words 0": "1 word or more",
    },
    "explain cold -e 1": STRANGE
    | {
        "--top 0": "greater than or equal",
        "--step date": "KIND=STEP",
        "--step weight=3": "weight",
        "--kind-epsilon 0": "--kind-epsilon",
        "--kinds words --kind-epsilon 1": "--kinds typed",
    },
    "attack bayes texts.txt -e 1": STRANGE
    | OUTPUTS
    | {
        "--label who": "takes no --label",
        "--no-punctuation": "takes no --no-punctuation",
        "--model nowhere": "no bigram model",
        "--json texts.txt": "is the input",
        "--encoding nonsense": "encoding",
    },
    "attack teem texts.txt -e 1": {"": "Unknown attack"},
    "attack frequency texts.txt -e 1": {"": "--repeat document"},
    "attack inversion texts.txt -e 1": {"-m tem": "vectors"},
    "attack authorship texts.csv -e 1 -c text": {
        "": "--label",
        "--label who --model nonsense": "nonsense",
        "--label text": "label cannot be the text",
    },
    "attack bayes nowhere.txt -e 1": {"": "no file"},
    "attack bayes texts.xyz -e 1": {"": "no file"},
    "evaluate texts.txt": OUTPUTS
    | {
        "-m teem": "Did you mean 'tem'",
        "-e x": "number",
        "-e 0": "epsilon",
        "--most 2": "--most",
        "--attacks teem": "Unknown attack",
        "--attacks inversion": "not on texts",
        "--attacks frequency": "--repeat document",
        "--attacks authorship": "label",
        "--classifiers teem": "Unknown model",
        "--label who": "--column",
        "--model nowhere": "no bigram model",
        "--json texts.txt": "is the input",
    },
    "evaluate nowhere.txt": {"": "no file"},
    "privatize texts.txt -o out.txt -e 1": STRANGE
    | {
        "--step date": "KIND=STEP",
        "--step weight=3": "weight",
        "--kind-epsilon 0": "--kind-epsilon",
        "--kinds words --kind-epsilon 1": "--kinds typed",
        "--keep-file nowhere.txt": "cannot be read",
        "--report taken.md": "exist",
        "--report none/x.md": "none",
        "--report x.pdf": "pdf",
        "--report texts.txt": "txt",
        "--encoding nonsense": "encoding",
        "--master yarn": "--engine spark",
        "-c text": "column",
    },
    "privatize texts.txt -e 1": {
        "": "an output is needed",
        "-o taken.txt": "exist",
        "-o none/out.txt": "none",
        "-o texts.txt": "input",
        "-o out.csv": "format",
    },
    "privatize nowhere.txt -o out.txt -e 1": {"": "no file"},
    "release vectors.vec -o out.vec -e 1": STRANGE
    | {
        "-m tem": "releases no vectors",
        "--public nowhere.vec": "no file",
        "--scale 0": "scale",
        "--report taken.md": "exist",
        "--report none/x.md": "none",
    },
    "release vectors.vec -e 1": {
        "-o taken.vec": "exist",
        "-o none/out.vec": "none",
        "-o out.npy": "format",
    },
    "embed texts.txt -o out.npy -e 1": STRANGE
    | {
        "-m tem": "releases no vectors",
        "--public nowhere.vec": "no file",
        "--scale 0": "scale",
        "--report taken.md": "exist",
        "--report none/x.md": "none",
        "--encoding nonsense": "encoding",
    },
    "embed texts.txt -e 1": {
        "-o taken.npy": "exist",
        "-o none/out.npy": "none",
        "-o out.vec": "npy",
    },
    "lexicon import vectors.vec": {
        "--name english": "embedded",
        "--name A/B": "name of a lexicon",
        "--name x --metric teem": "metric",
        "--name x --limit 0": "limit",
        "--name small": "exists already",
        "--name x --vocabulary nowhere.txt": "vocabulary",
    },
    "lexicon import nowhere.vec --name x": {"": "cannot be read"},
    "lexicon audit english": {"--gamma 0": "γ", "--epsilon 0": "ε"},
    "lexicon neighbours cold": {"--count 0": "greater than or equal"},
    "lexicon train-poincare pairs.tsv": {
        "--name english": "embedded",
        "--name small": "exists already",
        "--name x --dim 0": "dim",
        "--name x --epochs 0": "epochs",
        "--name x --rate 0": "rate",
        "--name x --negatives 0": "negatives",
        "--name x --seed -1": "seed",
        "--name x --words english": "--wordnet",
        "--name x --wordnet .": "one of them",
    },
    "lexicon train-poincare": {
        "--name x": "one of them",
        "--name english --wordnet . --words english": "embedded",
        "--name x --wordnet nowhere --words english": "nowhere",
    },
    "lm train texts.txt": {
        "-o taken.json": "taken.json",
        "-o none/model": "none",
        "-o model --encoding nonsense": "encoding",
        "-o model --column text": "column",
    },
    "lm train nowhere.txt -o model": {"": "no file"},
    "data fetch teem": {"": "teem"},
    "data fetch mr teem": {"": "teem"},
    "data fetch mr": {"--timeout 0": "greater than or equal"},
    "data list teem": {"": "teem"},
    "data add nowhere.txt": {"": "nowhere.txt"},
    "reproduce teem": {"": "Did you mean 'tem'"},
    "reproduce tem": {
        "--item fig99": "fig99",
        "--json taken.json": "exists",
        "--json none/x.json": "none",
        "--report taken.md": "exists",
        "--report none/x.md": "none",
        "--report x.pdf": "html",
        "--from nowhere.jsonl": "No such file",
        "--json x.md --report x.md": "the same file",
    },
    "reproduce all": {"--item fig99": "fig99"},
    "bench frontier": {
        "--json taken.json": "exists",
        "--json none/x.json": "none",
        "--report taken.md": "exists",
        "--report none/x.md": "none",
        "--report x.pdf": "html",
        "--from nowhere.jsonl": "No such file",
    },
}
CALLS = [(f"{call} {more}", says) for call, mores in TABLE.items() for more, says in mores.items()]


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch, lexicon_file: Path, home: Path, cli: Cli) -> None:
    """Let whatever takes long, or reads the user's files, fail."""
    assert cli("lexicon", "import", lexicon_file, "--name", "small").code == 0

    def begun(*_: Any, **__: Any) -> Any:
        raise DataError(WORK)

    monkeypatch.setattr(Lexicon, "open", begun)
    monkeypatch.setattr(Lexicon, "__init__", begun)
    monkeypatch.setattr(store, "load", begun)
    monkeypatch.setattr(store, "write", begun)
    monkeypatch.setattr(Privatizer, "__init__", begun)
    monkeypatch.setattr(Job, "open_source", begun)
    monkeypatch.setattr("malaprop.files.vector_formats.read_some", begun)
    monkeypatch.setattr("malaprop.files.release_vectors.read_some", begun)
    monkeypatch.setattr("malaprop.files.release_vectors.open_vectors", begun)
    monkeypatch.setattr("malaprop.lab.poincare.read_pairs", begun)
    monkeypatch.setattr("malaprop.lab.poincare.WordNet.relations", begun)
    monkeypatch.setattr("malaprop.lab.poincare.train", begun)
    monkeypatch.setattr("malaprop.lab.studies.reproduction._Bench.lines", begun)
    monkeypatch.setattr("malaprop.lab.datasets.fetch", begun)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(("call", "says"), CALLS, ids=[call for call, _ in CALLS])
def test_it_is_refused_first(cli: Cli, folder: Path, call: str, says: str) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    ended = cli(*shlex.split(call))
    assert ended.code in (1, 2)
    assert WORK not in ended.err
    assert says in ended.flat
    assert {path.name for path in folder.iterdir()} == FILES.keys()
