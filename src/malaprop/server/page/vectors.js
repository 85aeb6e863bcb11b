// A map of words on which mechanisms are drawn. What is drawn, the service draws: no mechanism is
// computed here. Here are only the cells, which say to which word a place decodes.

import { announce, h, percent, problemBox, s, short } from "./dom.js";
import { apart, halfWidth } from "./labels.js";

const MECHANISMS = {
  laplace: { title: "Laplace", map: "words",
    how: "Noise moves the word to another place, in any direction alike. The word whose cell it lands in comes out; a small cell is hit less often." },
  mahalanobis: { title: "Mahalanobis", map: "words",
    how: "Like Laplace, but the noise has the shape of the whole map: longer where words spread widely, shorter across." },
  tem: { title: "TEM", map: "words",
    how: "No noise: a word is drawn outright. The farther a word, the rarer; all words outside the circle count as equally far." },
  "hyperbolic-laplace": { title: "Hyperbolic", map: "tree",
    how: "Words of a tree, in a disk in which distances grow towards the edge: general words stand in the middle, special ones outside. Noise moves the word in this space, and needs an ε above 1." },
};
const EPSILONS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 6, 8];
const FIRST = "doctor"; // on both maps
const MANY = 200;
const UNIT = { words: 62, tree: 300 }; // pixels
const narrow = matchMedia("(max-width: 40rem)");

export async function mount(element, api) {
  const maps = await api.get("/page/maps.json");
  for (const [name, map] of Object.entries(maps)) prepare(name, map);
  const state = { mechanism: "laplace", epsilon: 1.5, word: FIRST, many: true, near: narrow.matches, drawn: null };
  const picture = s("svg", { class: "plane", role: "img" });
  const caption = h("p", { class: "plane-caption" });
  const result = h("div", { class: "plane-result" });
  const problem = h("div");
  const controls = controlsFor(state, maps, draw, show);
  element.replaceChildren(h("div", { class: "view vectors" },
    h("h1", { tabindex: -1 }, "Vectors, for specialists"),
    h("p", { class: "lead" }, "You can skip this view: it shows other mechanisms than the one that changes texts here, unless you choose. To a computer, a word is a place on a map. A mechanism blurs the place, and another word may come out. ",
      "Choose a word, a mechanism and an ε, and see where the draws fall."),
    h("div", { class: "vectors-parts" },
      h("div", { class: "card plane-card" }, picture, caption, problem),
      controls.element,
      result),
    honesty(maps.truth)));

  let asked = null;
  async function draw() {
    asked?.abort();
    asked = new AbortController();
    const { mechanism, epsilon, word } = state;
    try {
      picture.setAttribute("aria-busy", "true");
      const answer = await api.post("/v1/page/plane", { mechanism, epsilon, word, draws: MANY }, { signal: asked.signal });
      state.drawn = { mechanism, epsilon, word, answer };
      problem.replaceChildren();
      announce(told(show(), maps));
    } catch (error) {
      if (error.name === "AbortError") return;
      problem.replaceChildren(problemBox(error, draw));
    }
    picture.removeAttribute("aria-busy");
  }
  /** Show the last draw. It may be of another mechanism or word than is asked for meanwhile. */
  function show() {
    controls.update();
    if (!state.drawn) return undefined;
    const shown = { ...state, ...state.drawn };
    const map = maps[MECHANISMS[shown.mechanism].map];
    drawPicture(picture, shown, map, (word) => { state.word = word; draw(); });
    caption.textContent = captionOf(shown, map);
    result.replaceChildren(...resultOf(shown, map));
    return shown;
  }
  await draw();
}

// The maps

function prepare(name, map) {
  if (name === "truth") return;
  map.name = name;
  map.index = new Map(map.words.map((word, place) => [word, place]));
  map.cells = name === "tree" ? diskCells(map.vectors) : flatCells(map.vectors);
}

/** The cells of a map in the plane: all places to which a word is the nearest. */
function flatCells(places) {
  const [across, down] = [0, 1].map((axis) => Math.max(...places.map((place) => Math.abs(place[axis]))) + 0.7);
  const whole = [[-across, -down], [across, -down], [across, down], [-across, down]];
  return places.map((p) => places.reduce((cell, q) => (p === q ? cell
    : cut(cell, [p[0] - q[0], p[1] - q[1]], (p[0] ** 2 + p[1] ** 2 - q[0] ** 2 - q[1] ** 2) / 2)), whole));
}

