// A tour on one made-up note. All figures were measured beforehand, by a tool, and are in tour.json.

import { announce, h, percent, s, short } from "./dom.js";
import { figuresAt, levelOf, loadMeaning, mostSure } from "./meaning.js";
import { neighbourhood } from "./word.js";

const STEPS = [
  ["A word", aWord],
  ["Its neighbours", itsNeighbours],
  ["The dial ε", theDial],
  ["Context", context],
  ["Repetition", repetition],
];
const COMPARED = [1, 2]; // the ε of the comparison
const UTILITY = { // what is measured, what stands beside the axis, and where the axis begins
  similarity: ["likeness of word and replacement", "likeness (1: the same word)", 0],
  accuracy: ["share of film reviews that a classifier gets right", "share right (0.5: by chance)", 0.5],
  sts: ["agreement on how alike two sentences are", "agreement (1: full)", 0],
};

export async function mount(element, api) {
  const [tour, meaning] = await Promise.all([api.get("/page/tour.json"), loadMeaning(api)]);
  const view = new Tour({ ...tour, meaning });
  element.replaceChildren(view.element);
}

class Tour {
  constructor(data) {
    Object.assign(this, data);
    this.step = 0;
    this.chosen = this.levels.findIndex((level) => level.epsilon === 1.5);
    const place = this.secret.indexOf(this.word);
    this.draw = Math.max(0, this.level.outputs.findIndex((output) => output[place] !== this.word)); // so that the first step shows a change
    this.attacker = false;
    this.times = 3;
    this.measure = "similarity";
    this.stage = h("div", { class: "stage" });
    this.short = h("div", { class: "card in-short" });
    this.price = h("div", { class: "card price-card" });
    this.element = h("div", { class: "view understand" },
      h("h1", { tabindex: -1 }, "What ε does, in five steps"),
      h("p", { class: "lead" }, "What becomes of a note about an invented patient, what ε changes, and what an attacker, somebody who wants the original back, still learns. The notes stand here as drawn, before any step that makes them readable."),
      h("div", { class: "card tour" }, this.stepsList(), this.controls(), this.stage, this.moves()),
      h("div", { class: "tour-below" }, this.short, this.price));
    this.update();
  }

  get level() { return this.levels[this.chosen]; }
  at(epsilon) { return this.levels.find((level) => level.epsilon === epsilon); }
  text(id) { return this.words[id]; }

  stepsList() {
    this.buttons = STEPS.map(([title], i) => h("button", { type: "button", onclick: () => this.go(i) },
      h("span", { class: "step-number", "aria-hidden": "true" }, i + 1), title));
    return h("nav", { class: "steps", "aria-label": "Steps" }, h("ol", {}, this.buttons.map((button) => h("li", {}, button))));
  }

  controls() {
    this.slider = h("input", { id: "tour-epsilon", type: "range", min: 0, max: this.levels.length - 1, step: 1, value: this.chosen,
      oninput: () => { this.chosen = Number(this.slider.value); this.update(); } });
    this.epsilon = h("output", { for: "tour-epsilon" });
    this.switch = h("input", { type: "checkbox", role: "switch", id: "tour-attacker",
      onchange: () => { this.attacker = this.switch.checked; this.update(); } });
    this.again = h("button", { type: "button", onclick: () => {
      this.draw = (this.draw + 1) % this.level.outputs.length;
      this.update();
      announce(`Draw ${this.draw + 1} of ${this.level.outputs.length}.`);
    } }, "Draw again");
    this.free = h("small", {}, `one of ${this.levels[0].outputs.length} draws that were made beforehand; free, as the note is invented`);
    this.versions = h("input", { id: "tour-times", type: "range", min: 0, max: this.counted.times.length - 1, step: 1, value: this.times,
      oninput: () => { this.times = Number(this.versions.value); this.update(); } });
    this.versionsShown = h("output", { for: "tour-times" });
    this.versionsBox = h("div", { class: "tour-dial" }, h("label", { for: "tour-times" }, "Private versions of the note: ", this.versionsShown), this.versions);
    return h("div", { class: "tour-controls" },
      h("div", { class: "tour-dial" }, h("label", { for: "tour-epsilon" }, "ε = ", this.epsilon), this.slider,
        h("div", { class: "scale-ends", "aria-hidden": "true" }, h("small", {}, "more private"), h("small", {}, "closer to the original"))),
      h("label", { class: "inline switch", for: "tour-attacker" }, this.switch, " Attacker’s view"), h("span", { class: "inline" }, this.again, " ", this.free), this.versionsBox);
  }

