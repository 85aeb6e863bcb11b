"""Names, words and values cannot command the terminal: no command shows their control characters.

In the arguments below, `@` stands for a name that sets the title of the terminal, turns the
direction of writing around, and forges a line.
"""

import ast
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import VECTORS, Cli, Ended

from malaprop.lab.studies.study import Line, Verdict, written

NAME = "e\x1b]0;pwn\x07\x9b1m\x7f\u202e\u2066\u2028\r\nFAKE x"
WORD = "e\u202e\u2066x"  # what the words of a lexicon may hold
CLI = Path(__file__).parents[2] / "src" / "malaprop" / "cli"
LINE = Line(
    study="nadp",
    item="clear",
    setting={"mechanism": NAME, "published": True, "tau": 0.5, "epsilon": 1.0},
    measure=NAME,
    ours=7,
    claims=(Verdict(claim=NAME),),
    command=f"run  {NAME}",
)
LEXICON = "-l @.vec"
PRIVATIZE = f"-e 1 {LEXICON} --workers 1"
MEASURED = f"-e 2 -m tem {LEXICON}"

COMMANDS = [
    # Files, columns and lexicons that are there.
    f"privatize @.jsonl -o out@.jsonl -c @ --on-error skip {PRIVATIZE}",
    f"privatize @.jsonl -o out@.jsonl -c @ --on-error mask {PRIVATIZE}",
    f"privatize @.jsonl -o out@.jsonl -c @ {PRIVATIZE}",
    f"privatize @.csv -o out@.csv -c @ --keep {WORD} {PRIVATIZE}",
    f"privatize @.csv @.txt -o folder@ -c @ {PRIVATIZE}",
    "release @.npy -o out@.npy -e 1 -m laplace --public @.npy",
    "release @.npz -o out@.npz -e 1 -m laplace -c @",
    "release @.npz -o out@.npz -e 1 -m laplace",
    f"embed @.csv -o out@.npy -c @ {LEXICON} -e 1 -m laplace",
    f"audit {MEASURED}",
    f"audit {MEASURED} --words @.words --json -",
    f"audit {MEASURED} --sampled --pairs 2 --draws 1000",
    f"attack bayes @.csv -c @ {MEASURED}",
    f"attack bayes @.csv -c @ {MEASURED} --json -",
    f"stats {MEASURED} --words @.words --prior @.prior",
    f"stats {MEASURED} --json -",
    f"calibrate -m tem {LEXICON} --kept 0.4",
    f"calibrate -m tem {LEXICON} --kept 0.4 --json -",
    "calibrate --vectors @.npy -m laplace --correlation 0.5",
    f"explain {WORD} {MEASURED}",
    f"explain @ {MEASURED}",
    f"evaluate @.csv -c @ {MEASURED} --runs 1 --show 2",
    f"evaluate @.csv -c @ {MEASURED} --runs 1 --json -",
    "lexicon info @.vec",
    f"lexicon neighbours {WORD} {LEXICON}",
    "lexicon audit @.vec",
    "lexicon graph @.vec",
    "lexicon import @.vec --name plain",
    "lexicon extend @.vec @.txt --name longer --vectors @.vec",
    "lexicon subset @.vec --without @.txt --name shorter",
    "lexicon subset @.vec --keep @.vec --name shorter",
    f"lm train @.csv -c @ -o model@ {LEXICON}",
    "reproduce nadp --from @.lines",
    "reproduce nadp --from @.lines --json -",
    # Values that are refused, in any place.
    "@",
    "privatize --@",
    *(
        f"privatize @.csv -o out.csv -c @ {PRIVATIZE} {option} @"
        for option in [
            "--format",
            "--document",
            "--delimiter",
            "--encoding",
            "--unknown",
            "--punctuation",
            "--kinds",
            "--kind-epsilon",
            "--step",
            "--dates",
            "--repeat",
            "--keep",
            "--keep-file",
            "--markup",
            "--report",
            "--seed",
            "--on-error",
            "--workers",
            "--engine",
            "--master",
            "-e",
            "-m",
            "-p",
            "-l",
            "-c",
        ]
    ),
    f"privatize no@.csv -o out.csv {PRIVATIZE}",
    f"privatize @.csv -o @.csv -c @ {PRIVATIZE}",
    f"privatize @.csv -o @.txt -c @ --format csv {PRIVATIZE}",
    f"privatize @.jsonl -o out.jsonl -c a.@[].b {PRIVATIZE}",
    "privatize bad.vec -o out.txt -e 1 -l @/no.vec",
    "release @.npz -o out.npz -e 1 -c no@",
    "release @.npy -o @.npy -e 1",
    "release @.npy -o out.npy -e 1 --public no@.npy",
    "embed @.csv -o out.npy -e 1 -c no@",
    "embed @.csv -o out.@ -e 1 -c @",
    *(f"{command} -e 2 -l no@" for command in ("audit", "stats", "explain cold")),
    *(f"{command} -e 2 -m no@" for command in ("audit", "stats", "explain cold")),
    *(f"{command} {MEASURED} --words no@" for command in ("audit", "stats")),
    *(f"{command} {MEASURED} --json @.csv" for command in ("audit", "stats")),
    *(f"{command} {MEASURED} --report no@" for command in ("audit", "stats")),
    f"stats {MEASURED} --prior no@",
    f"attack no@ @.csv -c @ {MEASURED}",
    f"attack bayes @.csv -c no@ {MEASURED}",
    f"attack authorship @.csv -c @ --label no@ {MEASURED}",
    f"attack bayes @.csv -c @ --model no@ {MEASURED}",
    f"calibrate -m tem {LEXICON} --like no@:2",
    f"calibrate -m tem {LEXICON} --success 0.3 --context --sample no@",
    "calibrate --vectors no@ -m laplace --correlation 0.5",
    f"evaluate no@.csv -c @ {MEASURED}",
    f"evaluate @.csv -c no@ {MEASURED}",
    f"evaluate @.csv -c @ --label no@ {MEASURED}",
    f"evaluate @.csv -c @ {MEASURED} --attacks no@",
    f"evaluate @.csv -c @ {MEASURED} --classifiers no@ --label label",
    f"evaluate @.csv -c @ {MEASURED} --report no@",
    f"lexicon neighbours no@ {LEXICON}",
    *(f"lexicon {command} no@" for command in ("info", "audit", "graph")),
    "lexicon import no@.vec --name x",
    "lexicon import @.vec --name @",
    "lexicon import @.vec --name x --metric @",
    "lexicon import @.npy --name x --vocabulary no@",
    "lexicon train-poincare no@ --name x",
    "lexicon train-poincare @.csv --name x",
    "lexicon train-poincare --wordnet no@ --name x",
    "lexicon @",
    "data list @",
    "data fetch @",
    "data add @.csv",
    "data add no@",
    f"lm train no@ -o model {LEXICON}",
    f"lm train @.csv -c no@ -o model {LEXICON}",
    f"lm train @.csv -c @ -o @.csv {LEXICON}",
    "reproduce @",
    "reproduce nadp --item @",
    "reproduce nadp --from no@",
    "reproduce nadp --from @.csv",
    "reproduce nadp --from @.lines --report no@",
    "bench @",
    "bench frontier --from @.lines",
    "bench frontier --report no@",
]