/** The cells of the Poincaré disk: borders are straight in Klein's model, where they are cut. */
function diskCells(places) {
  const lifted = places.map(([x, y]) => {
    const rest = 1 - x * x - y * y;
    return [(2 - rest) / rest, (2 * x) / rest, (2 * y) / rest];
  });
  const whole = Array.from({ length: 180 }, (_, i) => [Math.cos((i * Math.PI) / 90), Math.sin((i * Math.PI) / 90)]);
  return lifted.map((p) => {
    const cell = lifted.reduce((left, q) => (p === q ? left : cut(left, [p[1] - q[1], p[2] - q[2]], p[0] - q[0])), whole);
    return cell.flatMap((corner, i) => {
      const next = cell[(i + 1) % cell.length];
      return Array.from({ length: 10 }, (_, k) => fromKlein(corner.map((c, axis) => c + ((next[axis] - c) * k) / 10)));
    });
  });
}

function fromKlein([x, y]) {
  const root = 1 + Math.sqrt(Math.max(0, 1 - x * x - y * y));
  return [x / root, y / root];
}

/** Keep of a convex polygon where normal·place ≥ least. */
function cut(polygon, normal, least) {
  const side = ([x, y]) => normal[0] * x + normal[1] * y - least;
  const left = [];
  polygon.forEach((from, i) => {
    const to = polygon[(i + 1) % polygon.length];
    const [a, b] = [side(from), side(to)];
    if (a >= 0) left.push(from);
    if (a >= 0 !== b >= 0) left.push([0, 1].map((axis) => from[axis] + ((to[axis] - from[axis]) * a) / (a - b)));
  });
  return left;
}

// Controls

function controlsFor(state, maps, draw, show) {
  const mechanism = h("fieldset", { class: "choices" }, h("legend", {}, "Mechanism"),
    Object.entries(MECHANISMS).map(([name, { title }]) => h("label", {},
      h("input", { type: "radio", name: "mechanism", value: name, checked: name === state.mechanism,
        onchange: () => choose({ mechanism: name }) }), " ", title)));
  const how = h("p", { class: "note" });
  const word = h("select", { id: "plane-word", onchange: () => choose({ word: word.value }) });
  const slider = h("input", { id: "plane-epsilon", type: "range", min: 0, max: EPSILONS.length - 1, step: 1,
    oninput: () => choose({ epsilon: EPSILONS[slider.value] }) });
  const epsilon = h("output", { for: "plane-epsilon" });
  const shown = h("fieldset", { class: "choices" }, h("legend", {}, "Show"),
    [[false, "one draw"], [true, `${MANY} draws`]].map(([many, title]) => h("label", {},
      h("input", { type: "radio", name: "many", checked: many === state.many, onchange: () => { state.many = many; show(); } }),
      " ", title)));
  const near = h("input", { type: "checkbox", checked: state.near, onchange: () => { state.near = near.checked; show(); } });
  const element = h("div", { class: "card plane-controls" }, mechanism, how,
    h("div", {}, h("label", { for: "plane-word" }, "Word"), " ", h("small", {}, "or click one on the map"), h("div", {}, word)),
    h("div", {}, h("label", { for: "plane-epsilon" }, "ε = ", epsilon), slider,
      h("div", { class: "scale-ends", "aria-hidden": "true" }, h("small", {}, "more private"), h("small", {}, "closer to the original"))),
    shown, h("label", { class: "inline" }, near, " Close up"),
    h("button", { type: "button", class: "main", onclick: draw }, "Draw again"));

  function choose(change) {
    Object.assign(state, change);
    const least = state.mechanism === "hyperbolic-laplace" ? EPSILONS.findIndex((each) => each > 1) : 0;
    slider.min = least;
    state.epsilon = EPSILONS[Math.max(least, EPSILONS.indexOf(state.epsilon))];
    const map = maps[MECHANISMS[state.mechanism].map];
    if (!map.index.has(state.word)) state.word = FIRST;
    update();
    draw();
  }
  function update() {
    const { words } = maps[MECHANISMS[state.mechanism].map];
    if (word.dataset.map !== state.mechanism) {
      word.replaceChildren(...[...words].sort().map((each) => h("option", { value: each }, each)));
      word.dataset.map = state.mechanism;
    }
    word.value = state.word;
    slider.value = EPSILONS.indexOf(state.epsilon);
    slider.setAttribute("aria-valuetext", `ε = ${state.epsilon}`);
    epsilon.textContent = state.epsilon;
    how.textContent = MECHANISMS[state.mechanism].how;
  }
  update();
  return { element, update };
}

// The picture