  moves() {
    this.back = h("button", { type: "button", onclick: () => this.go(this.step - 1) }, "Back");
    this.next = h("button", { type: "button", class: "main", onclick: () => this.go(this.step + 1) });
    return h("div", { class: "row moves" }, this.back, this.next);
  }

  go(step) {
    this.step = step;
    if (step >= 3 && !this.attacker) this.attacker = this.switch.checked = true;
    this.update();
    this.stage.querySelector("h2").focus();
    const top = this.element.querySelector(".tour").getBoundingClientRect().top;
    if (top < 0) scrollBy(0, top - 12);
  }

  update() {
    this.epsilon.textContent = this.level.epsilon;
    this.slider.setAttribute("aria-valuetext", `ε = ${this.level.epsilon}`);
    this.buttons.forEach((button, i) => (i === this.step ? button.setAttribute("aria-current", "step") : button.removeAttribute("aria-current")));
    this.free.hidden = this.again.hidden = [itsNeighbours, repetition].includes(STEPS[this.step][1]);
    this.versionsBox.hidden = STEPS[this.step][1] !== repetition;
    this.versionsShown.textContent = this.counted.times[this.times];
    this.versions.setAttribute("aria-valuetext", `${this.counted.times[this.times]} private versions`);
    this.back.disabled = this.step === 0;
    this.next.hidden = this.step === STEPS.length - 1;
    this.next.textContent = this.next.hidden ? "" : `Next: ${STEPS[this.step + 1][0]}`;
    const [title, show] = STEPS[this.step];
    this.stage.replaceChildren(h("h2", { tabindex: -1 }, `${this.step + 1}. ${title}`), ...show(this).flat(9).filter(Boolean));
    this.price.replaceChildren(...priceOf(this));
    this.short.replaceChildren(...this.inShort());
  }

  /** The note with other words in its places; what equals the original is marked. */
  noteWith(ids, kind) {
    let place = -1;
    return h("p", { class: "tour-note" }, this.note.map((piece) => {
      if (!/\w/.test(piece)) return piece;
      place += 1;
      const same = ids && ids[place] === this.secret[place];
      const word = ids ? this.text(ids[place]) : piece;
      const written = /^[A-Z]/.test(piece) ? word[0].toUpperCase() + word.slice(1) : word;
      return ids && same ? h("mark", { class: kind }, written) : h("span", {}, written);
    }));
  }

  same(ids) { return ids.filter((id, place) => id === this.secret[place]).length; }

  inShort() {
    const shown = comparedWith(this);
    const last = this.counted.times.length - 1;
    const row = (title, value) => h("tr", {}, h("th", { scope: "row" }, title), shown.map((level) => h("td", {}, value(level))));
    return [h("h2", {}, "In short"),
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Of the words of this note"), shown.map((level) => h("th", { scope: "col" }, `ε = ${level.epsilon}`)))),
        h("tbody", {},
          row("stay as they are", (level) => percent(level.kept)),
          row("an attacker guesses from one private version, with context", (level) => percent(level.context)),
          row(`an attacker guesses from ${this.counted.times[last]} versions, without context`, (level) => percent(level.together[last])),
          row("how sure an attacker can become, at most, who was 50 % sure which of two similar words it was", (level) => mostSure(Math.exp(level.epsilon))))),
      h("p", { class: "note" }, `Measured on this note: ${this.counted.draws} draws at each ε, ${this.counted.rounds} for several versions. `,
        "The attacker is a program that knows the mechanism, how frequent words are, and which words follow which. A better one, or one who knows the patient, gets more right: ",
        h("a", { href: "#limits" }, "what is not protected"), ".")];
  }
}

/** The levels that are shown beside each other: ε = 1, ε = 2, and the dial's. */
function comparedWith(tour) {
  return [...new Set([...COMPARED, tour.level.epsilon])].sort((a, b) => a - b).map((epsilon) => tour.at(epsilon));
}

// The steps. Each returns what stands below its heading.