@pytest.fixture
def hostile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the files, their columns and the words of a lexicon have such names."""
    monkeypatch.setenv("MALAPROP_STATE", str(folder.parent / "state"))
    monkeypatch.setenv("MALAPROP_HOME", str(folder.parent / "home"))
    texts = ["the patient is cold", "one nurse is cool", f"the {WORD} is hot", "a patient is warm"]
    head = f'"{NAME}",label,"other{NAME}"\n'
    rows = "".join(f'{texts[i % 4]},"{NAME}{i % 2}",1\n' for i in range(12))
    objects = [json.dumps({NAME: text, f"other{NAME}": 1}) for text in texts]
    vectors = VECTORS | {WORD: (5.0, 5.0), f"{WORD}2": (5.5, 5.0)}
    files = {
        ".csv": head + rows,
        ".jsonl": "\n".join([*objects, json.dumps({NAME: 1}), "{"]),
        ".txt": "\n".join(texts),
        ".vec": "".join(f"{word} {x} {y}\n" for word, (x, y) in vectors.items()),
        ".words": f"{WORD}\ncold\n",
        ".prior": "".join(f"{word} 1\n" for word in vectors),
        ".lines": written([LINE]),
    }
    for ending, text in files.items():
        (folder / f"{NAME}{ending}").write_text(text, "utf-8", newline="")
    cloud = np.random.Generator(np.random.PCG64(1)).normal(size=(40, 3)).astype(np.float32)
    np.save(folder / f"{NAME}.npy", cloud)
    arrays: dict[str, Any] = {NAME: cloud, f"other{NAME}": cloud}
    np.savez(folder / f"{NAME}.npz", **arrays)
    (folder / "bad.vec").write_text("cold 1 2\n")
    return folder


def call(cli: Cli, command: str) -> Ended:
    return cli(*(argument.replace("@", NAME) for argument in command.split(" ")))


def unseen_in(text: str) -> set[str]:
    return {sign for sign in text if not (sign.isprintable() or sign == "\n")}


def forged_in(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.lstrip().startswith("FAKE")]


def assert_harmless(text: str) -> None:
    assert unseen_in(text) == set()
    assert forged_in(text) == []


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_shows_control_characters(cli: Cli, command: str) -> None:
    ended = call(cli, command)
    assert ended.text + ended.err
    assert "internal error" not in ended.err
    assert_harmless(ended.text)
    assert_harmless(ended.err)


@pytest.mark.usefixtures("hostile")
def test_the_list_of_lexicons_is_harmless(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from malaprop.lexicon import store

    assert call(cli, "lexicon import @.vec --name plain").code == 0
    (place,) = store.imported().values()
    monkeypatch.setattr(store, "imported", lambda: {NAME: place})
    ended = cli("lexicon", "list")
    assert "pwn" in ended.text
    assert_harmless(ended.text)


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("command", [COMMANDS[0], f"stats {MEASURED}", "lexicon graph @.vec"])
def test_progress_on_a_terminal_is_harmless(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda stream: True)
    ended = call(cli, command)
    assert ended.code == 0
    shown = ended.text + ended.err
    assert "\x1b[" in shown  # the styles are ours
    for part in ("\x1b]", "\x07", "\x9b", "\x7f", "\u202e", "\u2066", "\u2028", "\nFAKE"):
        assert part not in shown, ascii(part)


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("lexicon", ["[/bold]", "[red]x"])
def test_names_are_no_styles(cli: Cli, monkeypatch: pytest.MonkeyPatch, lexicon: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda stream: True)
    ended = cli("explain", "cold", "-e", "1", "-l", lexicon)
    assert ended.code == 2
    assert f"preparing balanced on {lexicon}" in ended.err


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("ending", [".md", ".html", ".json"])
@pytest.mark.parametrize(
    "command",
    [
        COMMANDS[0],
        "release @.npz -o out@.npz -e 1 -m laplace -c @",
        f"embed @.csv -o out@.npy -c @ {LEXICON} -e 1 -m laplace",
        f"audit {MEASURED}",
        f"stats {MEASURED}",
        f"attack bayes @.csv -c @ {MEASURED}",
        f"evaluate @.csv -c @ {MEASURED} --runs 1",
        "reproduce nadp --from @.lines",
    ],
)
def test_reports_are_harmless(cli: Cli, folder: Path, command: str, ending: str) -> None:
    if ending == ".json" and command.startswith(("evaluate", "reproduce")):
        command, target = f"{command} --json", "page.json"
    else:
        command, target = f"{command} --report", f"page{ending}"
    ended = call(cli, f"{command} {target}")
    assert ended.code == 0, ended.err
    page = (folder / target).read_text("utf-8")
    assert unseen_in(page) == set()
    if ending != ".html":  # to a web page, the end of a line is a space
        assert forged_in(page) == []


@pytest.mark.usefixtures("hostile")
def test_json_keeps_the_names(cli: Cli, folder: Path) -> None:
    """They are escaped, not changed."""
    assert call(cli, f"{COMMANDS[0]} --report page.json").code == 0
    report = json.loads((folder / "page.json").read_text("utf-8"))
    assert report["files"][0]["input"] == f"{NAME}.jsonl"
    found = json.loads(call(cli, f"audit {MEASURED} --json -").text)
    assert found["lexicon"]["name"] == f"{NAME}.vec"


@pytest.mark.usefixtures("hostile")
def test_data_on_standard_output_stay_as_they_are(cli: Cli) -> None:
    """What is written as data is no message: other columns keep every byte."""
    data = f'text,x\ncold,"{NAME}"\n'.encode()
    options = ("privatize", "-", "--format", "csv", "-c", "text", "-e", "1", "-q")
    ended = cli(*options, "-l", f"{NAME}.vec", stdin=data)
    assert ended.code == 0
    assert f',"{NAME}"\n'.encode() in ended.out


def test_the_command_line_prints_in_one_place() -> None:
    """`cli/terminal.py` makes all that is shown printable: no other module prints by itself."""
    printing = {"echo", "secho", "print", "Console"}
    found = []
    for path in sorted(CLI.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in printing:
                    found.append(path.name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="typer"), attr=name)):
                    found += [path.name] if name in printing else []
                case ast.Attribute(value=ast.Attribute(value=ast.Name(id="sys")), attr="write"):
                    found.append(path.name)
    assert set(found) == {"terminal.py"}
