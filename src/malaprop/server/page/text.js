// The view that a newcomer sees first: a text, its private version, and what ε does to it.

import { announce, h, later, problemBox, short } from "./dom.js";
import { adviceOf, equalSuccess, factsOf, figuresAt, guessedOf, levelOf, loadMeaning, meaningBar, mostSure, sampleOf } from "./meaning.js";
import { countMoves, fate, showDrawn } from "./private_text.js";
import { command, copyable, python } from "./same.js";
import { showWord } from "./word.js";

const LONGEST = 20000;
const USUAL_DRAWS = 5; // that a budget allows at first, at an ε a third above the one that the page starts with: at ε = 2
const IDLE = "Choose a word to see what it could become.";
const FORMS = [ // how a draw is shown: name, label, and what that does
  ["drawn", "as drawn", "As drawn: each word as it came out at random."],
  ["readable", "readable", "Readable: a drawn word may give way to one near it that fits the words beside it. That looks at drawn words only."],
  ["fluent", "fluent", "Fluent: the same, but more words give way. It reads better, and loses more of the rare words."],
];
const STEPS = { // what a step may be, beside the default of the library
  date: ["a day", "3 days", "a week", "30 days"],
  number: ["5 %", "a tenth", "20 %"],
};
const USUAL_STEP = { date: "a week", number: "a tenth" };