function aWord(tour) {
  const { level, word } = tour;
  const place = tour.secret.indexOf(word);
  const out = level.outputs[tour.draw][place];
  const guess = level.alone_guesses[tour.draw][place];
  const right = guess === word;
  return [
    h("p", {}, "This is the note. Nobody but you should read it:"),
    tour.noteWith(null),
    h("p", {}, "Malaprop takes it word by word. In the place of each word comes a word that is drawn at random: sometimes the word itself, sometimes a similar one, sometimes any other. The number ε sets how often; step 3 shows it."),
    h("p", { class: "swap" }, h("span", { class: "from" }, tour.text(word)), h("span", { "aria-label": "becomes" }, " → "),
      h("span", { class: out === word ? "to kept" : "to" }, tour.text(out)), h("small", {}, ` draw ${tour.draw + 1} of ${level.outputs.length}`)),
    h("div", { class: "two" },
      h("div", {}, h("h3", {}, `What “${tour.text(word)}” becomes at ε = ${level.epsilon}`), chanceTable(tour)),
      h("div", {}, h("h3", {}, "Why that protects"),
        h("p", {}, `Whoever reads “${tour.text(out)}” cannot be sure that this was the word: others become it, too. They can only guess.`),
        tour.attacker
          ? h("div", { class: "attack" }, h("p", {}, h("strong", {}, "The attacker"), ` knows the program and sees “${tour.text(out)}”. The best guess from this word alone: “${tour.text(guess)}”, which is ${right ? "right this time" : "wrong this time"}. `,
            `Over ${tour.counted.draws} draws at ε = ${level.epsilon}, the guess is right ${times(level.found_alone[place])}; the attacker cannot know when.`))
          : h("p", { class: "note" }, "Switch on the attacker’s view to see what can be guessed."))),
  ];
}

function times(share) {
  return share === 0 ? "never" : `in ${percent(share)} of them`;
}

function chanceTable(tour) {
  const { level, word } = tour;
  const shown = level.becomes.slice(0, 6);
  const rest = 1 - shown.reduce((sum, [, chance]) => sum + chance, 0);
  const most = Math.max(rest, ...shown.map(([, chance]) => chance));
  const row = (name, chance, isOwn) => h("tr", { class: isOwn ? "own" : "" }, h("th", { scope: "row" }, name),
    h("td", { class: "bars" }, h("span", { class: "length-bar", style: { width: `${((100 * chance) / most).toFixed(1)}%` } })), h("td", {}, percent(chance)));
  return h("table", { class: "chances" }, h("tbody", {}, shown.map(([id, chance]) => row(tour.text(id), chance, id === word)),
    row("any other word", rest, false)));
}

function itsNeighbours(tour) {
  const { level, word } = tour;
  const factor = short(Math.exp(level.epsilon), 2);
  const [first] = tour.near.rings;
  const rings = ringRows(level);
  return [
    h("p", {}, `Malaprop knows which words are alike. They form a network: “${tour.text(word)}” is one step from “${tour.text(first[0])}”, two from “${tour.text(tour.near.rings[1][0])}”, and so on. A near word is mostly likelier to come out than a far one, but the far ones are many.`),
    h("div", { class: "two" },
      h("figure", {}, neighbourPicture(tour), h("figcaption", { class: "note" }, "Solid lines join words that are one step apart; dashed lines are longer. A number is the chance to come out.")),
      h("div", {}, h("h3", {}, `Where the draws go at ε = ${level.epsilon}`),
        h("table", { class: "chances" }, h("thead", {}, h("tr", {}, ["Steps", "Words", "Chance"].map((each) => h("th", { scope: "col" }, each)))),
          h("tbody", {}, rings.map(([name, count, chance]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, count.toLocaleString("en-US")), h("td", {}, percent(chance)))))),
        tour.attacker
          ? h("div", { class: "attack" }, h("p", {}, h("strong", {}, "The attacker"), ` weighs neighbours against each other, and that is what is limited: no word that comes out is more than ${factor} times as likely for “${tour.text(word)}” as for “${tour.text(first[0])}”. `,
            `Two steps away the limit is ${short(Math.exp(2 * level.epsilon), 2)} times, and so on: that it was about health is protected less than which illness.`))
          : h("p", {}, `This is the promise: no word that comes out is more than ${factor} times as likely for “${tour.text(word)}” as for a word one step away. So whoever was 50 % sure of each of the two is ${mostSure(Math.exp(level.epsilon))} sure of one at most. ε is that limit: ${factor} is e to the power of ${level.epsilon}.`))),
  ];
}

