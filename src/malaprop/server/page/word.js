// A word: its neighbourhood as a picture, what it may become, and what can be told apart.

import { h, percent, problemBox, s, short } from "./dom.js";
import { apart, halfWidth } from "./labels.js";
import { mostSure } from "./meaning.js";

const WIDE = { width: 640, height: 440, rings: [[150, 100], [262, 182]], outer: 30 };
const NARROW = { width: 370, height: 500, rings: [[98, 112], [142, 220]], outer: 10 };
const LISTED = 10;
const MADE_UP = ["identifiers", "urls", "emails", "mentions", "entities"];
const LISTS = ["names", "places"];

/** Show a word in an element; `options` are those of the draw, `about` has original, tag, counts_as. */
export async function showWord(element, api, about, options) {
  element.replaceChildren(h("p", { class: "note" }, "Loading …"));
  if (MADE_UP.includes(about.tag) || LISTS.includes(about.tag)) {
    const how = MADE_UP.includes(about.tag) ? "made up anew, with the same shape" : "replaced by one from a public list";
    element.replaceChildren(closing(element), h("h2", { tabindex: -1 }, `“${about.original}”`),
      h("p", {}, `It is ${how}, without a look at what stood there. So there is nothing to guess it from, but where it stands shows, `
        + "and so does which of them are equal."));
    return;
  }
  const isWord = about.counts_as !== null;
  const word = isWord ? about.counts_as : about.original;
  const asked = { word, epsilon: options.epsilon, mechanism: options.mechanism, lexicon: options.lexicon, top: LISTED };
  for (const name of ["kinds", "kind_epsilon", "steps"]) if (options[name]) asked[name] = options[name];
  try {
    const [told, near] = await Promise.all([
      api.post("/v1/explain", asked),
      isWord ? api.post("/v1/page/neighbourhood", { word, epsilon: options.epsilon, mechanism: options.mechanism, lexicon: options.lexicon })
        .catch((problem) => (problem.status === 422 ? null : Promise.reject(problem))) : null,
    ]);
    const explained = told.explanations[0];
    element.replaceChildren(closing(element),
      h("h2", { tabindex: -1 }, `What “${about.original}” may become at ε = ${short(options.epsilon)}`),
      ...[mapped(about, explained)].filter(Boolean),
      h("div", { class: "word-parts" },
        near ? h("figure", { class: "near" }, neighbourhood(near),
          h("figcaption", {}, near.words.length > 1
            ? `The words within two steps, and the chance of each. Solid lines join words that are one step apart; dashed lines are longer.${near.others > 0 ? ` ${near.others} more are left out.` : ""}`
            : "No word is within two steps.")) : null,
        h("div", {}, h("h3", {}, "How likely each is"), distribution(explained)),
        inferences(explained)),
    );
  } catch (problem) {
    element.replaceChildren(problemBox(problem, () => showWord(element, api, about, options)));
  }
}

const closing = (element) => h("button", { type: "button", class: "small close", onclick: () => { element.hidden = true; element.dispatchEvent(new Event("close")); } }, "Close");

function mapped(about, explained) {
  if (about.counts_as === null) {
    return h("p", {}, `It is a ${explained.kind}, and is drawn as one: near values are likelier than far ones. One step is ${explained.route}.`);
  }
  if (about.counts_as.toLowerCase() === about.original.toLowerCase()) return null;
  return h("p", {}, `The lexicon does not have “${about.original}”. It counts as “${about.counts_as}”, which is what you see here.`);
}