export async function mount(element, api) {
  element.replaceChildren(h("p", { class: "note" }, "Loading …"));
  const [meaning, examples, mechanisms, lexicons] = await Promise.all([
    loadMeaning(api), api.get("/page/examples.json"),
    api.get("/v1/mechanisms").then((told) => told.mechanisms), api.get("/v1/lexicons").then((told) => told.lexicons),
  ]);
  const state = {
    example: "note", text: examples.note.text, epsilon: 1.5, mechanism: "balanced", rival: "", lexicon: lexicons[0].name,
    form: "readable", originals: false, kinds: "typed", kindEpsilon: null, steps: {}, shift: false, names: false, places: false,
    unknown: "map", repeat: "fresh", subject: "",
    drawn: null, drawnOptions: null, rivalDrawn: null, draws: [], budget: null, usual: null, price: null, selected: null,
  };
  if (!mechanisms.some((each) => each.name === state.mechanism)) state.mechanism = mechanisms[0].name;
  const isGraph = (name) => mechanisms.find((each) => each.name === name)?.needs === "graph";
  const sliderOf = (name) => meaning.mechanisms[name] ?? { step: 0.1, start: 1.5, points: [{ epsilon: 0.5 }, { epsilon: 20 }] };

  // What is sent.

  function optionsFor(mechanism, epsilon) {
    const options = { epsilon, mechanism, lexicon: state.lexicon, readable: state.form !== "drawn" && isGraph(mechanism) && (state.form === "fluent" ? "fluent" : true),
      unknown: state.unknown, repeat: state.repeat, kinds: state.kinds };
    if (state.kinds === "typed") {
      if (state.kindEpsilon) options.kind_epsilon = state.kindEpsilon;
      else if (!isGraph(mechanism)) options.kind_epsilon = 1.5;
      if (Object.keys(state.steps).length) options.steps = state.steps;
      if (state.shift) options.shift_dates = true;
    }
    const redraw = [state.names && "names", state.places && "places"].filter(Boolean);
    if (redraw.length) options.redraw = redraw;
    return options;
  }
  // The readable version is always asked for, so that the page can switch without another draw.
  const sent = (mechanism, epsilon) => ({ ...optionsFor(mechanism, epsilon), readable: isGraph(mechanism) && state.lexicon === "english" });
  const source = () => (state.example ? { example: state.example }
    : { text: state.text, ...(state.subject.trim() ? { subject: state.subject.trim() } : {}) });
  const rivalEpsilon = () => state.rival && equalSuccess(meaning, state.mechanism, state.epsilon, state.rival);

  // The parts of the view.

  const input = h("textarea", { id: "own-text", rows: 7, maxlength: LONGEST, spellcheck: "false", autocomplete: "off",
    "aria-describedby": "own-text-note", value: state.text, oninput: () => typed() });
  const exampleButtons = Object.entries(examples).map(([name, each]) =>
    h("button", { type: "button", class: "small", "aria-pressed": String(name === state.example), "data-example": name, onclick: () => useExample(name) }, each.title));
  const inputNote = h("p", { id: "own-text-note", class: "note" });

  const output = h("div", { class: "private", role: "group", "aria-label": "Private text: choose a word to see more" });
  const rivalOutput = h("div", { class: "private", role: "group", "aria-label": "Private text of the other mechanism" });
  const [legend, rivalLegend] = [h("p", { class: "legend" }), h("p", { class: "legend" })];
  const privateTitle = h("h2", { id: "private-title" }, "Private text");
  const rivalTitle = h("h2", { id: "rival-title" });
  const rivalNote = h("p", { class: "note" });
  const rivalBox = h("section", { class: "card", hidden: true, "aria-labelledby": "rival-title" }, rivalTitle, rivalNote, rivalOutput, rivalLegend);
  const kept = h("p", { class: "note" });
  const look = h("p", { class: "look", "aria-hidden": "true" });
  const namesNote = h("p", { class: "note" });
  const problemPlace = h("div", {});
  const formChoice = choice("form", "How to show it", FORMS, state.form, (value) => { state.form = value; showOutput(); showMeaning(); showCode(); });

  const slider = h("input", { type: "range", id: "epsilon", oninput: () => slid() });
  const presetsNote = h("p", { class: "note", id: "presets-note" }, "Of 100 words, an attacker guesses right:");
  const presets = h("div", { class: "presets", role: "group", "aria-labelledby": "presets-note" });
  const epsilonShown = h("output", { for: "epsilon" });
  const level = h("p", { class: "level" });
  const advice = h("p", { class: "advice" });
  const [bar, showBar] = meaningBar();
  const factsTitle = h("h2", { id: "facts-title" });
  const facts = h("ul", { class: "facts" });
  const factsNote = h("p", { class: "note" });

  const drawButton = h("button", { type: "button", class: "main", onclick: () => draw(true) }, "Draw again");
  const price = h("p", { class: "price" });
  const meter = h("div", { class: "meter", role: "img" });
  const meterText = h("p", { class: "note meter-text" });
  const budgetText = h("p");
  const budgetInput = h("input", { type: "number", id: "budget", min: 1, max: 1000, step: 1,
    onchange: () => { state.budget = Number(budgetInput.value) || null; showBudget(); } });
  const subjectInput = h("input", { type: "text", id: "subject", maxlength: 200, autocomplete: "off",
    onchange: () => { state.subject = subjectInput.value; askPrice(); } });
  const startOver = h("button", { type: "button", class: "small", onclick: () => { state.draws = []; showBudget(); } }, "Start the count anew");

  const wordPanel = h("section", { class: "card word-panel", hidden: true, "aria-label": "The chosen word",
    onkeydown: (event) => event.key === "Escape" && wordPanel.querySelector(".close")?.click(),
    onclose: () => output.querySelector(`[data-slot="${state.selected}"]`)?.focus() });
  const [commandBox, setCommand] = copyable("Command line");
  const [pythonBox, setPython] = copyable("Python");

  const mechanismSelect = select("mechanism", mechanisms.map((each) => [each.name, each.name]), state.mechanism, (value) => {
    state.mechanism = value;
    state.epsilon = sliderOf(value).start;
    if (state.rival === value) state.rival = "";
    state.usual = null;
    fillRivals();
    placeSlider();
    changed();
  });
  const mechanismNote = h("p", { class: "note" });
  const lexiconSelect = select("lexicon", lexicons.map((each) => [each.name, `${each.name} (${each.words.toLocaleString("en-US")} words)`]), state.lexicon,
    (value) => { state.lexicon = value; changed(); });
  const rivalSelect = select("rival", [["", "none"]], "", (value) => { state.rival = value; state.usual = null; changed(); });
  const found = h("p", { class: "note" });
  const valueParts = [];

  element.replaceChildren(h("div", { class: "view text-view" },
    h("h1", { tabindex: -1 }, "See what private text looks like"),
    h("p", { class: "lead" }, "In the place of each word, Malaprop puts one that is drawn at random: sometimes the word itself, sometimes a similar one, sometimes any other. ",
      "The dial ε (epsilon) sets how often: low, and hardly a word is left; high, and most stay. ",
      h("strong", {}, "Private is not anonymous: "), h("a", { href: "#limits" }, "what is not protected"), "."),
    h("div", { class: "trial" },
      h("section", { class: "card dial", "aria-labelledby": "dial-title" },
        h("div", { class: "dial-slider" },
          h("h2", { id: "dial-title" }, h("label", { for: "epsilon" }, "How private?  ε = "), epsilonShown),
          slider, h("div", { class: "scale-ends", "aria-hidden": "true" }, h("small", {}, "more private"), h("small", {}, "closer to the original")),
          presetsNote, presets),
        h("div", { class: "dial-meaning" }, level, bar)),
      h("div", { class: "pair" },
        h("section", { class: "card", "aria-labelledby": "own-title" },
          h("div", { class: "row between" }, h("h2", { id: "own-title" }, h("label", { for: "own-text" }, "Your text")),
            h("div", { class: "row examples", role: "group", "aria-label": "Examples" }, exampleButtons)),
          input, h("div", { class: "row action" }, drawButton, price), meter, meterText, inputNote,
          h("fieldset", { class: "names" }, h("legend", { class: "unseen" }, "Names of people and places"),
            h("label", { class: "check" }, h("input", { type: "checkbox", id: "names", onchange: (event) => { state.names = event.target.checked; changed(); } }), "replace names of people"),
            h("label", { class: "check" }, h("input", { type: "checkbox", id: "places", onchange: (event) => { state.places = event.target.checked; changed(); } }), "replace names of places"),
            namesNote)),
        h("section", { class: "card", "aria-labelledby": "private-title" },
          h("div", { class: "row between" }, privateTitle,
            h("div", { class: "row" },
              formChoice,
              h("label", { class: "check" }, h("input", { type: "checkbox", onchange: (event) => { state.originals = event.target.checked; showOutput(); } }), "show originals"))),
          problemPlace, output, legend, look, kept),
        rivalBox),
      wordPanel),
    h("section", { class: "card", "aria-labelledby": "facts-title" }, factsTitle, advice, facts, factsNote),
    h("section", { class: "card budget", "aria-labelledby": "budget-title" },
      h("div", {}, h("h2", { id: "budget-title" }, "Draw again, and watch the budget"),
        h("p", {}, "Each draw is a new random version. Somebody who sees several of them can compare, and may learn more than from one. So every draw has a price, and the prices add up. The budget is what you allow in all: once it is used up, the button stops.")),
      h("div", {}, budgetText,
        h("div", { class: "row fields" },
          h("span", {}, h("label", { for: "budget" }, "Budget for this text, in ε"), " ", budgetInput),
          h("span", { class: "own-only" }, h("label", { for: "subject" }, "Person or case (optional)"), " ", subjectInput), startOver))),
    h("details", { class: "card" }, h("summary", {}, h("h2", {}, "Dates, numbers and rare words")), kindsPart()),
    h("details", { class: "card" }, h("summary", {}, h("h2", {}, "For experts: mechanism and lexicon, two of them side by side")),
      h("div", { class: "fieldsets" },
        h("div", {}, h("label", { for: "mechanism" }, "Mechanism: how words are drawn"), mechanismSelect, mechanismNote),
        h("div", {}, h("label", { for: "lexicon" }, "Lexicon: the words there are"), lexiconSelect),
        h("div", {}, h("label", { for: "rival" }, "Compare with"), rivalSelect,
          h("p", { class: "note" }, "The other mechanism gets the ε at which an attacker, looking at each word alone, guesses as many words right. So both are equally private by that measure, and you can compare what they leave of the text.")))),
    h("details", { class: "card" }, h("summary", {}, h("h2", {}, "Do the same on the command line, or in Python")),
      h("div", { class: "codes" }, commandBox, pythonBox),
      h("p", { class: "note" }, "They draw anew, so they give another text than this page shows.")),
  ));

  function kindsPart() {
    const typedOnly = [
      field("ε for numbers and dates", h("input", { type: "number", id: "kind-epsilon", min: 0.1, max: 20, step: 0.1, placeholder: "as for words",
        onchange: (event) => { state.kindEpsilon = Number(event.target.value) || null; changed(); } }), "kind-epsilon"),
      field("One step of a date", select("step-date", STEPS.date.map((step) => [step, step]), USUAL_STEP.date, (step) => setStep("date", step)), "step-date"),
      field("One step of a number", select("step-number", STEPS.number.map((step) => [step, step]), USUAL_STEP.number, (step) => setStep("number", step)), "step-number"),
      h("label", { class: "check" }, h("input", { type: "checkbox", id: "shift", onchange: (event) => { state.shift = event.target.checked; changed(); } }),
        "move all dates of a text together, so that the days between them stay"),
    ];
    valueParts.push(...typedOnly);
    return h("div", {}, found, h("div", { class: "fieldsets" },
      h("fieldset", {}, h("legend", {}, "Numbers, dates and times"),
        choice("kinds", "What they become", [["typed", "others of their kind"], ["words", "words"]], "typed", (value) => {
          state.kinds = value;
          for (const part of valueParts) part.hidden = value !== "typed";
          changed();
        }), typedOnly),
      h("fieldset", {}, h("legend", {}, "Words"),
        field("Words that the lexicon lacks", select("unknown", [["map", "count as a similar word"], ["mask", "are masked"], ["drop", "are left out"]], "map", (value) => { state.unknown = value; changed(); }), "unknown"),
        field("Words that occur several times", select("repeat", [["fresh", "a fresh draw for each place"], ["document", "one draw for all places"]], "fresh", (value) => { state.repeat = value; changed(); }), "repeat"))));
  }

  function setStep(kind, step) {
    if (step === USUAL_STEP[kind]) delete state.steps[kind];
    else state.steps[kind] = step;
    changed();
  }

  function fillRivals() {
    const others = mechanisms.filter((each) => each.name !== state.mechanism && meaning.mechanisms[each.name]);
    rivalSelect.replaceChildren(h("option", { value: "" }, "none"), ...others.map((each) => h("option", { value: each.name }, each.name)));
    rivalSelect.value = state.rival;
    mechanismNote.textContent = mechanisms.find((each) => each.name === state.mechanism).summary;
  }

  function placeSlider() {
    const about = sliderOf(state.mechanism);
    slider.min = about.points[0].epsilon;
    slider.max = about.points.at(-1).epsilon;
    slider.step = about.step;
    slider.value = state.epsilon;
    const tried = state.mechanism === "balanced" ? [1, 1.5, 2, 3] : about.points.map((point) => point.epsilon).slice(0, 5);
    const known = (epsilon) => Math.round(100 * guessedOf(figuresAt(meaning, state.mechanism, epsilon)));
    presets.replaceChildren(...tried.map((epsilon) => h("button", { type: "button", "data-epsilon": epsilon,
      onclick: () => { slider.value = epsilon; slid(); } }, h("strong", {}, `ε = ${epsilon}`), h("small", {}, ` ${known(epsilon)}`), h("span", { class: "unseen" }, " of 100 words guessed"))));
  }

  // What happens.

  function useExample(name) {
    state.example = name;
    state.text = input.value = examples[name].text;
    forget();
    draw(false);
  }

  function typed() {
    state.text = input.value;
    again = null; // what was asked for an example must not be drawn of one's own text
    if (state.example) forget();
    state.example = "";
    state.drawn = state.rivalDrawn = state.usual = null;
    showAll();
    askPrice();
  }

  function forget() {
    state.draws = [];
    state.drawn = state.rivalDrawn = state.price = state.budget = state.usual = state.selected = null;
  }

  function slid() {
    state.epsilon = Number(Number(slider.value).toFixed(4));
    showMeaning();
    changed();
  }

  /** Something that matters to the draw has changed: an example is drawn anew, one's own text is not. */
  function changed() {
    showMeaning();
    showCode();
    if (state.example) {
      state.draws = [];
      draw(false);
    } else {
      showOutput();
      askPrice();
    }
  }

  const askPrice = later(350, async () => {
    if (state.example || !state.text.trim()) return showBudget();
    try {
      const told = await api.post("/v1/page/draw", { ...sent(state.mechanism, state.epsilon), ...source(), readable: false, dry_run: true });
      state.price = Number(told.price);
      state.usual ??= usualBudget([[told.price, state.mechanism, state.epsilon]]);
      problemPlace.replaceChildren();
    } catch (problem) {
      showProblem(problem, askPrice);
    }
    showBudget();
  });

  const ask = async (asked, text) => ({ ...await api.post("/v1/page/draw", { ...asked, ...text }), readable: asked.readable });
  const formOf = (drawn) => (drawn.readable ? state.form : "drawn");
  let isDrawing = false, again = null;

  /** Draw; while one draw is under way, only the latest of those that were asked for is remembered. */
  async function draw(counts) {
    if (!state.text.trim() || !(counts || state.example)) return undefined;
    if (isDrawing) return (again = { counts });
    isDrawing = true;
    for (const part of [drawButton, output, rivalOutput]) part.setAttribute("aria-busy", "true");
    const [asked, text, other] = [sent(state.mechanism, state.epsilon), source(), state.rival];
    try {
      const otherEpsilon = other && rivalEpsilon();
      const drawn = await ask(asked, text);
      if (text.example && !counts && state.example) state.draws = []; // another setting: count from here
      booked(drawn, asked.epsilon, text);
      const rivalDrawn = other ? await ask(sent(other, otherEpsilon), text) : null;
      if (rivalDrawn) booked(rivalDrawn, otherEpsilon, text);
      if (state.rival === other) state.usual ??= usualBudget([[drawn.price, asked.mechanism, asked.epsilon], ...(rivalDrawn ? [[rivalDrawn.price, other, otherEpsilon]] : [])]);
      if (state.example === (text.example ?? "") && (text.example || state.text === text.text)) {
        Object.assign(state, { drawn, rivalDrawn, drawnOptions: asked, price: Number(drawn.price) + Number(rivalDrawn?.price ?? 0) });
        state.drawnRival = rivalDrawn && { mechanism: other, epsilon: otherEpsilon };
      }
      problemPlace.replaceChildren();
      if (counts) announce(`Drawn anew. ${countMoves(drawn, formOf(drawn)).map(([, label, count]) => `${count} ${label}`).join(", ")}.`);
    } catch (problem) {
      showProblem(problem, () => draw(counts));
    }
    isDrawing = false;
    for (const part of [drawButton, output, rivalOutput]) part.removeAttribute("aria-busy");
    showAll();
    if (again) {
      const next = again;
      again = null;
      return draw(next.counts);
    }
    return undefined;
  }

  /** A budget to start with. It goes by the text and the mechanism, and not by the ε that is chosen. */
  function usualBudget(prices) {
    return Math.ceil(prices.reduce((sum, [price, mechanism, epsilon]) => sum + (USUAL_DRAWS * price * sliderOf(mechanism).start) / (epsilon * 0.75), 0) - 1e-9);
  }

  function booked(drawn, epsilon, from) {
    if (from.example && from.example !== state.example) return; // it is not shown any more
    state.draws.push({ price: Number(drawn.price), epsilon, receipt: drawn.receipt });
  }

  function showProblem(problem, retry) {
    problemPlace.replaceChildren(problemBox(problem, problem.status === 402 ? null : retry));
  }

  // What is shown.

  function showAll() {
    showOutput();
    showMeaning();
    showBudget();
    showCode();
    for (const button of exampleButtons) button.setAttribute("aria-pressed", String(button.dataset.example === state.example));
    for (const part of element.querySelectorAll(".own-only")) part.hidden = Boolean(state.example);
    inputNote.textContent = state.example
      ? "An invented text. Moving the slider draws it anew each time. Write or paste your own to try that: it goes to the Malaprop program that shows this page, and nowhere else."
      : "Nothing is drawn until you press the button. The text goes to the Malaprop program that shows this page, and nowhere else. Its ledger notes the price of each draw, and none of your words.";
    namesNote.textContent = state.names || state.places ? "By others from public lists. Some names are not recognized: those are drawn like other words." : "Off: names are drawn like other words, and may stay.";
    if (state.kinds === "typed") namesNote.append(" Numbers and dates become near ones, or stay.");
  }

  function showOutput() {
    if (!state.drawn) {
      output.replaceChildren(h("p", { class: "note" }, state.text.trim() ? "Press “Draw” to see your text made private." : "Write or paste a text first."));
      legend.replaceChildren();
      kept.textContent = look.textContent = "";
      rivalBox.hidden = wordPanel.hidden = true;
      rivalBox.parentElement.classList.remove("compared");
      privateTitle.textContent = "Private text";
      found.textContent = "";
      return;
    }
    const { drawn } = state;
    const form = formOf(drawn);
    formChoice.hidden = !drawn.readable;
    const moves = (which) => countMoves(which, formOf(which)).map(([name, label, count]) => h("span", {}, h("i", { class: `swatch ${name}` }), ` ${label}: ${count}`));
    const looked = (which) => (slot) => (look.textContent = slot === null ? IDLE : `${fate(which, slot, formOf(which))}.`);
    showDrawn(output, drawn, { form, originals: state.originals, looked: looked(drawn), chosen: (slot) => choose(drawn, slot, state.drawnOptions) });
    looked(drawn)(null);
    if (drawn.warnings.length) output.append(h("p", { class: "note" }, drawn.warnings.join(" ")));
    rivalBox.hidden = !state.rivalDrawn;
    rivalBox.parentElement.classList.toggle("compared", Boolean(state.rivalDrawn));
    privateTitle.textContent = state.rivalDrawn ? `Private by ${state.drawnOptions.mechanism}, ε = ${short(state.drawnOptions.epsilon)}` : "Private text";
    if (state.rivalDrawn) {
      const { mechanism, epsilon } = state.drawnRival;
      rivalTitle.textContent = `Private by ${mechanism}, ε = ${short(epsilon)}`;
      rivalNote.textContent = "At this ε, an attacker who looks at each word alone guesses as many words right.";
      rivalLegend.replaceChildren(...moves(state.rivalDrawn));
      showDrawn(rivalOutput, state.rivalDrawn, { form: formOf(state.rivalDrawn), originals: state.originals, looked: looked(state.rivalDrawn),
        chosen: (slot) => choose(state.rivalDrawn, slot, sent(mechanism, epsilon)) });
    }
    legend.replaceChildren(...moves(drawn));
    const stayed = (how) => countMoves(drawn, how).find(([name]) => name === "kept")?.[2] ?? 0;
    kept.textContent = `Only you see the colours: a reader cannot tell which words are the original ones. A step leads to a similar word, as from aspirin to ibuprofen. ${FORMS.find(([name]) => name === form)[2]}`
      + (form === "drawn" ? "" : ` It may bring words back: ${stayed("drawn")} of ${drawn.tags.length} were unchanged as drawn, ${stayed(form)} are now. What reads well may still be wrong.`);
    const old = state.drawnOptions.epsilon !== state.epsilon || state.drawnOptions.mechanism !== state.mechanism;
    if (old && !state.example) legend.append(h("strong", { class: "old" }, `Drawn with ${state.drawnOptions.mechanism} at ε = ${short(state.drawnOptions.epsilon)}. Press the button to draw at ε = ${short(state.epsilon)}.`));
    const classes = {};
    for (const tag of drawn.tags) classes[NAMES[tag] ?? "words"] = (classes[NAMES[tag] ?? "words"] ?? 0) + 1;
    found.textContent = `This text has ${Object.entries(classes).map(([name, count]) => `${count} ${count === 1 ? ONE[name] ?? name : name}`).join(", ")}.`;
    if (state.selected !== null && !wordPanel.hidden) refreshWord();
  }

  const refreshWord = later(250, () => {
    const slot = state.selected;
    if (slot === null || !state.drawn || slot >= state.drawn.tags.length || wordPanel.hidden) return;
    showWord(wordPanel, api, aboutSlot(state.drawn, slot), state.drawnOptions);
  });

  const aboutSlot = (drawn, slot) => ({ original: drawn.original[2 * slot + 1], tag: drawn.tags[slot], counts_as: drawn.counts_as[slot] });

  async function choose(drawn, slot, options) {
    state.selected = drawn === state.drawn ? slot : null;
    wordPanel.hidden = false;
    await showWord(wordPanel, api, aboutSlot(drawn, slot), options);
    wordPanel.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    wordPanel.querySelector("h2")?.focus({ preventScroll: true });
  }

  function showMeaning() {
    epsilonShown.textContent = short(state.epsilon);
    factsTitle.textContent = `What ε = ${short(state.epsilon)} means`;
    for (const button of presets.children) button.setAttribute("aria-pressed", String(Number(button.dataset.epsilon) === state.epsilon));
    const figures = state.lexicon === meaning.lexicon.name ? figuresAt(meaning, state.mechanism, state.epsilon) : null;
    for (const part of [bar, level]) part.hidden = !figures;
    advice.hidden = !figures || state.mechanism !== "balanced";
    advice.textContent = adviceOf(state.epsilon);
    if (!figures) {
      facts.replaceChildren(h("li", {}, "Nobody has measured what this ε means for this mechanism and lexicon."));
      factsNote.textContent = "";
      slider.setAttribute("aria-valuetext", `epsilon ${short(state.epsilon)}`);
      return;
    }
    const told = factsOf(figures);
    if (isGraph(state.mechanism)) {
      told.push([`${mostSure(Math.exp(state.epsilon))} sure`, "is the most that one draw can make an attacker who was 50 % sure which of two similar words it was, such as aspirin or ibuprofen. This is proved, whatever else they know."]);
    }
    const form = state.form === "fluent" ? "fluent" : "readable";
    facts.replaceChildren(...told.map(([number, text]) => h("li", {}, h("strong", {}, number), " ", text)));
    level.textContent = levelOf(figures);
    showBar(figures);
    factsNote.replaceChildren(figures.sampleName
      ? `Measured on the words as drawn, in ${sampleOf(figures)}, not on this text.${figures.readable ? ` Made ${form}, about ${Math.round(100 * figures[form])} of 100 words are those of the original; that step looks at the drawn words only, so an attacker could do the same.` : ""} Several draws tell more. `
      : "An average over the words of the lexicon. What an attacker with context guesses has not been measured for this mechanism. ",
    h("a", { href: "#limits" }, "What else an attacker learns"));
    slider.setAttribute("aria-valuetext", `epsilon ${short(state.epsilon)}. ${levelOf(figures)} ${told.slice(0, 2).map((fact) => fact.join(" ")).join(" ")}`);
  }

  function showBudget() {
    const spent = state.draws.reduce((sum, each) => sum + each.price, 0);
    const next = state.price ?? 0;
    const budget = state.budget ?? Math.max(1, state.usual ?? state.price ?? 0);
    if (document.activeElement !== budgetInput) budgetInput.value = budget;
    const last = state.draws.at(-1)?.receipt;
    const allowed = last && last.remaining !== null ? Number(last.remaining) : Infinity; // by the ledger
    const left = Math.min(Math.max(0, budget - spent), allowed);
    const over = next > left + 1e-9;
    meter.replaceChildren(...state.draws.map((each) => h("span", { class: "spent", style: { flexGrow: each.price } })),
      h("span", { class: "left", style: { flexGrow: Math.max(left, 0.001) } }));
    const count = state.draws.length;
    meter.setAttribute("aria-label", `${short(spent)} of ${short(budget)} spent`);
    const figures = figuresAt(meaning, state.mechanism, state.epsilon);
    const same = state.draws.every((each) => each.epsilon === state.epsilon);
    const repeated = count > 1 && same && figures?.repeats ? `${seen(figures.repeats, count)} ` : "";
    const ledger = last ? `The ledger has booked ${short(last.spent, 6)} in all on ${state.subject.trim() ? "this person" : "this machine's own account"}${last.remaining === null ? ", and sets no limit" : `; ${short(last.remaining, 6)} are left`}. ` : "";
    meterText.textContent = `${count} ${count === 1 ? "draw" : "draws"}: ${short(spent)} of ${short(budget)} spent, ${short(left)} left.`;
    budgetText.textContent = repeated + ledger + (state.example ? "This text is invented, so it costs nothing in earnest, and each move of the slider starts the count anew. Of your own text, every draw counts."
      : "The ledger’s own count cannot be started anew.");
    drawButton.textContent = count || state.example ? "Draw again" : "Draw";
    drawButton.disabled = !state.text.trim() || over;
    const times = state.rival || !next ? 0 : next / state.epsilon;
    const why = times > 1 && Math.abs(times - Math.round(times)) < 1e-6 ? `: ${short(state.epsilon)} × ${Math.round(times)}, as one word stands in this text ${Math.round(times)} times${times > 2.5 ? ". One draw for all its places costs less: see below" : ""}` : "";
    const remedy = allowed < next ? "The ledger's limit is the service's own: take a smaller ε." : "Raise it, or take a smaller ε.";
    price.textContent = over ? `The budget does not allow another draw, which costs ${short(next)}${why}. ${remedy}` : next ? `costs ${short(next)} of the budget${state.rival ? " for both" : why}.` : "";
    startOver.hidden = !count;
    meter.hidden = meterText.hidden = !state.text.trim();
  }

  function showCode() {
    const options = optionsFor(state.mechanism, state.epsilon);
    setCommand(command(options, isGraph(state.mechanism)));
    setPython(python(options, isGraph(state.mechanism)));
  }

  fillRivals();
  placeSlider();
  showAll();
  await draw(false);
}