function ringRows(level) {
  const rows = [["0 (the word)", 0, 0], ["1", 0, 0], ["2", 0, 0], ["3 to 5", 0, 0], ["more", 0, 0]];
  for (const [steps, count, chance] of level.rings) {
    const row = rows[steps === 0 ? 0 : steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 3 : 4];
    row[1] += count;
    row[2] += chance;
  }
  return rows;
}

function neighbourPicture(tour) {
  const { level, word, near } = tour;
  const [inner, outer] = near.rings;
  const ids = [word, ...inner, ...outer];
  const words = ids.map((id, i) => ({ word: tour.text(id), steps: i === 0 ? 0 : i <= inner.length ? 1 : 2, chance: level.chances[id] }));
  const picture = neighbourhood({ words, edges: near.lines.map(([a, b, length]) => [ids.indexOf(a), ids.indexOf(b), length]) });
  return h("div", { class: "scrolls", role: "region", tabindex: 0, "aria-label": "The network" }, picture);
}

function theDial(tour) {
  const shown = comparedWith(tour);
  return [
    h("p", {}, `ε sets how often a word stays, and how often it becomes a near or a far one. So it sets how private and how useful the text is. Here is the note at ε = 1 and at ε = 2${shown.length > 2 ? `, and at ε = ${tour.level.epsilon}, where the dial stands` : "; move the dial for another ε beside them"}.`),
    h("div", { class: "row" }, legend("kept", "a word that stayed as it was"), tour.attacker && legend("hit", "a word that the attacker guesses right")),
    h("div", { class: "levels" }, shown.map((level) => levelCard(tour, level))),
  ];
}

function legend(kind, text) {
  return h("p", { class: "note" }, h("mark", { class: kind }, "marked"), `: ${text}`);
}

function levelCard(tour, level) {
  const outputs = level.outputs[tour.draw];
  return h("div", { class: "tour-level" }, h("h3", {}, `ε = ${level.epsilon}`),
    h("p", { class: "meaning" }, levelOf(figuresAt(tour.meaning, tour.mechanism, level.epsilon))),
    tour.noteWith(outputs, "kept"),
    h("p", { class: "note" }, `${tour.same(outputs)} of ${outputs.length} words stayed this time; over ${tour.counted.draws} draws of this note, ${percent(level.kept)}.`),
    tour.attacker && h("div", { class: "attack" }, h("p", {}, h("strong", {}, "The attacker reads")), tour.noteWith(level.guesses[tour.draw], "hit"),
      h("p", { class: "note" }, `${tour.same(level.guesses[tour.draw])} of ${outputs.length} words right this time; over ${tour.counted.draws} draws of this note, ${percent(level.context)}.`)));
}

function context(tour) {
  const { level, draw } = tour;
  const outputs = level.outputs[draw];
  return [
    h("p", {}, "Words stand beside other words, and an attacker uses that: after “chest”, “pain” is likelier than “paint”. On average, the whole text gives away more than each word by itself, above all where many words are still right; a single rare word may be guessed less often."),
    h("h3", {}, `The private note at ε = ${level.epsilon}`), tour.noteWith(outputs, "kept"),
    tour.attacker
      ? [h("div", { class: "two" }, [["Guessed from each word alone", level.alone_guesses, level.alone], ["Guessed with context", level.guesses, level.context]].map(([title, guesses, share]) =>
        h("div", { class: "attack" }, h("h3", {}, title), tour.noteWith(guesses[draw], "hit"),
          h("p", { class: "note" }, `${tour.same(guesses[draw])} of ${outputs.length} right this time; ${percent(share)} over ${tour.counted.draws} draws of this note.`)))),
        legend("hit", "guessed right"),
        h("h3", {}, "How often the telling words are guessed right"), tellingTable(tour),
        h("p", { class: "note" }, `Over ${tour.counted.draws} draws. This attacker only knows which words follow which in text of the web. That helps most with frequent words, and can mislead about rare ones; a large model of language gets more right.`)]
      : h("p", { class: "note" }, "Switch on the attacker’s view to see what the attacker makes of it."),
  ];
}

function tellingTable(tour) {
  const { level } = tour;
  return h("table", { class: "telling" }, h("thead", {}, h("tr", {}, ["Word", "from the word alone", "with context"].map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", {}, tour.telling.map((place) => h("tr", {}, h("th", { scope: "row" }, tour.note.filter((piece) => /\w/.test(piece))[place]),
      h("td", {}, percent(level.found_alone[place])), h("td", {}, percent(level.found[place]))))));
}