function drawPicture(picture, state, map, choose) {
  const { answer } = state;
  const unit = UNIT[map.name];
  const at = ([x, y]) => [x * unit, -y * unit];
  const path = (points) => `M${points.map((point) => at(point).map((each) => each.toFixed(1)).join(" ")).join("L")}Z`;
  const own = map.index.get(state.word);
  const [x, y] = at(map.vectors[own]);
  picture.setAttribute("viewBox", (state.near ? [x - 165, y - 165, 330, 330] : viewOf(map)).map(Math.round).join(" "));
  picture.classList.toggle("close-up", state.near);
  picture.setAttribute("aria-label", told(state, { [map.name]: map }));
  const most = Math.max(...answer.chances);
  picture.replaceChildren(
    arrowHead(),
    map.name === "tree" && s("circle", { class: "disk", r: unit }),
    ...map.cells.map((cell, i) => s("path", { class: "cell", d: path(cell), onclick: () => choose(map.words[i]),
      style: { fillOpacity: (0.34 * Math.sqrt(answer.chances[i] / most)).toFixed(3) } })),
    ...(map.parents ?? []).map((parent, i) => parent >= 0 && s("path", { class: "branch", d: geodesic(map.vectors[i], map.vectors[parent], at) })),
    ...answer.outlines.map((line) => s("path", { class: "outline", d: path(line) })),
    ...(state.many ? dots(answer, map, at) : []),
    ...labels(map, own, at),
    ...(state.many ? [] : arrows(answer, map, own, at)));
}

/** The left and upper end of a map, its width and its height. */
function viewOf(map) {
  if (map.name === "tree") return [-410, -395, 820, 790];
  const [across, down] = [0, 1].map((axis) => (Math.max(...map.vectors.map((place) => Math.abs(place[axis]))) + 0.7) * UNIT.words);
  return [-across, -down, 2 * across, 2 * down];
}

function dots(answer, map, at) {
  if (answer.places) {
    return answer.places.map((place) => {
      const [x, y] = at(place);
      return s("circle", { class: "draw", cx: x.toFixed(1), cy: y.toFixed(1), r: 2.6 });
    });
  }
  const counts = new Map();
  for (const id of answer.words) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].map(([id, count]) => {
    const [x, y] = at(map.vectors[id]);
    return s("circle", { class: "count", cx: x.toFixed(1), cy: y.toFixed(1), r: (4 + 3.2 * Math.sqrt(count)).toFixed(1) });
  });
}

/** One draw: from the word to the noisy place, and from there to the word that comes out. */
function arrows(answer, map, own, at) {
  const stops = [map.vectors[own], ...(answer.places ? [answer.places[0]] : []), map.vectors[answer.words[0]]];
  const [from, noisy, to] = answer.places ? stops : [stops[0], stops[1], stops[1]];
  const isDisk = map.name === "tree";
  const line = (a, b, kind) => s("path", { class: `arrow ${kind}`, "marker-end": "url(#plane-arrow)",
    d: isDisk ? geodesic(a, b, at) : `M${at(a).join(" ")}L${at(b).join(" ")}` });
  const [x, y] = at(noisy);
  const [u, v] = at(to);
  return [
    line(from, noisy, "noise"),
    answer.places && line(noisy, to, "decoding"),
    answer.places && s("circle", { class: "landed", cx: x, cy: y, r: 5 }),
    s("circle", { class: "came-out", cx: u, cy: v, r: 17 }),
  ].filter(Boolean);
}

function arrowHead() {
  return s("defs", {}, s("marker", { id: "plane-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
    orient: "auto-start-reverse" }, s("path", { d: "M0 0L8 4L0 8Z", class: "head" })));
}

/** The shortest way between two places of the disk: straight in Klein's model. */
function geodesic(from, to, at) {
  const klein = ([x, y]) => [2 * x / (1 + x * x + y * y), 2 * y / (1 + x * x + y * y)];
  const [a, b] = [klein(from), klein(to)];
  const points = Array.from({ length: 17 }, (_, k) => at(fromKlein([0, 1].map((axis) => a[axis] + ((b[axis] - a[axis]) * k) / 16))));
  return `M${points.map((point) => point.map((each) => each.toFixed(1)).join(" ")).join("L")}`;
}

/** The words: beside the disk those at the ends of the tree, all others near their places, the chosen one on its own. */
function labels(map, own, at) {
  const isEnd = (i) => map.parents && !map.parents.includes(i);
  const inner = map.words.map((_, i) => i).filter((i) => i !== own && !isEnd(i));
  if (!isEnd(own)) inner.unshift(own);
  const sizes = inner.map((i) => [halfWidth(map.words[i], i === own ? 20 : 15), i === own ? 11 : 9]);
  const [left, top, width, height] = viewOf(map);
  const places = apart(inner.map((i) => at(map.vectors[i])), sizes, [left, top, left + width, top + height]);
  const named = (i) => `name${i === own ? " own" : ""}`;
  return [
    ...inner.map((i, k) => s("text", { class: named(i), x: places[k][0].toFixed(1), y: (places[k][1] + 5).toFixed(1), "text-anchor": "middle" }, map.words[i])),
    ...map.words.map((word, i) => isEnd(i) && endLabel(map.vectors[i], at, word, named(i))).filter(Boolean),
  ];
}

