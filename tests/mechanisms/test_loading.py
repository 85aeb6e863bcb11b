"""Mechanisms are imported when they are asked for."""

import subprocess
import sys


def _said(statements: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", statements], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_mechanism_comes_alone() -> None:
    loaded = "print([m for m in ('nadp', 'laplace', 'tem') if f'malaprop.mechanisms.{m}' in all])"
    named = "from malaprop.mechanisms import mechanism_named; mechanism_named('balanced')"
    assert _said(f"import sys; {named}; all = sys.modules; {loaded}") == "[]"


def test_the_registry_has_all_of_them() -> None:
    listed = _said("import malaprop; print(*sorted(malaprop.registry))").split()
    assert {"balanced", "tem", "laplace", "permute-and-flip", "nadp"} <= set(listed)
    assert len(listed) == 13
