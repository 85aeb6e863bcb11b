"""The shape of the package: what it exports, what it ships, how it imports."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

import malaprop
from malaprop.privacy.errors import EXTRAS, MissingExtraError

ROOT = Path(__file__).parents[1]


def test_every_exported_name_exists_and_is_documented() -> None:
    for name in malaprop.__all__:
        thing = getattr(malaprop, name)
        assert name in ("__version__", "registry") or thing.__doc__, name


@pytest.mark.parametrize("package", ["malaprop", "malaprop.measure"])
def test_every_exported_name_is_found_and_listed(package: str) -> None:
    module = import_module(package)
    stub = Path(str(module.__file__)).with_suffix(".pyi").read_text("utf-8")
    assert len(module.__all__) > 25
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)
        assert f" {name} as {name}" in stub


def test_modules_find_files_beside_themselves_only() -> None:
    """A module that counts folders upwards loses its files when it moves: see `malaprop.data`."""
    counted = re.compile(r"__file__\)?(\.resolve\(\))?\.parent(s\[|\.parent)")
    files = _code(ROOT / "src")
    assert len(files) > 100
    assert [str(path) for path in files if counted.search(path.read_text("utf-8"))] == []


def test_the_errors_have_one_root() -> None:
    for name in malaprop.__all__:
        thing = getattr(malaprop, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            assert issubclass(thing, malaprop.MalapropError)


def test_no_text_tells_users_to_install_malaprop_from_an_index() -> None:
    """Nothing of that name is there, and a stranger could register it."""
    wrong = re.compile(r"malaprop\[(?!\])|pip3? install\s(?:-\S+\s+)*['\"]?malaprop\b")
    folders = ("src", "docs", "examples", "tools", "benchmarks", "tests")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in (*paths, *ROOT.glob("*.md"), ROOT / "Makefile")
        if path.suffix in (".py", ".md", ".html", ".toml", ".json", ".sh", "")
        and path.is_file()
        and not {".cache", ".venvs"} & {*path.parts}
    }
    assert len(texts) > 500
    assert "README.md" in texts
    del texts["tests/test_architecture.py"]
    assert [name for name, text in texts.items() if wrong.search(text)] == []


def test_a_hint_at_a_missing_package_names_what_the_extra_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {name: packages(*listed) for name, listed in project["optional-dependencies"].items()}
    for name, installed in EXTRAS.items():
        wanted = extras[name]
        if own := [each for each in wanted if each.startswith("malaprop")]:
            wanted -= {*own}
            wanted |= {each for part in own[0][9:-1].split(",") for each in extras[part]}
        assert packages(*shlex.split(installed)) == wanted
        error = MissingExtraError("x", name, "It")
        assert str(error) == f"It needs the package x: run  pip install {installed}"


def packages(*requirements: str) -> set[str]:
    """Return requirements without bounds from below; a bound from above stays."""
    return {re.sub(r">=[\d.]+,?", "", each) for each in requirements}


def test_the_demo_installs_what_evaluations_need() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\n.venv/demo:")[1].split("\n\n")[0]
    assert "$(QUIET_INSTALL) '.[evaluate]'" in recipe


def test_importing_is_light() -> None:
    """Heavy packages are loaded when they are needed."""
    heavy = ["scipy", "pyarrow", "rapidfuzz", "rich", "typer", "gensim", "safetensors", "pyspark"]
    code = f"import sys, malaprop; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_the_command_line_starts_without_numerics() -> None:
    heavy = ["scipy", "pyarrow", "rapidfuzz", "pyspark"]
    code = (
        "import sys; from malaprop.cli.main import run; run(['--help']); "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert out.splitlines()[-1] == "[]"


def test_the_wheel_ships_lexicon_licence_and_types(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("malaprop-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = [
        "py.typed",
        "lab/datasets/catalogue.toml",
        *[
            f"data/english/{name}"
            for name in (
                "words.txt",
                "vectors.npy",
                "lexicon.json",
                "exponents.json",
                "LICENSE",
                "README.md",
            )
        ],
    ]
    assert {f"malaprop/{name}" for name in shipped} <= names
    assert not any(name.startswith(("tests", "docs")) for name in names)


def _measure() -> list[tuple[str, ast.Module]]:
    modules = sorted((ROOT / "src/malaprop/measure").rglob("*.py"))
    assert modules
    return [(path.name, ast.parse(path.read_text("utf-8"))) for path in modules]


def test_the_audit_reads_public_values_only() -> None:
    """A channel states its evidence; nothing private of any other object is looked at."""
    found = [
        f"{name}:{attribute}"
        for name, tree in _measure()
        for node in ast.walk(tree)
        if (attribute := _attribute(node)).startswith("_") and not attribute.endswith("__")
    ]
    assert found == []


def _attribute(node: ast.AST) -> str:
    """Return the attribute of another object that an expression reads, by whichever way."""
    match node:
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return ""
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return ""
        case ast.Attribute(attr=name):
            return name
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return name
        case _:
            return ""


def test_the_audit_knows_no_mechanism() -> None:
    imported = [
        f"{name}: {module}"
        for name, tree in _measure()
        for node in ast.walk(tree)
        for module in _modules(node)
        if module.startswith("malaprop.mechanisms")
    ]
    assert imported == []


def _modules(node: ast.AST) -> list[str]:
    """Return the modules, and the names in them, that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def test_what_benchmarks_tools_and_examples_import_is_there() -> None:
    """Benchmarks need packages that the tests do not have, so nothing else would notice."""
    files = [path for part in ("benchmarks", "tools", "examples") for path in _code(ROOT / part)]
    assert files
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _modules(node)
        if name.partition(".")[0] == "malaprop" and not _is_there(name)
    ]
    assert missing == []


def _code(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.py") if "/." not in str(path.relative_to(ROOT))]


def _is_there(name: str) -> bool:
    """Whether a module has a name, or there is a module of that name."""
    module, _, attribute = name.rpartition(".")
    if module and hasattr(import_module(module), attribute):
        return True
    try:
        import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    reasons = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for requirement in project["dependencies"]:
        assert f"`{requirement.split('>')[0]}`" in reasons, requirement
