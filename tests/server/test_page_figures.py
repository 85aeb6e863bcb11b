"""What the page computes by itself agrees with the library, and what it offers to copy runs."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from tests.server.browser import Site, chromium, visit

from malaprop import Privatizer
from malaprop.cli.main import run
from malaprop.measure.profile import context_figure

pytestmark = pytest.mark.xdist_group("chromium")
CALL = """async (given) => {
  const page = await import("/page/meaning.js");
  const { api } = await import("/page/api.js");
  const meaning = await page.loadMeaning(api);
  return page[given.name](meaning, ...given.given);
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium() as browser:
        site = Site(tmp_path_factory.mktemp("figures"))
        with visit(browser, site) as own:
            yield own.open().page
        site.stop()


def call(page: Page, name: str, *given: Any) -> Any:
    return page.evaluate(CALL, {"name": name, "given": given})


@pytest.mark.parametrize("epsilon", [0.9, 1.0, 1.6, 2.2, 3.5])
def test_figures_between_those_that_were_computed_are_right(page: Page, epsilon: float) -> None:
    figures = call(page, "figuresAt", "balanced", epsilon)
    privatizer = Privatizer(epsilon=epsilon)
    measured = context_figure(privatizer.mechanism, privatizer.lexicon)
    assert measured is not None
    assert figures["context"] == pytest.approx(measured.context, abs=0.02)
    assert figures["sampleKept"] == pytest.approx(measured.kept, abs=0.02)
    assert figures["guessed"] == pytest.approx(privatizer.guessed.share, abs=0.05)


@pytest.mark.parametrize("other", ["tem", "laplace", "priv-emb"])
def test_the_other_mechanism_is_as_private_to_who_sees_single_words(page: Page, other: str) -> None:
    epsilon = call(page, "equalSuccess", "balanced", 1.5, other)
    wanted = Privatizer(epsilon=1.5).guessed.share
    assert Privatizer(epsilon=epsilon, mechanism=other).guessed.share == pytest.approx(
        wanted, abs=0.07
    )


def test_the_command_and_the_code_that_are_copied_do_what_the_page_does(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for summary in page.locator("#text summary").all():
        summary.click()
    page.locator("#names").check()
    page.locator("#shift").check()
    page.locator("#step-date").select_option("3 days")
    page.locator("#kind-epsilon").fill("2")
    page.locator("#kind-epsilon").press("Tab")
    page.locator("#repeat").select_option("document")
    page.locator("#unknown").select_option("mask")
    assert "--readable" in page.locator("#text .code pre").first.inner_text()
    page.get_by_role("radio", name="fluent").check()
    command, code = page.locator("#text .code pre").all_inner_texts()
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    assert program == "malaprop"
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("Mary took 500 mg on 3 May 2021.\n")
    assert run(arguments) == 0
    assert Path("private.txt").read_text().count(" ") >= 5
    space: dict[str, Any] = {"text": "Mary took 500 mg on 3 May 2021."}
    exec(code, space)  # noqa: S102 - the page's own code
    policy = space["release"].policy
    assert policy["redraw"] == ["names"]
    assert (policy["shift_dates"], policy["kind_epsilon"]) == (True, 2)
    assert policy["steps"]["date"] == "3 days"
    assert (policy["repeat"], policy["unknown"]) == ("document", "mask")
    assert policy["readable"] == "fluent"
    for option in ("--redraw names", "--shift-dates", "--repeat document", "--fluent"):
        assert option in command


def test_what_was_asked_of_an_example_is_never_drawn_of_ones_own_text(page: Page) -> None:
    page.reload()
    page.wait_for_selector(".private .word")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or ""))
    # The price of one's own text is asked for a moment after the last draw of the example.
    with page.expect_response(lambda answer: "gout" in (answer.request.post_data or "")):
        page.evaluate(
            """() => {
              const slider = document.getElementById("epsilon");
              const field = document.getElementById("own-text");
              for (const epsilon of [2, 2.5, 3]) {  // the second and third wait for the first
                slider.value = epsilon;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
              }
              document.querySelector("#text button.main").click();
              field.value = "Jane has gout.";
              field.dispatchEvent(new Event("input", { bubbles: true }));
            }"""
        )
    page.wait_for_load_state("networkidle")
    own = [body for body in sent if "gout" in body]
    assert own
    assert all('"dry_run":true' in body for body in own)
    assert any('"example":"note"' in body for body in sent)