function repetition(tour) {
  const { level, counted } = tour;
  const n = counted.times[tour.times];
  const places = (id) => tour.secret.filter((other) => other === id).length;
  const repeated = tour.secret.reduce((most, id) => (places(id) > places(most) ? id : most));
  const often = places(repeated);
  return [
    h("p", {}, `Each private version is drawn anew. Whoever sees several, say one of every visit, can compare them: what comes up often is near the truth. The promise gets weaker, too: for a word that stands in the note once, ${n === 1 ? `one version at ε = ${level.epsilon} promises what that ε says` : `${n} versions at ε = ${level.epsilon} promise no more than one at ε = ${short(n * level.epsilon)}`}. “${tour.text(repeated)}” stands there ${often} times and is drawn ${often} times in each version: for it the promise is no more than ε = ${short(often * n * level.epsilon)}. That is the price that the ledger books.`),
    tour.attacker
      ? h("div", { class: "two" },
        h("div", { class: "attack" }, h("h3", {}, `The attacker reads, from ${n === 1 ? "one version" : `${n} versions`}`), tour.noteWith(level.together_guesses[tour.times], "hit"),
          h("p", { class: "note" }, `${tour.same(level.together_guesses[tour.times])} of ${tour.secret.length} words right here; ${percent(level.together[tour.times])} on average over ${counted.rounds} trials with this note.`), legend("hit", "guessed right")),
        repetitionChart(tour))
      : h("p", { class: "note" }, "Switch on the attacker’s view to see what the attacker makes of it."),
    h("p", {}, "Remedies: make a text private once, and keep what came out; set a limit for each person, which the program’s ledger enforces; and let equal words of one text share a draw."),
  ];
}

function repetitionChart(tour) {
  const { times } = tour.counted;
  const x = (i) => 46 + (i * 300) / (times.length - 1);
  const y = (share) => 190 - 170 * share;
  const shown = comparedWith(tour);
  const title = shown.map((level) => `At ε = ${level.epsilon}: ${level.together.map((each, i) => `${percent(each)} from ${times[i]}`).join(", ")}.`).join(" ");
  return h("figure", {}, s("svg", { class: "chart", viewBox: "-14 0 440 235", role: "img", "aria-label": `Share of words guessed right, by the number of private versions. ${title}` },
    [0, 0.5, 1].map((share) => s("g", { class: "tick" }, s("line", { x1: 46, x2: 350, y1: y(share), y2: y(share) }), s("text", { x: 40, y: y(share) + 4, "text-anchor": "end" }, percent(share)))),
    times.map((n, i) => s("text", { x: x(i), y: 208, "text-anchor": "middle" }, n)),
    s("text", { x: 198, y: 230, "text-anchor": "middle" }, "private versions"),
    apart(shown.map((level) => y(level.together.at(-1)))).map((place, k) => s("text", { x: 354, y: place + 4, class: shown[k] === tour.level ? "own" : "" }, `ε = ${shown[k].epsilon}`)),
    shown.map((level) => s("polyline", { class: level === tour.level ? "own" : "", points: level.together.map((share, i) => `${x(i)},${y(share)}`).join(" ") })),
    s("circle", { class: "chosen", cx: x(tour.times), cy: y(tour.level.together[tour.times]), r: 6 })),
  h("figcaption", { class: "note" }, `Share of this note’s words guessed right by comparing versions, without context. With context it is higher: ${percent(tour.level.context)} from one version at ε = ${tour.level.epsilon}.`));
}

/** Move labels apart that would cover each other. */
function apart(places) {
  const order = places.map((place, i) => [place, i]).sort((a, b) => a[0] - b[0]);
  order.forEach((own, k) => { if (k) own[0] = Math.max(own[0], order[k - 1][0] + 17); });
  const moved = [];
  for (const [place, i] of order) moved[i] = place;
  return moved;
}

// Privacy against utility