/** Say what so many draws tell, from figures at a few numbers of draws. */
function seen(repeats, count) {
  const known = repeats.filter(([times]) => times <= count).at(-1);
  const few = count === 2 ? " Two draws hardly tell more than one: where they differ, either may be right. Try a third." : "";
  return `Somebody who sees all of them guesses ${known[0] === count ? "about" : "more than"} ${Math.round(100 * known[1])} of 100 words of the lexicon right, even without context; from one draw, about ${Math.round(100 * repeats[0][1])}.${few}`;
}

const NAMES = {
  in_lexicon: "words", mapped: "words that the lexicon lacks", numbers: "numbers", dates: "dates", times: "times", money: "amounts of money",
  percentages: "percentages", ordinals: "ordinals", identifiers: "identifiers", urls: "web addresses", emails: "e-mail addresses",
  mentions: "mentions", hashtags: "hashtags", emoji: "emoji", names: "names of people", places: "names of places",
};
const ONE = {
  words: "word", "words that the lexicon lacks": "word that the lexicon lacks", numbers: "number", dates: "date", times: "time", "amounts of money": "amount of money",
  percentages: "percentage", ordinals: "ordinal", identifiers: "identifier", "web addresses": "web address", "e-mail addresses": "e-mail address",
  mentions: "mention", hashtags: "hashtag", "names of people": "name of a person", "names of places": "name of a place",
};

function select(id, options, value, changed) {
  const element = h("select", { id, onchange: () => changed(element.value) }, options.map(([name, label]) => h("option", { value: name }, label)));
  element.value = value;
  return element;
}

function field(label, control, id) {
  return h("div", { class: "field" }, h("label", { for: id }, label), control);
}

function choice(name, label, options, value, changed) {
  return h("div", { class: "choice", role: "radiogroup", "aria-label": label }, options.map(([option, text]) =>
    h("label", {}, h("input", { type: "radio", name, value: option, checked: option === value, onchange: () => changed(option) }), h("span", {}, text))));
}
