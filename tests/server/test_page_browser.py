"""The page in a real browser: by keyboard and pointer, on a phone and a desk, light and dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route
from tests.server.browser import DESK, FOLDER, PHONE, PROBLEM, VIEWS, Site, chromium, visit

from malaprop.server.keys import KeyStore

pytestmark = pytest.mark.xdist_group("chromium")
WRITTEN = "xylophonist Quimby has gonorrhoea"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(tmp_path_factory.mktemp("site"))
    yield running
    running.stop()


def _text(page: Page, selector: str) -> str:
    return page.locator(selector).inner_text()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_a_view_can_be_read_and_has_no_barriers(
    browser: Browser, site: Site, view: str, width: int
) -> None:
    with visit(browser, site, width=width) as own:
        own.open(view).idle()
        assert own.page.evaluate("document.documentElement.scrollWidth") <= width
        assert own.faint() == []
        if width == DESK:
            assert own.barriers() == []
        own.page.emulate_media(color_scheme="dark")
        assert own.faint() == []
        if width == PHONE:
            assert own.barriers() == []
            own.page.set_viewport_size({"width": 320, "height": 600})
            assert own.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_check_of_contrast_finds_faint_text(browser: Browser, site: Site) -> None:
    with visit(browser, site, dark=True) as own:
        own.open("limits")
        own.page.evaluate(
            """() => {
              const add = (text, style) => {
                const line = document.createElement("p");
                line.textContent = text;
                Object.assign(line.style, style);
                document.querySelector("#limits").append(line);
              };
              add("black on near-black", { color: "#000", background: "#111" });
              add("half transparent", { opacity: 0.3 });
              add("grey on white", { color: "#bbb", background: "rgb(255 255 255 / 90%)" });
              add("well", { color: "#000", background: "#fff" });
              add("large", { color: "#808080", background: "#fff", fontSize: "24px" });
            }"""
        )
        names = [each.partition(":")[0] for each in own.faint()]
        assert names == ["black on near-black", "half transparent", "grey on white"]


def test_a_request_to_elsewhere_would_be_seen(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        own.open("limits").check()
        own.page.evaluate("document.body.append(new Image()); 1")
        own.page.evaluate("document.body.lastChild.src = 'http://127.0.0.2:9/a.png'; 1")
        own.page.wait_for_function("() => window.__violations.length > 0")
        assert own.complaints
        with pytest.raises(AssertionError):
            own.check()
        own.requests.clear()
        own.complaints.clear()
        own.page.evaluate("window.__violations = []; 1")


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_is_reached_by_keyboard_and_by_pointer(
    browser: Browser, site: Site, view: str
) -> None:
    with visit(browser, site, width=PHONE) as own:
        own.open(view).idle()
        page = own.page
        page.evaluate((FOLDER / "controls.js").read_text())
        wanted = page.evaluate("controlsOfPage.numbered()")
        reached: dict[int, bool] = {}
        for _ in range(len(wanted) + 5):
            page.keyboard.press("Tab")
            place, marked = page.evaluate("controlsOfPage.focused()")
            if place is not None:
                reached[int(place)] = marked
        assert [wanted[place] for place in range(len(wanted)) if place not in reached] == []
        unmarked = [wanted[place] for place, marked in reached.items() if not marked]
        assert unmarked == [], "the focus cannot be seen"
        assert page.evaluate("controlsOfPage.missed()") == []


# Text


def test_a_text_is_tried_by_pointer(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        page = own.open("text").page
        words = page.locator(".private .word")
        with page.expect_response("**/v1/page/draw"):
            page.get_by_role("button", name="A film review").click()
        own.idle()
        assert words.count() > 10
        asked = len(own.requests)
        for form in ("Fluent", "As drawn"):  # of the same draw
            page.get_by_role("radio", name=form).check()
            assert f"{form}: " in _text(page, "#text")
        assert len(own.requests) == asked
        page.get_by_label("show originals").check()
        assert page.locator(".private ruby").count() > 0
        with page.expect_response("**/v1/page/neighbourhood"):
            words.nth(3).click()
        page.locator(".word-panel svg").wait_for()
        for summary in page.locator("#text summary").all():
            summary.click()
        with page.expect_response("**/v1/page/draw"):
            page.locator("#rival").select_option("laplace")
        page.locator('[aria-labelledby="rival-title"] .word').first.wait_for()
        own.idle()
        again = page.get_by_role("button", name="Draw again")
        page.locator("#budget").fill("20")
        page.locator("#budget").press("Enter")
        page.locator("#budget").fill("1")
        page.locator("#budget").press("Enter")
        assert again.is_disabled()
        page.locator("#budget").fill("900")
        page.locator("#budget").press("Enter")
        again.click()
        page.locator(".meter-text", has_text="4 draws").wait_for()  # two of each mechanism
        assert own.barriers() == []
        assert own.faint() == []


def test_the_budget_stays_as_it_is_when_the_slider_moves(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        page = own.open("text").page
        own.idle()
        budget = page.locator("#budget")
        before = budget.input_value()
        for epsilon in ("1", "3", "2"):
            with page.expect_response("**/v1/page/draw"):
                page.locator(f'[data-epsilon="{epsilon}"]').click()
            own.idle()
            assert budget.input_value() == before
        for _ in range(4):  # five draws of an example at ε = 2 are what it is made for
            with page.expect_response("**/v1/page/draw"):
                page.get_by_role("button", name="Draw again").click()
            own.idle()
        page.locator(".meter-text", has_text=f"5 draws: {before} of {before} spent").wait_for()
        assert page.get_by_role("button", name="Draw again").is_disabled()


def test_the_slider_stays_in_sight_of_the_text_on_a_phone(browser: Browser, site: Site) -> None:
    with visit(browser, site, width=PHONE) as own:
        page = own.open("text").page
        own.idle()
        page.locator(".private").first.evaluate("(element) => element.scrollIntoView()")
        box = page.locator("#presets-note + .presets").bounding_box()
        slider = page.locator("#epsilon").bounding_box()
        word = page.locator(".private .word").first.bounding_box()
        assert box is not None
        assert slider is not None
        assert word is not None
        assert 0 < slider["y"] < box["y"] + box["height"] < word["y"] < 400


def test_a_text_is_tried_by_keyboard(browser: Browser, site: Site) -> None:
    with visit(browser, site, width=PHONE) as own:
        page = own.open("text").page
        own.idle()
        slider = page.locator("#epsilon")
        slider.focus()
        facts = _text(page, ".facts")
        with page.expect_response("**/v1/page/draw"):
            page.keyboard.press("End")
        own.idle()
        assert _text(page, ".facts") != facts
        page.locator(".private .word").first.focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.dataset.slot") == "1"
        with page.expect_response("**/v1/explain"):
            page.keyboard.press("Enter")
        page.locator(".word-panel h2").wait_for()
        page.keyboard.press("Escape")
        assert page.locator(".word-panel").is_hidden()
        assert page.evaluate("document.activeElement.dataset.slot") == "1"
        page.locator("#text summary").first.focus()
        page.keyboard.press("Enter")
        page.locator("#names").focus()
        with page.expect_response("**/v1/page/draw"):
            page.keyboard.press("Space")
        own.idle()


def test_ones_own_text_is_drawn_only_when_asked_for(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        page = own.open("text").page
        own.idle()
        asked: list[dict[str, Any]] = []
        page.on("request", lambda request: asked.append(request.post_data_json or {}))
        with page.expect_response("**/v1/page/draw"):
            page.locator("#own-text").fill("Ann has a fever.")
        assert [each["dry_run"] for each in asked] == [True]
        assert page.locator(".private .word").count() == 0
        with page.expect_response("**/v1/page/draw") as drawn:
            page.get_by_role("button", name="Draw").last.click()
        assert drawn.value.json()["receipt"]["id"]
        page.locator(".private .word").first.wait_for()


# A file


UNRELATED = (
    "granite violin custard lizard treaty bishop carbon velvet orchard missile "
    "walnut pension glacier trumpet tariff whisker cobalt harvest dungeon sailor "
    "mustard verdict penguin turbine saddle rhubarb census lantern monk asphalt."
)
"""Words that nothing restores all of, neither chance nor bigrams."""


@pytest.mark.parametrize("by_keyboard", [False, True])
def test_a_file_goes_through(
    browser: Browser, site: Site, tmp_path: Path, by_keyboard: bool
) -> None:
    source = tmp_path / "notes.txt"
    source.write_text(f"The patient has a fever.\n{UNRELATED}\n", "utf-8")
    with visit(browser, site) as own:
        page = own.open("file").page
        page.locator("#file-input").set_input_files(source)
        page.get_by_label("How to write it").select_option("fluent")
        go = page.get_by_role("button", name="Make the file private")
        if by_keyboard:
            go.focus()
            page.keyboard.press("Enter")
        else:
            go.click()
        save = page.get_by_role("button", name="Save notes-private.txt")
        save.wait_for()
        with page.expect_download() as download:
            if by_keyboard:
                save.focus()
                page.keyboard.press("Enter")
            else:
                save.click()
        saved = Path(download.value.path()).read_text("utf-8")
        assert len(saved.splitlines()) == 2
        assert saved != source.read_text("utf-8")
        assert "Words and values drawn" in _text(page, ".report")
        assert "in the readable text (fluent)" in _text(page, ".report")
        assert own.barriers() == []
        assert own.faint() == []


def test_a_file_of_another_kind_is_refused_kindly(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "picture.png").write_bytes(b"PNG")
    with visit(browser, site) as own:
        page = own.open("file").page
        page.locator("#file-input").set_input_files(tmp_path / "picture.png")
        assert "This ending is not known." in _text(page, "#file .problem")
        assert page.get_by_role("button", name="Choose a file first").is_disabled()


# Understand


def test_the_tour_is_walked_by_keyboard(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        page = own.open("understand").page
        page.locator(".steps button").first.focus()
        for title in ("Its neighbours", "The dial ε", "Context", "Repetition"):
            page.locator(".moves .main").focus()
            page.keyboard.press("Enter")
            assert title in _text(page, ".stage h2")
            assert page.evaluate("document.activeElement.tagName") == "H2"
        slider = page.locator("#tour-times")
        slider.focus()
        before = _text(page, ".attack .tour-note")
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        assert _text(page, ".attack .tour-note") != before
        assert page.evaluate("document.activeElement.id") == "tour-times"
        assert "one version" in _text(page, ".attack h3")


@pytest.mark.parametrize(
    ("view", "slider"),
    [
        ("understand", "tour-epsilon"),
        ("understand", "tour-times"),
        ("vectors", "plane-epsilon"),
        ("text", "epsilon"),
    ],
)
def test_sliders_are_dragged(browser: Browser, site: Site, view: str, slider: str) -> None:
    with visit(browser, site) as own:
        page = own.open(view).page
        own.idle()
        if slider == "tour-times":
            page.get_by_role("button", name="Repetition").click()
        place = page.locator(f"#{slider}")
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        assert box is not None
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 12, middle)
        page.mouse.down()
        for part in (0.3, 0.6, 1.0):
            page.mouse.move(box["x"] + part * box["width"] - 3, middle)
        page.mouse.up()
        assert place.input_value() == place.get_attribute("max")
        own.idle()


def test_the_tour_shows_what_the_dial_and_the_attacker_change(browser: Browser, site: Site) -> None:
    with visit(browser, site, width=PHONE) as own:
        page = own.open("understand").page
        page.locator(".steps button").nth(2).click()
        assert page.locator(".tour-level").count() == 3  # ε = 1, ε = 2 and the dial's
        assert page.locator(".attack").count() == 0
        page.get_by_role("switch").click()
        assert page.locator(".attack").count() == 3
        few, many = (
            page.locator(".tour-level").nth(i).locator("mark.kept").count() for i in (0, 2)
        )
        assert few < many
        page.locator("#tour-epsilon").focus()
        page.keyboard.press("End")
        assert page.locator(".tour-level").count() == 3
        assert "outside the measured range" in _text(page, ".price-card .told")
        page.get_by_role("button", name="Draw again").click()
        page.locator("#tour-measure").select_option("accuracy")
        told = page.locator(".price-card svg").first.get_attribute("aria-label")
        assert "classifier" in (told or "")
        page.get_by_role("switch").focus()
        page.keyboard.press("Space")
        assert page.locator(".attack").count() == 0


# Vectors


def test_a_map_shows_each_mechanism(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        page = own.open("vectors").page
        for name, shapes in (("Mahalanobis", ".draw"), ("TEM", ".count"), ("Hyperbolic", ".draw")):
            with page.expect_response("**/v1/page/plane"):
                page.get_by_role("radio", name=name).check()
            page.wait_for_selector(f'svg.plane[aria-label^="{name}"]')
            assert page.locator(f".plane {shapes}").count() > 3
            assert page.locator(".chances tbody tr").count() >= 6
        page.get_by_role("radio", name="one draw").check()
        assert page.locator(".plane .arrow").count() == 2
        assert "came out" in (page.locator("svg.plane").get_attribute("aria-label") or "")


def test_a_map_stays_whole_while_another_is_awaited(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        page = own.open("vectors").page
        waiting: list[Route] = []
        page.route("**/v1/page/plane", lambda route: waiting.append(route))
        with page.expect_request("**/v1/page/plane"):
            page.get_by_role("radio", name="Hyperbolic").check()
        page.get_by_label("Close up").check()
        page.get_by_role("radio", name="one draw").check()
        shown = page.locator("svg.plane").get_attribute("aria-label") or ""
        assert shown.startswith("Laplace")
        assert page.locator("svg.plane").get_attribute("aria-busy") == "true"
        waiting[0].continue_()
        page.wait_for_selector('svg.plane[aria-label^="Hyperbolic"]:not([aria-busy])')


@pytest.mark.parametrize("mechanism", ["Laplace", "Hyperbolic"])
def test_words_of_a_map_do_not_touch(browser: Browser, site: Site, mechanism: str) -> None:
    with visit(browser, site) as own:
        page = own.open("vectors").page
        page.get_by_role("radio", name=mechanism).check()
        page.wait_for_selector(f'svg.plane[aria-label^="{mechanism}"]')
        touching = page.evaluate(
            """() => {
              const words = [...document.querySelectorAll(".plane text:not([transform])")];
              if (words.length < 20) return words.length;
              const boxes = words.map((word) => [word.textContent, word.getBBox()]);
              return boxes.flatMap(([word, a], i) => boxes.slice(0, i)
                .filter(([, b]) => a.x < b.x + b.width && b.x < a.x + a.width
                  && a.y + 4 < b.y + b.height && b.y + 4 < a.y + a.height)
                .map(([other]) => `${word} ${other}`));
            }"""
        )
        assert touching == []


def test_a_word_is_chosen_by_pointer_and_by_keyboard(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        page = own.open("vectors").page
        with page.expect_response("**/v1/page/plane"):
            page.locator(".plane .cell").first.click()
        page.wait_for_selector('svg.plane[aria-label*="diabetes"]')
        assert page.locator("#plane-word").input_value() == "diabetes"
        page.locator("#plane-word").focus()
        with page.expect_response("**/v1/page/plane"):
            page.keyboard.type("lond")
        page.wait_for_selector('svg.plane[aria-label*="london"]')
        page.locator("#plane-epsilon").focus()
        with page.expect_response("**/v1/page/plane"):
            page.keyboard.press("ArrowRight")
        page.wait_for_selector('svg.plane[aria-label*="ε = 2"]')


# What goes wrong, and what is left


def _fail(route: Route) -> None:
    route.fulfill(status=500, content_type="application/problem+json", body=PROBLEM)


@pytest.mark.parametrize("lost", [False, True])
def test_a_failure_is_told_and_can_be_retried(browser: Browser, site: Site, lost: bool) -> None:
    with visit(browser, site) as own:
        page = own.open("vectors").page
        own.expected = 1  # the browser's own line about the answer
        failing: Any = (lambda route: route.abort()) if lost else _fail
        page.route("**/v1/**", failing)
        page.get_by_role("button", name="Draw again").click()
        box = page.locator("#vectors .problem")
        box.wait_for()
        told = "The service does not answer." if lost else "Something failed."
        assert told in box.inner_text()
        assert own.barriers() == []
        page.unroute("**/v1/**")
        box.get_by_role("button", name="Try again").click()
        box.wait_for(state="detached")


@pytest.mark.parametrize("lost", [False, True])
def test_a_draw_that_fails_is_told_and_can_be_retried(
    browser: Browser, site: Site, lost: bool
) -> None:
    with visit(browser, site) as own:
        page = own.open("text").page
        own.idle()
        own.expected = 1
        failing: Any = (lambda route: route.abort()) if lost else _fail
        page.route("**/v1/page/draw", failing)
        page.get_by_role("button", name="Draw again").click()
        box = page.locator("#text .problem")
        box.wait_for()
        page.unroute("**/v1/page/draw")
        box.get_by_role("button", name="Try again").click()
        box.wait_for(state="detached")


def test_a_key_is_asked_for_and_kept_nowhere(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("keyed-site")
    keyed = Site(folder, key_needed=True)
    key = KeyStore(f"sqlite:///{folder}/service.db").create("page")[1]
    try:
        with visit(browser, keyed) as own:
            own.expected = 4  # answers 401
            page = own.page
            page.goto(f"{keyed.url}/#vectors")
            dialog = page.get_by_role("dialog")
            dialog.wait_for()
            assert own.barriers() == []
            page.keyboard.type("wrong")
            page.keyboard.press("Enter")
            page.locator("#key-problem").wait_for()
            page.locator("#key-value").fill(key)
            dialog.get_by_role("button", name="Use this key").click()
            own.wait("vectors")
            page.wait_for_selector("svg.plane[aria-label]")
            stored = own.stored()
            assert key not in str(stored)
            assert not any(key in url for url in own.requests)
            assert key not in keyed.log()
    finally:
        keyed.stop()


def test_the_first_view_is_small(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        sizes: list[int] = []
        own.page.on("response", lambda answer: sizes.append(len(answer.body())))
        own.open("text").idle()
        assert 50_000 < sum(sizes) < 500_000


def test_a_view_that_cannot_be_loaded_says_so(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        own.page.route("**/page/tour.json", lambda route: route.abort())
        own.expected = 3
        page = own.open("understand").page
        box = page.locator("#understand .problem")
        box.wait_for()
        page.unroute("**/page/tour.json")
        box.get_by_role("button", name="Try again").click()
        page.wait_for_selector("#understand .stage")


def test_nothing_stays_in_the_browser(browser: Browser, site: Site) -> None:
    with visit(browser, site) as own:
        for view in VIEWS:
            own.open(view).idle()
        page = own.page
        page.evaluate("location.hash = '#text'")
        own.wait("text")
        own.idle()
        with page.expect_response("**/v1/page/draw"):  # the page asks for its price
            page.locator("#own-text").fill(WRITTEN)
        own.idle()
        stored = own.stored()
        assert stored["local"] == stored["session"] == {}
        assert (stored["cookies"], stored["databases"], stored["caches"]) == ("", [], [])
        assert (stored["workers"], stored["state"]) == (0, None)
        assert page.context.cookies() == []
        words = WRITTEN.split()
        for told in (*own.requests, stored["address"], stored["title"], site.log()):
            assert not any(word in told for word in words)
