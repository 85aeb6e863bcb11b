"""The files of the page."""

import json
from importlib.resources import files
from typing import Any

import pytest
from tests.server.conftest import Keyed, Running

from malaprop import Lexicon, Privatizer
from malaprop.measure.profile import context_figure
from malaprop.server.settings import Settings

FOLDER = files("malaprop.server") / "page"
NAMES = sorted(entry.name for entry in FOLDER.iterdir())
MOST_BYTES = 500_000


def _path(name: str) -> str:
    return "/" if name == "index.html" else f"/page/{name}"


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_served_with_its_type_and_a_strict_policy(
    service: Running, name: str
) -> None:
    answer = service.client.get(_path(name))
    assert answer.status_code == 200
    assert answer.content == (FOLDER / name).read_bytes()
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    kind = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
    wanted = kind.get(name.rpartition(".")[2])
    assert wanted is None or answer.headers["content-type"] == f"{wanted}; charset=utf-8"


def test_a_file_that_has_not_changed_is_not_sent_again(service: Running) -> None:
    tag = service.client.get("/").headers["etag"]
    for given in (tag, f'"other", W/{tag}'):
        again = service.client.get("/", headers={"If-None-Match": given})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    assert service.client.get("/", headers={"If-None-Match": '"other"'}).status_code == 200


def test_the_page_is_small() -> None:
    assert sum(len((FOLDER / name).read_bytes()) for name in NAMES) < MOST_BYTES


def test_the_page_needs_no_key_and_what_it_asks_for_does(keyed: Keyed) -> None:
    assert keyed.client.get("/").status_code == 200
    assert keyed.client.get("/page/main.js").status_code == 200
    assert keyed.client.get("/v1/mechanisms").status_code == 401


def test_no_other_path_leads_to_a_file(service: Running) -> None:
    for path in ("/page/", "/page/index.html", "/page/../app.py", "/page/%2e%2e/app.py", "/page"):
        assert service.client.get(path).status_code == 404


def test_the_page_is_not_described_as_part_of_the_interface(service: Running) -> None:
    paths = json.loads(service.client.get("/openapi.json").text)["paths"]
    assert not any(path == "/" or path.startswith("/page") for path in paths)


@pytest.fixture(scope="module")
def meaning() -> Any:
    return json.loads((FOLDER / "meaning.json").read_text("utf-8"))


def test_what_an_epsilon_means_is_what_the_library_says(meaning: Any) -> None:
    lexicon = Lexicon.open("english")
    assert meaning["lexicon"]["fingerprint"] == lexicon.fingerprint
    assert set(Settings().mechanisms) == meaning["mechanisms"].keys()
    for name, told in meaning["mechanisms"].items():
        (point,) = (each for each in told["points"] if each["epsilon"] == told["start"])
        privatizer = Privatizer(epsilon=point["epsilon"], mechanism=name)
        assert point["kept"] == pytest.approx(privatizer.keeping.share, abs=0.08)
        assert point["kept"] - 0.01 <= point["guessed"] <= point["kept"] + 0.1
        figure = context_figure(privatizer.mechanism, privatizer.lexicon)
        assert (figure is None) == ("sample" not in point)
        if figure is not None:
            assert point["sample"]["context"] == pytest.approx(figure.context, abs=1e-4)
            assert point["sample"]["kept"] == pytest.approx(figure.kept, abs=1e-4)


def test_figures_rise_with_epsilon_so_that_equal_success_can_be_found(meaning: Any) -> None:
    for told in meaning["mechanisms"].values():
        points = told["points"]
        for name in ("epsilon", "kept", "guessed"):
            values = [point[name] for point in points]
            assert values == sorted(values)
        assert points[0]["guessed"] < 0.2
        assert points[-1]["guessed"] > 0.8
        assert points[0]["epsilon"] <= told["start"] <= points[-1]["epsilon"]


def test_the_draws_that_the_tour_shows_are_no_odd_ones() -> None:
    """The word of the first step changes in some, and each note keeps about as much as most do."""
    tour = json.loads((FOLDER / "tour.json").read_text("utf-8"))
    place = tour["secret"].index(tour["word"])
    for level in tour["levels"]:
        shown = level["outputs"]
        pairs = [pair for output in shown for pair in zip(output, tour["secret"], strict=True)]
        kept = sum(out == secret for out, secret in pairs) / len(pairs)
        assert kept == pytest.approx(level["kept"], abs=0.1)
        if level["epsilon"] <= 2:
            assert any(output[place] != tour["word"] for output in shown)


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        pytest.param("/", {"Sec-Fetch-Mode": "navigate"}, 200, id="a link"),
        pytest.param("/", {"Sec-Fetch-Mode": "no-cors"}, 403, id="a picture"),
        pytest.param("/page/main.js", {"Sec-Fetch-Mode": "no-cors"}, 403, id="a script"),
        pytest.param("/v1/lexicons", {"Sec-Fetch-Mode": "navigate"}, 403, id="an answer"),
        pytest.param(
            "/", {"Sec-Fetch-Mode": "navigate", "Host": "evil.example"}, 403, id="rebinding"
        ),
        pytest.param(
            "/", {"Sec-Fetch-Mode": "navigate", "Origin": "https://evil.example"}, 403, id="a form"
        ),
    ],
)
def test_a_link_from_elsewhere_opens_the_page_and_nothing_else(
    service: Running, path: str, headers: dict[str, str], status: int
) -> None:
    answer = service.client.get(path, headers={"Sec-Fetch-Site": "cross-site"} | headers)
    assert answer.status_code == status
    assert answer.headers["x-frame-options"] == "DENY"
