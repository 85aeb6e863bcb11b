"""The files that run the service elsewhere; no engine of containers is needed to read them."""

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from malaprop.cli.main import run

ROOT = Path(__file__).parents[2]


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    return loaded


def test_the_compose_file_is_whole() -> None:
    services = compose()["services"]
    assert set(services) == {"database", "service"}
    service = services["service"]
    assert set(service["depends_on"]) == {"database"}
    mounted = [volume.partition(":")[0] for each in services.values() for volume in each["volumes"]]
    assert set(mounted) == set(compose()["volumes"])
    assert service["secrets"] == list(compose()["secrets"])
    assert "/run/secrets/ledger" in service["environment"].values()


def test_containers_have_few_rights_and_no_password_in_the_file() -> None:
    service = compose()["services"]["service"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["ports"] == ["127.0.0.1:8000:8000"]
    assert "POSTGRES_PASSWORD:?" in service["environment"]["MALAPROP_DATABASE"]
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    assert {"/.env", "/ledger.secret"} <= set(ignored)


def test_the_dockerfile_names_what_is_there() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    known = "FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD"
    assert {name for name, _ in steps} == set(known.split())
    assert steps[0][0] == "FROM"
    copied = [rest.split() for name, rest in steps if name == "COPY" and "--from" not in rest]
    sources = [source for names in copied for source in names[:-1]]
    assert sources
    assert all((ROOT / source).exists() for source in sources)
    kept = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert all(f"!{source.removeprefix('./')}" in kept for source in sources)
    users = [rest for name, rest in steps if name == "USER"]
    assert users == ["10001"]  # not root, and a number, which any host can check


def test_commands_of_the_containers_are_those_of_malaprop(capsys: Any) -> None:
    assert compose()["services"]["service"]["command"][0] == "serve"
    run(["serve", "--help"])
    known = capsys.readouterr().out
    flags = [word for word in compose()["services"]["service"]["command"] if word.startswith("--")]
    assert flags
    assert all(flag in known for flag in flags)


def test_make_serve_takes_postgresql_from_the_environment() -> None:
    command = ["make", "--dry-run", "serve", "DATABASE_URL=postgresql://u@h/n"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.search(r'MALAPROP_DATABASE="postgresql://u@h/n" \S+/malaprop serve', shown)