function endLabel(place, at, word, kind) {
  const [x, y] = at(place);
  const angle = (Math.atan2(y, x) * 180) / Math.PI;
  const isLeft = Math.abs(angle) > 90;
  const turn = `rotate(${angle.toFixed(1)}) translate(${UNIT.tree + 8}) rotate(${isLeft ? 180 : 0})`;
  return s("g", {}, s("circle", { class: "leaf", cx: x.toFixed(1), cy: y.toFixed(1), r: 2.5 }),
    s("text", { class: kind, transform: turn, y: 5, "text-anchor": isLeft ? "end" : "start" }, word));
}

// In words

function captionOf({ many, answer }, map) {
  const shade = "The stronger the colour of a cell, the likelier its word. ";
  if (!answer.places) {
    return shade + (many ? `Circles: how often a word came out in ${MANY} draws. ` : "Arrow: one draw. ") + "Dashed: beyond it, all words count as equally far.";
  }
  const lines = "Half of the draws fall within the inner dashed line, 90 % within the outer one.";
  return shade + (many ? `Dots: where ${MANY} draws fell. ` : "Solid arrow: the noise. Thin arrow: the nearest word, which comes out. ") + lines;
}

function told({ mechanism, epsilon, word, answer, many }, maps) {
  const map = maps[MECHANISMS[mechanism].map];
  const stays = answer.chances[map.index.get(word)];
  const one = many ? "" : ` This time ${map.words[answer.words[0]]} came out.`;
  return `${MECHANISMS[mechanism].title}, ε = ${epsilon}: ${word} stays ${word} in ${percent(stays)} of the draws.${one}`;
}

function resultOf(state, map) {
  const { answer, word } = state;
  const order = answer.chances.map((chance, i) => [chance, i]).sort((a, b) => b[0] - a[0]).slice(0, 6);
  const rest = 1 - order.reduce((sum, [chance]) => sum + chance, 0);
  const most = Math.max(order[0][0], rest);
  const bar = (name, chance, isOwn) => h("tr", { class: isOwn ? "own" : "" }, h("th", { scope: "row" }, name),
    h("td", { class: "bars" }, h("span", { class: "length-bar", style: { width: `${((100 * chance) / most).toFixed(1)}%` } })),
    h("td", {}, percent(chance)));
  const [near, , loss] = answer.near[0];
  return [
    h("div", { class: "card" }, h("h2", {}, `What “${word}” becomes`),
      h("table", { class: "chances" }, h("thead", { class: "unseen" }, h("tr", {}, ["Word", "Chance as a bar", "Chance"].map((title) => h("th", { scope: "col" }, title)))),
        h("tbody", {}, order.map(([chance, i]) => bar(map.words[i], chance, map.words[i] === word)),
          rest > 0.0005 && bar(`${map.words.length - order.length} other words`, rest, false))),
      h("p", { class: "note" }, answer.counted ? `Counted in ${answer.counted.toLocaleString("en-US")} draws.` : "Exact: this mechanism states its chances.")),
    h("div", { class: "card" }, h("h2", {}, "What is promised"),
      h("p", {}, `Whatever comes out, it is at most ${short(Math.exp(loss), 2)} times as likely for “${word}” as for its nearest word, “${map.words[near]}”. `,
        "Nobody who sees it can tell the two apart better than that. The farther apart two words are, the less is promised."),
      h("details", {}, h("summary", {}, "The guarantee, as the library states it"), h("p", { class: "note" }, answer.guarantee))),
  ];
}

function honesty(truth) {
  return h("div", { class: "card" }, h("h2", {}, "What this picture hides"), h("div", { class: "honesty" },
    h("p", {}, "The draws are real, and so is the guarantee: the service runs its own mechanisms on small lexicons whose words have just two numbers each, those that you see. ",
      `The lexicon that changes your texts has ${truth.words.toLocaleString("en-US")} words with ${truth.dimensions} numbers each. No flat picture shows what noise does there.`),
    h("p", {}, `An example: with Laplace noise at ε = ${short(truth.epsilon)}, ${percent(truth.kept)} of the words of film reviews stay as they are, though the noise is ${short(truth.length / truth.gap, 2)} times as long as the way to the nearest word. `,
      `On the map, where as many words stay at ε = ${short(truth.flat_epsilon)}, it is ${short(truth.flat_length, 2)} times as long. In ${truth.dimensions} dimensions almost all noise is at right angles to the way to any other word, so that even long noise changes little. `,
      "That is why an ε of this map means nothing for another lexicon, and why texts are changed by another mechanism, ", h("a", { href: "#text" }, "balanced"), ", unless you choose."),
    h("p", { class: "note" }, "The map: everyday words, placed by t-SNE of their vectors, and then spread evenly. One unit is the usual distance to the nearest word. The disk, for “Hyperbolic”: a tree written by hand. Both are in the program, and depend on no text of anybody’s.")));
}
