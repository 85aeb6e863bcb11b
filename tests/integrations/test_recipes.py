"""The recipes run as they stand, where their package is installed."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "recipes.md"
RECIPES = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
NEEDED = [next(re.finditer(r"duckdb|langchain_core", recipe))[0] for recipe in RECIPES]


def test_there_are_recipes_for_both() -> None:
    assert NEEDED == ["duckdb", "langchain_core", "langchain_core"]
    for recipe in RECIPES:
        compile(recipe, str(PAGE), "exec")


@pytest.mark.filterwarnings("ignore")  # of the packages that are tried
@pytest.mark.parametrize(
    ("package", "recipe"), list(zip(NEEDED, RECIPES, strict=True)), ids=range(3)
)
def test_a_recipe_runs(package: str, recipe: str) -> None:
    if not find_spec(package):
        pytest.skip(f"{package} is not installed")
    exec(compile(recipe, str(PAGE), "exec"), {})  # noqa: S102