function priceOf(tour) {
  const { curve, level } = tour;
  const column = 2 + curve.measures.indexOf(tour.measure);
  const own = curve.mechanisms[tour.mechanism];
  const choice = h("select", { id: "tour-measure", onchange: () => { tour.measure = choice.value; tour.update(); document.getElementById("tour-measure").focus(); } },
    curve.measures.map((each) => h("option", { value: each }, UTILITY[each][0])));
  choice.value = tour.measure;
  const point = own.find(([epsilon]) => epsilon === level.epsilon);
  const told = point
    ? `At ε = ${level.epsilon}: ${percent(point[1])} of the words of film reviews guessed right, ${UTILITY[tour.measure][0]} ${short(point[column], 2)}.`
    : `ε = ${level.epsilon} is outside the measured range, ${own[0][0]} to ${own.at(-1)[0]}.`;
  return [h("h2", {}, "What privacy costs"),
    h("p", {}, "The less an attacker gets right, the less a text is good for. No mechanism escapes that; some lose less. You choose the place on the curve."),
    h("div", {}, h("label", { for: "tour-measure" }, "Usefulness, measured as"), choice),
    priceChart(tour, own, column, point),
    h("p", { class: "told" }, told),
    h("p", { class: "note" }, "Measured on other texts than this note, so the figures differ: film reviews and public sentence pairs. The attacker uses context or not, whichever gets more right. The line is the mechanism of this page, ", h("strong", {}, tour.mechanism), "; the small signs are others, for experts: ",
      others(tour).map(([name], i) => [i ? ", " : "", s("svg", { class: "chart key", viewBox: "-6 -6 12 12", "aria-hidden": "true" }, sign(i, 0, 0)), ` ${name}`]), ".")];
}

const others = (tour) => Object.entries(tour.curve.mechanisms).filter(([name]) => name !== tour.mechanism);

const SIGNS = ["M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z", "M-4 -4H4V4H-4Z", "M0 -5L5 4H-5Z", "M0 -5L5 0L0 5L-5 0Z", "M0 5L5 -4H-5Z", "M-4 -4L4 4M-4 4L4 -4", "M-5 0H5M0 -5V5"];

/** The sign of another mechanism, at a place. */
function sign(i, x, y) {
  return s("path", { class: "other", d: SIGNS[i % SIGNS.length], transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
}

function priceChart(tour, own, column, point) {
  const { curve } = tour;
  const none = curve.bounds["no noise"]?.[tour.measure];
  const [named, axis, least] = UTILITY[tour.measure];
  const most = 1;
  const x = (share) => 50 + 420 * share;
  const y = (value) => 230 - (215 * (value - least)) / (most - least);
  const line = own.map((row) => `${x(row[1]).toFixed(1)},${y(row[column]).toFixed(1)}`).join(" ");
  const ticks = [least, (least + most) / 2, most];
  return s("svg", { class: "chart", viewBox: "-18 0 528 275", role: "img",
    "aria-label": `${named} against the share of words guessed right, for ${tour.mechanism}: ${own.map((row) => `${short(row[column], 2)} at ${percent(row[1])}, ε = ${row[0]}`).join("; ")}.` },
  ticks.map((value) => s("g", { class: "tick" }, s("line", { x1: 50, x2: 470, y1: y(value), y2: y(value) }), s("text", { x: 44, y: y(value) + 4, "text-anchor": "end" }, short(value, 2)))),
  s("text", { class: "axis", transform: "translate(-4 122) rotate(-90)", "text-anchor": "middle" }, axis),
  none && s("line", { class: "bound", x1: 50, x2: 470, y1: y(none), y2: y(none) }),
  none && s("text", { x: 56, y: y(none) - 6 }, "unchanged text"),
  [0, 0.25, 0.5, 0.75, 1].map((share) => s("text", { x: x(share), y: 249, "text-anchor": "middle" }, percent(share))),
  s("text", { x: 260, y: 270, "text-anchor": "middle" }, "words an attacker gets right"),
  others(tour).flatMap(([name, rows], i) =>
    rows.map((row) => s("g", {}, s("title", {}, `${name}, ε = ${row[0]}`), sign(i, x(row[1]), y(row[column]))))),
  s("polyline", { class: "own", points: line }),
  own.filter(([epsilon]) => COMPARED.includes(epsilon)).map((row) => s("g", {}, s("circle", { class: "mark", cx: x(row[1]), cy: y(row[column]), r: 4 }),
    s("text", { x: x(row[1]) - 8, y: y(row[column]) - 9, "text-anchor": "end" }, `ε = ${row[0]}`))),
  point && s("circle", { class: "chosen", cx: x(point[1]), cy: y(point[column]), r: 8 }));
}