function distribution(explained) {
  const most = explained.becomes[0].probability;
  const rows = explained.becomes.map((each) => h("tr", { class: each.word === explained.word ? "own" : undefined },
    h("th", { scope: "row" }, each.word),
    h("td", {}, each.distance === 0 ? "itself" : `${short(each.distance, 2)} ${explained.unit === "steps" ? (each.distance === 1 ? "step" : "steps") : "away"}`),
    h("td", { class: "number" }, percent(each.probability)),
    h("td", { class: "bars", "aria-hidden": "true" }, h("span", { class: "fill", style: { width: `${(100 * each.probability) / most}%` } }))));
  rows.push(h("tr", {}, h("th", { scope: "row" }, `${explained.others.toLocaleString("en-US")} others`), h("td", {}, ""),
    h("td", { class: "number" }, percent(explained.others_probability)), h("td")));
  return h("table", { class: "law" }, h("thead", { class: "unseen" }, h("tr", {}, ["becomes", "distance", "chance", "chance as a bar"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows));
}

function inferences(explained) {
  const ranges = explained.ranges.map((range) => `${percent(range.share)} of draws lie between ${range.low} and ${range.high}.`);
  const pairs = explained.rivals.filter((rival) => rival.bound !== null);
  const known = pairs.filter((rival) => rival.odds !== null && mostSure(rival.odds) !== mostSure(rival.bound));
  const titles = ["one of these two", known.length ? "promised" : "at most", known.length && "in fact"].filter(Boolean);
  return h("div", { class: "inferences" }, h("h3", {}, "What an attacker can tell from one draw"),
    ranges.map((range) => h("p", {}, range)),
    pairs.length > 0 && [
      h("p", {}, "Suppose that an attacker knows that it was one of two, and is 50 % sure of each. This is how sure of one a draw can make them, at most. The farther apart the two are, the better they can be told apart."),
      h("table", {},
        h("thead", {}, h("tr", {}, titles.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, pairs.map((rival) => h("tr", {}, h("th", { scope: "row" }, `${explained.word} or ${rival.word}`),
          h("td", {}, mostSure(rival.bound)), known.length > 0 && h("td", {}, rival.odds === null ? "–" : mostSure(rival.odds)))))),
    ]);
}

/** Draw the neighbourhood: the word in the middle, one ring for each step. */
export function neighbourhood(all, size = matchMedia("(max-width: 40rem)").matches ? NARROW : WIDE) {
  const inner = all.words.filter((each) => each.steps <= 1).length;
  const near = { words: all.words.slice(0, inner + size.outer), edges: [] };
  near.edges = all.edges.filter(([a, b]) => Math.max(a, b) < near.words.length);
  const rings = [[], []];
  near.words.forEach((each, place) => place && rings[each.steps <= 1 ? 0 : 1].push(place));
  const crowded = rings[1].length > 14;
  const boxes = near.words.map((each, place) => {
    const font = place === 0 ? 17 : crowded && each.steps > 1 ? 11.5 : 13;
    return { font, half: 6 + halfWidth(each.word, font) };
  });
  const at = apart(placed(near, rings, size), boxes.map(({ font, half }) => [half + 2, font + 6]), [0, 0, size.width, size.height]);
  const description = `${near.words[0].word} stays with ${percent(near.words[0].chance)}; `
    + near.words.slice(1, 8).map((each) => `${each.word} ${percent(each.chance)}`).join(", ");
  const most = Math.max(...near.words.map((each) => each.chance));
  return s("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": description, class: "neighbourhood" },
    size.rings.map(([across, down]) => s("ellipse", { class: "ring", cx: size.width / 2, cy: size.height / 2, rx: across, ry: down })),
    near.edges.map(([a, b, length]) => s("line", { class: length > 1 ? "edge long" : "edge", x1: at[a][0], y1: at[a][1], x2: at[b][0], y2: at[b][1] })),
    near.words.map((each, place) => {
      const [x, y] = at[place];
      const { font, half } = boxes[place];
      return s("g", { class: place === 0 ? "node own" : "node" },
        s("rect", { x: x - half, y: y - font - 4, width: 2 * half, height: 2 * font + 7, rx: 6, "fill-opacity": 1 }),
        s("rect", { class: "weight", x: x - half, y: y - font - 4, width: 2 * half, height: 2 * font + 7, rx: 6, "fill-opacity": 0.1 + 0.5 * Math.sqrt(each.chance / most) }),
        s("text", { x, y: y - 1, "font-size": font, "text-anchor": "middle" }, each.word),
        s("text", { x, y: y + font - 2, "font-size": font - 2, "text-anchor": "middle", class: "chance" }, percent(each.chance)));
    }));
}

/** Place the words: each of the outer ring near what it is joined to, with equal gaps. */
function placed(near, rings, size) {
  const at = [[size.width / 2, size.height / 2]];
  const angles = new Map();
  const joined = near.words.map(() => []);
  for (const [a, b] of near.edges) joined[a].push(b), joined[b].push(a);
  const spread = (ring, [across, down]) => ring.forEach((place, i) => {
    const angle = (2 * Math.PI * (i + 0.5)) / ring.length - Math.PI / 2;
    angles.set(place, angle);
    at[place] = [size.width / 2 + across * Math.cos(angle), size.height / 2 + down * Math.sin(angle)];
  });
  const toward = (place) => {
    const own = joined[place].filter((other) => angles.has(other)).map((other) => angles.get(other));
    if (!own.length) return 0;
    const angle = Math.atan2(own.reduce((sum, a) => sum + Math.sin(a), 0), own.reduce((sum, a) => sum + Math.cos(a), 0));
    return (angle + 2.5 * Math.PI) % (2 * Math.PI);
  };
  spread(rings[0], size.rings[0]);
  for (let i = 0; i < 6; i++) {
    const order = new Map(rings[1].map((place) => [place, toward(place)]));
    rings[1].sort((a, b) => order.get(a) - order.get(b));
    spread(rings[1], size.rings[1]);
    const inner = new Map(rings[0].map((place) => [place, toward(place)]));
    rings[0].sort((a, b) => inner.get(a) - inner.get(b));
    spread(rings[0], size.rings[0]);
  }
  return at;
}
